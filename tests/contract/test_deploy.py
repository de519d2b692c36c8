"""What is deployed as a cluster: every command, option, secret and name in the files is one that exists, and pods are shut in."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml

from server.cluster import broker
from server.cluster.subjects import POOLS
from server.metrics import Metrics
from server.settings import PREFIX, Settings
from server.worker import PATIENCE_S

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
PODS = DEPLOY / "kubernetes"
NATS_SERVER = Path(sys.executable).with_name("nats-server")
Manifest = dict[str, Any]

BROKERS = {DEPLOY / "nats.conf": (2, 1), PODS / "nats.conf": (16, 4)}
"""Worker nodes without and with GPUs that each configuration knows."""
SERVICES: dict[str, Manifest] = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))["services"]
CLUSTER = {name: service for name, service in SERVICES.items() if {"cluster", "cuda"} & {*service.get("profiles", ())}}
"""The services of the profiles `cluster` and `cuda`."""


def manifests() -> Iterator[Manifest]:
    """All that `kubectl apply -k` makes."""
    listed = yaml.safe_load((PODS / "kustomization.yaml").read_text("utf-8"))["resources"]
    assert {*listed} == {file.name for file in PODS.glob("*.yaml")} - {"kustomization.yaml"}
    for name in listed:
        yield from yaml.safe_load_all((PODS / name).read_text("utf-8"))


MANIFESTS = {f"{each['kind']}-{each['metadata']['name']}": each for each in manifests()}
RUNNING = {name: each for name, each in MANIFESTS.items() if "template" in each.get("spec", {})}
"""Manifests of pods."""
WORKERS = [name for name in RUNNING if name.startswith("StatefulSet")]


def pod(name: str) -> Manifest:
    """What its pods are made of."""
    spec: Manifest = RUNNING[name]["spec"]["template"]["spec"]
    return spec


def container(name: str) -> Manifest:
    """The only container of its pods."""
    (only,) = pod(name)["containers"]
    assert isinstance(only, dict)
    return only


def users(configuration: Path) -> set[str]:
    """Users of a broker."""
    return set(re.findall(r'user: "(.+?)"', configuration.read_text("utf-8")))


@pytest.mark.parametrize(("file", "counts"), BROKERS.items(), ids=lambda each: str(each).rpartition("/")[2])
def test_the_configurations_of_the_broker_are_those_the_code_writes(
    file: Path, counts: tuple[int, int], capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--workers", str(counts[0]), "--cuda-workers", str(counts[1])]
    broker.main(options)
    written = capsys.readouterr().out
    assert file.read_text("utf-8") == written, f"python -m server.cluster.broker {' '.join(options)} > {file}"


@pytest.mark.parametrize("file", BROKERS, ids=str)
def test_the_broker_takes_its_configuration_once_every_user_has_a_password(file: Path) -> None:
    passwords = dict.fromkeys(re.findall(r"\$(\w+_PASSWORD)", file.read_text("utf-8")), "letters1")
    assert len(passwords) == len(users(file))
    command = [str(NATS_SERVER), "-t", "-c", str(file)]
    checked = subprocess.run(command, env=passwords, capture_output=True, text=True, timeout=30, check=False)
    assert checked.returncode == 0, checked.stderr
    passwords.popitem()
    refused = subprocess.run(command, env=passwords, capture_output=True, text=True, timeout=30, check=False)
    assert refused.returncode != 0, "a user without a password"


def module_of(command: list[str]) -> str:
    """The module a Python command runs."""
    assert command[:2] == ["python", "-m"], command
    return command[2]


def test_every_command_is_one_that_can_be_run() -> None:
    commands = [service["command"] for service in CLUSTER.values() if "command" in service]
    commands += [container("Deployment-web")["command"]]
    commands += [container(name)["args"][0].split("exec ")[1].split() for name in WORKERS]
    for module in map(module_of, commands):
        spec = find_spec(module)
        assert spec is not None, module
        place = f"{module}.__main__" if spec.submodule_search_locations else module
        assert find_spec(place) is not None, place


def environments() -> Iterator[tuple[str, list[str]]]:
    """Variables of each node of ours."""
    for name, service in CLUSTER.items():
        if service["image"].startswith("gradgraph"):
            yield name, list(service["environment"])
    for name in RUNNING:
        if container(name)["image"].startswith("gradgraph"):
            set_by_hand = re.findall(r"export (\w+)=", " ".join(container(name).get("args", ())))
            yield name, [*(each["name"] for each in container(name).get("env", ())), *set_by_hand]


NODES = dict(environments())


@pytest.mark.parametrize("name", NODES)
def test_every_option_is_a_setting(name: str) -> None:
    ours = {each.removeprefix(PREFIX).lower() for each in NODES[name] if each.startswith(PREFIX)}
    assert "runner" in ours
    assert ours <= set(Settings.__dataclass_fields__)


@pytest.mark.parametrize("name", NODES)
def test_only_web_nodes_have_the_address_of_the_store(name: str) -> None:
    is_web = "web" in name
    assert (f"{PREFIX}STORE" in NODES[name]) == is_web
    text = str(CLUSTER.get(name) or pod(name))
    assert ("postgres" in text.lower() or "'store'" in text) == is_web


def test_each_worker_of_docker_is_a_user_of_the_broker_with_its_own_password() -> None:
    urls = {name: service["environment"][f"{PREFIX}RUNNER"] for name, service in CLUSTER.items() if name in NODES}
    known = users(DEPLOY / "nats.conf")
    for name, url in urls.items():
        user = "web" if name.startswith("web") else name
        assert url == f"nats://{user}:${{{user.upper().replace('-', '_')}_PASSWORD:-}}@nats:4222"
        Settings.from_environment({f"{PREFIX}RUNNER": url})
        assert user in known
    asked = set(re.findall(r"\$(\w+_PASSWORD)", (DEPLOY / "nats.conf").read_text("utf-8")))
    assert CLUSTER["nats"]["environment"] == dict.fromkeys(asked), "one that is not set must not become empty"


@pytest.mark.parametrize("name", WORKERS)
def test_each_worker_pod_is_a_user_of_the_broker_and_sees_only_its_own_password(name: str) -> None:
    spec, kind = RUNNING[name]["spec"], RUNNING[name]["metadata"]["name"]
    scaled = MANIFESTS.get(f"ScaledObject-{kind}", {"spec": {"maxReplicaCount": spec["replicas"]}})
    most = scaled["spec"]["maxReplicaCount"]
    pods = {f"{kind}-{spec['ordinals']['start'] + number}" for number in range(most)}
    assert pods <= users(PODS / "nats.conf")
    mounts = {each["name"]: each for each in container(name)["volumeMounts"]}
    assert mounts["password"]["subPathExpr"] == "$(POD_NAME)"
    assert "envFrom" not in container(name)


def test_the_broker_has_all_passwords_from_a_secret() -> None:
    assert container("Deployment-nats")["envFrom"] == [{"secretRef": {"name": "broker-passwords"}}]
    for each in RUNNING:
        assert not re.search(r"(?i)password: [^$\s{]", yaml.safe_dump(container(each))), "a secret in the open"


@pytest.mark.parametrize("name", RUNNING)
def test_the_pods_are_shut_in(name: str) -> None:
    assert pod(name)["securityContext"]["runAsNonRoot"] is True
    assert pod(name)["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod(name)["automountServiceAccountToken"] is False
    assert container(name)["securityContext"] == {
        "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]},
    }  # fmt: skip
    assert container(name)["resources"]["limits"]["memory"]
    assert container(name)["resources"]["requests"]["cpu"]
    assert RUNNING[name]["spec"]["selector"]["matchLabels"] == RUNNING[name]["spec"]["template"]["metadata"]["labels"]
    mounted = {mount["name"] for mount in container(name).get("volumeMounts", ())}
    assert mounted == {volume["name"] for volume in pod(name).get("volumes", ())}


@pytest.mark.parametrize("name", CLUSTER)
def test_the_containers_are_shut_in(name: str) -> None:
    service = CLUSTER[name]
    assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["mem_limit"] and service["pids_limit"]
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))


def test_containers_of_workers_are_in_no_network_with_a_way_out_or_a_store() -> None:
    networks = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))["networks"]
    for name in ("worker-1", "worker-2", "cuda-worker-1"):
        assert CLUSTER[name]["networks"] == ["broker"]
    assert networks["broker"]["internal"]
    assert "broker" not in SERVICES["postgres"]["networks"]


def test_pods_of_workers_reach_the_broker_alone() -> None:
    nobody, workers = (MANIFESTS[f"NetworkPolicy-{name}"]["spec"] for name in ("nobody", "workers"))
    assert (nobody["podSelector"], nobody["policyTypes"]) == ({}, ["Ingress", "Egress"])
    assert not {"ingress", "egress"} & nobody.keys()
    assert workers["egress"] == [{"to": [{"podSelector": {"matchLabels": {"app": "nats"}}}], "ports": [{"port": 4222}]}]
    (chosen,) = workers["podSelector"]["matchExpressions"]
    assert {f"StatefulSet-{name}" for name in chosen["values"]} == {*WORKERS}


def test_workers_are_given_the_time_they_take_to_stop() -> None:
    for name in WORKERS:
        assert pod(name)["terminationGracePeriodSeconds"] > PATIENCE_S
    for name in NODES:
        if "worker" in name and name in CLUSTER:
            assert int(CLUSTER[name]["stop_grace_period"].removesuffix("s")) > PATIENCE_S


def test_a_worker_with_a_gpu_asks_for_one_in_each_pool() -> None:
    assert POOLS == ("cpu", "cuda")
    (reserved,) = CLUSTER["cuda-worker-1"]["deploy"]["resources"]["reservations"]["devices"]
    assert (reserved["driver"], reserved["capabilities"]) == ("nvidia", ["gpu"])
    assert container("StatefulSet-cuda-worker")["resources"]["limits"]["nvidia.com/gpu"] == "1"
    assert "nvidia.com/gpu" not in container("StatefulSet-worker")["resources"]["limits"]


@pytest.mark.parametrize("name", [name for name in MANIFESTS if name.startswith(("PodDisruption", "Service-"))])
def test_budgets_and_services_are_for_pods_that_exist(name: str) -> None:
    selector = MANIFESTS[name]["spec"]["selector"]
    labels = [each["spec"]["template"]["metadata"]["labels"] for each in RUNNING.values()]
    assert selector.get("matchLabels", selector) in labels


def test_probes_ask_a_route_that_exists_at_a_port_that_is_open() -> None:
    from server.app import create_app
    from server.openapi import document

    web = container("Deployment-web")
    for probe in ("startupProbe", "readinessProbe"):
        assert web[probe]["httpGet"]["path"] in document(create_app(Settings()))["paths"]
    assert [port["containerPort"] for port in web["ports"]] == [Settings.port]


def test_scaling_looks_at_a_figure_that_is_told() -> None:
    from server.routes import health

    told = Path(health.__file__).read_text("utf-8") + Metrics().text({})
    for name, each in MANIFESTS.items():
        if name.startswith("ScaledObject"):
            (trigger,) = each["spec"]["triggers"]
            target = each["spec"]["scaleTargetRef"]
            assert trigger["metadata"]["valueLocation"] in told
            assert f"{target['kind']}-{target['name']}" in RUNNING


def test_the_balancer_knows_every_web_node() -> None:
    text = (DEPLOY / "Caddyfile").read_text("utf-8")
    webs = [name for name in CLUSTER if name.startswith("web")]
    assert f"reverse_proxy {' '.join(f'{name}:{Settings.port}' for name in webs)} {{" in text
    assert "health_uri /api/v1/health\n" in text
    assert text.count("{") == text.count("}")
    (mounted,) = (each.split(":") for each in CLUSTER["balancer"]["volumes"])
    assert (ROOT / mounted[0]).is_file() and mounted[1] in CLUSTER["balancer"]["entrypoint"]


def test_web_nodes_know_each_learner_behind_the_balancer() -> None:
    for name in CLUSTER:
        if name.startswith("web"):
            assert CLUSTER[name]["environment"]["FORWARDED_ALLOW_IPS"] == "*"
    assert "FORWARDED_ALLOW_IPS" in NODES["Deployment-web"], "who puts something before it has to say so"


def test_the_image_has_what_a_cluster_needs() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    (installed,) = re.findall(r"'\.\[([\w,]+)\]'", (ROOT / "Dockerfile").read_text("utf-8"))
    assert "cluster" in installed.split(",") and any(each.startswith("nats-py") for each in extras["cluster"])


def test_files_that_containers_mount_exist() -> None:
    for service in CLUSTER.values():
        for volume in service.get("volumes", ()):
            if volume.startswith("."):
                assert (ROOT / volume.split(":")[0]).is_file(), volume


def test_images_of_the_broker_are_of_the_version_that_is_tested() -> None:
    version = subprocess.run([NATS_SERVER, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"v(\d+\.\d+)", version)
    assert found
    assert {CLUSTER["nats"]["image"], container("Deployment-nats")["image"]} == {f"nats:{found[1]}-alpine"}
