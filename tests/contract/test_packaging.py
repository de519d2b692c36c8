"""What is shipped: pinned versions, an image whose files exist, a service that is shut in."""

import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

from server.settings import PREFIX, Settings

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
SERVICES: dict[str, dict[str, Any]] = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))["services"]
COPIED = re.compile(r"^COPY (?!--from)(.+) \S+$", re.MULTILINE)


def pinned() -> dict[str, str]:
    """Version by name, as constraints.txt has them."""
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pins = [Requirement(line) for line in lines if line and not line.startswith("#")]
    of_this_python = [pin for pin in pins if pin.marker is None or pin.marker.evaluate()]
    return {pin.name: str(pin.specifier).removeprefix("==") for pin in of_this_python}


def spelled(name: str) -> str:
    """A distribution's name in its normal spelling."""
    return re.sub(r"[-_.]+", "-", name).lower()


def needed() -> Iterator[tuple[str, str]]:
    """Name and installed version of everything the project depends on, directly or not."""
    project = PROJECT["project"]
    given = [*project["dependencies"], *(each for extra in project["optional-dependencies"].values() for each in extra)]
    pending = [Requirement(each) for each in given]
    seen: set[str] = set()
    while pending:
        wanted = pending.pop()
        name = spelled(wanted.name)
        if name in seen:
            continue
        seen.add(name)
        found = distribution(wanted.name)
        yield name, found.version.split("+")[0]
        extras = {"", *wanted.extras}
        pending += [
            each
            for each in map(Requirement, found.requires or ())
            if each.marker is None or any(each.marker.evaluate({"extra": extra}) for extra in extras)
        ]


def test_every_version_is_pinned_to_the_one_the_tests_run_with() -> None:
    assert dict(needed()).items() <= pinned().items()


def test_the_pins_name_versions_and_no_builds() -> None:
    assert all(re.fullmatch(r"\d[\w.]*", version) for version in pinned().values())


def test_what_the_image_copies_exists_and_is_not_ignored() -> None:
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    for line in COPIED.findall(DOCKERFILE):
        for name in line.split():
            assert (ROOT / name).exists(), name
            assert f"!{name.removeprefix('./').split('/')[0]}" in ignored


def test_the_image_runs_as_nobody_and_says_how_it_is() -> None:
    assert re.search(r"^USER 10001:10001$", DOCKERFILE, re.MULTILINE)
    assert "HEALTHCHECK" in DOCKERFILE
    assert "libseccomp2" in DOCKERFILE


def test_the_variables_of_the_image_are_settings() -> None:
    named = set(re.findall(rf"{PREFIX}(\w+)=", DOCKERFILE))
    assert named
    assert {name.lower() for name in named} <= set(Settings.__dataclass_fields__)


@pytest.mark.parametrize("service", SERVICES.values(), ids=SERVICES)
@pytest.mark.parametrize(
    ("key", "value"), [("read_only", True), ("cap_drop", ["ALL"]), ("security_opt", ["no-new-privileges:true"])]
)
def test_the_services_are_shut_in(service: dict[str, Any], key: str, value: object) -> None:
    assert service[key] == value


def test_the_service_is_bounded_and_listens_on_this_machine_only() -> None:
    service = SERVICES["gradgraph"]
    assert service["init"]
    assert service["mem_limit"]
    assert service["pids_limit"] >= 64
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert [mount.split(":")[1] for mount in service["volumes"]] == ["/data"]
    assert any(mount.startswith("/tmp:") for mount in service["tmpfs"])


def test_a_postgres_is_started_only_when_asked_for_and_reached_by_the_service_alone() -> None:
    service = SERVICES["postgres"]
    assert service["profiles"] == ["postgres", "cluster"]
    assert service["mem_limit"] and service["pids_limit"]
    assert "ports" not in service
    assert "depends_on" not in SERVICES["gradgraph"], "it waits for its store by itself"
    variables = SERVICES["gradgraph"]["environment"]
    assert {name.removeprefix(PREFIX).lower() for name in variables} <= set(Settings.__dataclass_fields__)
    assert Settings.from_environment(dict.fromkeys(variables, "")) == Settings()
