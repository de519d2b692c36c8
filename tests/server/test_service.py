"""Gallery, rules, health, metrics, and what the server says of itself."""

import inspect
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from fastapi.routing import APIRoute

from engine.trace import Isolation
from server.isolation import WeakIsolation, check_isolation
from server.lessons import FOLDER
from server.metrics import Metrics
from server.routes import docs, engine_steps, gallery, graphs, health, pages, rules, runs, tensors
from server.settings import Settings
from tests.server.conftest import Served, serving, wait_until


def test_every_gallery_program_is_a_lesson_in_two_languages(served: Served) -> None:
    lessons = served.http.get("/api/v1/gallery").json()
    assert {lesson["name"] for lesson in lessons} == {file.stem for file in FOLDER.glob("*.py")}
    assert [lesson["order"] for lesson in lessons] == sorted(lesson["order"] for lesson in lessons)
    for lesson in lessons:
        assert lesson["code"] == (FOLDER / f"{lesson['name']}.py").read_text("utf-8")
        assert all(lesson[language][part] for language in ("zh", "en") for part in ("title", "text"))


def test_a_lessons_run_is_the_run_of_its_program(served: Served) -> None:
    lesson = served.http.get("/api/v1/gallery/mean_grad").json()
    assert served.run(lesson["code"])["id"] == lesson["run"]
    assert "nothing" in served.problem(served.http.get("/api/v1/gallery/nothing"), 404, "no-such-lesson")


def test_rules_explain_the_common_nodes(served: Served) -> None:
    rules = {rule["id"]: rule for rule in served.http.get("/api/v1/rules").json()}
    assert {slot["name"] for slot in rules["mul"]["slots"]} == {"self", "other"}
    assert set(rules["mul"]["words"]) == {"zh", "en"}


def test_health_says_how_runs_are_kept_apart(served: Served) -> None:
    health = served.http.get("/api/v1/health").json()
    trace = served.run("print('isolation')")
    assert health["status"] == "ok"
    assert health["isolation"] == trace["environment"]["isolation"]
    assert health["torch"] == trace["environment"]["torch"]
    assert (health["workers"] > 0, health["waiting"]) == (True, 0)


@pytest.mark.slow
def test_the_page_is_there_before_pytorch_is_and_runs_wait_for_it(tmp_path: Path) -> None:
    with serving(Settings(data_dir=tmp_path, warm_gallery=False), ready_first=False) as served:
        assert served.http.get("/").status_code == 200
        assert served.http.get("/api/v1/health").json()["workers"] == 0
        assert served.run("print(1 + 1)")["output"][0]["text"] == "2\n"
        assert served.http.get("/api/v1/health").json()["workers"] > 0


@pytest.mark.slow
def test_what_a_stop_cuts_off_is_answered(tmp_path: Path) -> None:
    with ThreadPoolExecutor() as elsewhere:
        with serving(Settings(data_dir=tmp_path, warm_gallery=False)) as served:
            address = served.http.base_url.join("/api/v1/runs")
            endless = elsewhere.submit(httpx.post, address, json={"code": "while True: pass"}, timeout=30)
            wait_until(lambda: served.service.queue.running > 0)
        answer = endless.result()
    assert "Send it again" in served.problem(answer, 503, "stopped")
    assert int(answer.headers["retry-after"]) > 0
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_metrics_count_runs(served: Served) -> None:
    def count() -> float:
        lines = served.http.get("/metrics").text.splitlines()
        return sum(float(line.split()[1]) for line in lines if line.startswith('gradgraph_runs_total{status="ok"}'))

    before = count()
    served.run("print('counted')")
    assert count() == before + 1


def test_metrics_count_each_diagnosis_and_no_name_that_is_none(served: Served) -> None:
    def counts() -> set[str]:
        lines = served.http.get("/metrics").text.splitlines()
        return {line for line in lines if line.startswith(f'gradgraph_findings_total{{code="{code}"}}')}

    run = "import torch\ntorch.ones(2, 22) + torch.ones(3, {})".format
    code = served.run(run(33))["findings"][0]["code"]
    before = counts()
    served.run(run(44))
    assert len(counts() - before) == 1
    metrics = Metrics()
    for codes in (("a_code", "a_code"), ('"} 1\nanother 2',), tuple(f"code_{number}" for number in range(10_000))):
        metrics.told(codes)
    assert (metrics.findings["a_code"], len(metrics.findings) < 2_000) == (1, True)
    assert "another" not in metrics.text({})


def test_metrics_tell_what_snapshots_take(served: Served) -> None:
    def gauge(name: str) -> float:
        lines = served.http.get("/metrics").text.splitlines()
        return next(float(line.split()[1]) for line in lines if line.startswith(f"{name} "))

    before, size = gauge("gradgraph_snapshots"), gauge("gradgraph_snapshot_bytes")
    run = served.run("print('kept, and counted')")
    assert served.http.post("/api/v1/snapshots", json={"run": run["id"], "view": {"step": 0, "lang": "en"}}).is_success
    assert gauge("gradgraph_snapshots") == before + 1
    assert gauge("gradgraph_snapshot_bytes") > size


def test_the_routes_are_documented_without_another_host(served: Served) -> None:
    page = served.http.get("/docs").text
    document = served.http.get("/openapi.json").json()
    assert all(path in page for path in document["paths"])
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "").split("curl")[0]


def test_no_part_of_a_request_is_sent_to_a_thread_and_back() -> None:
    """FastAPI does so with what is a plain function."""
    routers = [module.router for module in (docs, engine_steps, gallery, graphs, health, pages, rules, runs, tensors)]
    todo = [route.dependant for router in routers for route in router.routes if isinstance(route, APIRoute)]
    asked = []
    while todo:
        dependant = todo.pop()
        asked.append(dependant.call)
        todo += dependant.dependencies
    assert len(asked) > 20
    assert [call for call in asked if not inspect.iscoroutinefunction(call)] == []


def test_a_weak_sandbox_serves_this_machine_only() -> None:
    weak = Isolation(profile="partial", layers=("rlimits",))
    check_isolation(weak, Settings(host="127.0.0.1"))
    check_isolation(weak, Settings(host="0.0.0.0", allow_weak_isolation=True))
    check_isolation(Isolation(profile="container", layers=("seccomp",)), Settings(host="0.0.0.0"))
    with pytest.raises(WeakIsolation, match="GRADGRAPH_ALLOW_WEAK_ISOLATION=1"):
        check_isolation(weak, Settings(host="0.0.0.0"))
    with pytest.raises(WeakIsolation, match="from other machines"):
        check_isolation(weak, Settings(host="127.0.0.1", runner="nats://127.0.0.1:4222"))


def test_a_node_without_a_readable_rule_has_pytorchs_own_formula(served: Served) -> None:
    answer = served.http.get("/api/v1/rules/CholeskySolveBackward0").json()
    assert [slot["name"] for slot in answer["slots"]] == ["self", "input2"]
    assert "cholesky_solve_backward" in answer["slots"][0]["text"]
    refused = served.http.get("/api/v1/rules/MineBackward")
    assert refused.status_code == 404
    assert refused.json()["type"].endswith("no-such-derivative")


@pytest.mark.slow
def test_the_servers_memory_is_hidden_from_its_user() -> None:
    hide = "import ctypes; from server.process import hide_memory; hide_memory(); "
    code = f"{hide}print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert said.stdout == "0\n"
