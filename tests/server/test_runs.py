"""POST /api/v1/runs, the trace it gives and what happens meanwhile."""

import gzip
import json
import socket

import pytest

from engine.trace import FORMAT, RunLimits
from tests.server.conftest import Served, wait_until

EXPRESSION = {"expression": "((x + 2)**2 * 3).mean()", "inputs": {"x": [[1, 1], [1, 1]]}}


def gradient(trace: dict, name: str) -> list:  # type: ignore[type-arg]
    """The `.grad` of a variable, as the trace has it."""
    tensors = {tensor["id"]: tensor for tensor in trace["tensors"]}
    variable = next(each for each in trace["variables"] if each["name"] == name)
    return tensors[tensors[variable["tensor"]]["grad"]]["data"]  # type: ignore[no-any-return]


def test_an_expression_gives_the_gradients_pytorch_gives(served: Served) -> None:
    answer = served.http.post("/api/v1/runs", json=EXPRESSION)
    assert answer.status_code == 200
    trace = answer.json()
    assert (trace["status"], trace["program"]["inputs"]) == ("ok", EXPRESSION["inputs"])
    assert gradient(trace, "x") == [4.5, 4.5, 4.5, 4.5]
    assert answer.headers["content-location"] == f"/api/v1/runs/{trace['id']}"


TWO_PASSES = "import torch\nw = torch.ones(2, requires_grad=True)\nfor _ in range(2):\n    (w * 3).sum().backward()\n"
SHOWN = "application/vnd.gradgraph.shown+json"


@pytest.mark.parametrize("query", ["", "?level=autograd&pass=p1", "?pass=p2"])
def test_trace_and_graph_come_in_one_answer(served: Served, query: str) -> None:
    program = {"code": TWO_PASSES + f"# {query}"}
    wanted = {"Accept": f"{SHOWN}, application/json"}
    answers = [served.http.post(f"/api/v1/runs{query}", json=program, headers=wanted) for _ in range(2)]
    assert [answer.headers["cache-status"] for answer in answers] == ["gradgraph; fwd=miss", "gradgraph; hit"]
    for answer in answers:
        assert (answer.headers["content-type"], answer.headers["cache-control"]) == (SHOWN, "no-store")
        here = answer.headers["content-location"]
        assert answer.json() == {
            "trace": served.http.get(here).json(),
            "graph": served.http.get(f"{here}/graph{query}").json(),
        }


@pytest.mark.parametrize("accept", ["*/*", "application/json", "application/*;q=0.5"])
def test_who_did_not_ask_for_the_graph_gets_the_trace(served: Served, accept: str) -> None:
    answer = served.http.post("/api/v1/runs", json={"code": TWO_PASSES}, headers={"Accept": accept})
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["format"] == FORMAT


@pytest.mark.parametrize("query", ["?pass=p3", "?root=n999", "?pass="])
def test_the_trace_comes_alone_where_there_is_no_such_graph(served: Served, query: str) -> None:
    answer = served.http.post(f"/api/v1/runs{query}", json={"code": TWO_PASSES}, headers={"Accept": SHOWN})
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert served.http.get(f"{answer.headers['content-location']}/graph{query}").status_code == 422


def test_a_large_trace_comes_alone(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    def kind() -> str:
        answer = served.http.post("/api/v1/runs", json={"code": TWO_PASSES}, headers={"Accept": SHOWN})
        return answer.headers["content-type"]

    assert kind() == SHOWN
    monkeypatch.setattr("server.views.IN_ONE_BYTES", 100)
    assert kind() == "application/json"


def test_a_level_nobody_knows_is_refused(served: Served) -> None:
    served.problem(served.http.post("/api/v1/runs?level=none", json={"code": "x = 1"}), 422, "bad-request")


def test_a_program_that_raises_is_an_answer(served: Served) -> None:
    trace = served.run("import torch\nprint('before')\ntorch.ones(2) @ torch.ones(3)\n")
    assert (trace["status"], trace["failure"]["type"], trace["failure"]["span"]["line"]) == (
        "failed",
        "RuntimeError",
        3,
    )
    assert trace["output"][0]["text"] == "before\n"


def test_the_same_program_is_performed_once(served: Served) -> None:
    first = served.http.post("/api/v1/runs", json={"code": "import time\nprint(time.perf_counter_ns())"})
    second = served.http.post("/api/v1/runs", json={"code": "import time\nprint(time.perf_counter_ns())"})
    assert second.json() == first.json()
    assert (first.headers["cache-status"], second.headers["cache-status"]) == ("gradgraph; fwd=miss", "gradgraph; hit")


def test_no_cache_runs_again(served: Served) -> None:
    program = {"code": "import time\nprint('again', time.perf_counter_ns())"}
    first = served.http.post("/api/v1/runs", json=program).json()
    again = served.http.post("/api/v1/runs", json=program, headers={"Cache-Control": "no-cache"}).json()
    assert again["id"] == first["id"]
    assert again["output"] != first["output"]
    assert served.http.get(f"/api/v1/runs/{first['id']}").json() == again


@pytest.mark.parametrize("change", [{"seed": 1}, {"device": "auto"}, {"limits": {"wall_s": 9}}, {"code": "x = 2"}])
def test_what_decides_a_trace_decides_its_id(served: Served, change: dict[str, object]) -> None:
    assert served.run("x = 1")["id"] != served.run(**{"code": "x = 1", **change})["id"]  # type: ignore[arg-type]


def test_checks_are_asked_for_by_one_word_or_a_list(served: Served) -> None:
    one = served.http.post("/api/v1/runs", json={**EXPRESSION, "check": "finite-difference"}).json()
    assert [check["verdict"] for check in one["checks"]] == ["agrees"]
    assert "jacobians" not in one
    both = served.http.post("/api/v1/runs", json={**EXPRESSION, "check": ["jacobian", "finite-difference"]}).json()
    assert both["jacobians"]
    assert both["checks"] == one["checks"]
    assert len({one["id"], both["id"], served.http.post("/api/v1/runs", json=EXPRESSION).json()["id"]}) == 3


@pytest.mark.parametrize("check", ["gradcheck", ["finite-difference", "all"], ["jacobian"] * 5, True])
def test_a_check_nobody_knows_is_refused(served: Served, check: object) -> None:
    served.problem(served.http.post("/api/v1/runs", json={**EXPRESSION, "check": check}), 422, "bad-request")


@pytest.mark.slow
def test_a_run_that_a_limit_stopped_is_not_stored(served: Served) -> None:
    trace = served.run("while True: pass", limits={"wall_s": 0.5})
    assert (trace["status"], trace["failure"]["limit"]) == ("limited", "wall_s")
    again = served.http.post("/api/v1/runs", json={"code": "while True: pass", "limits": {"wall_s": 0.5}})
    assert again.headers["cache-status"] == "gradgraph; fwd=miss"
    assert again.json()["status"] == "limited"
    asked = served.http.get(f"/api/v1/runs/{trace['id']}")
    assert (asked.status_code, asked.headers["cache-control"]) == (200, "no-store")


def test_a_limited_run_that_runs_again_is_not_finished(served: Served) -> None:
    program, later = {"code": "while True: 1"}, {"Prefer": "respond-async"}
    place = served.http.post("/api/v1/runs", json=program, headers=later).headers["location"]
    for _ in range(2):
        wait_until(lambda: served.service.queue.running == 1)
        served.problem(served.http.get(place), 409, "run-not-finished")
        assert served.http.delete(place).json()["status"] == "limited"
        assert served.http.get(place).status_code == 200
        served.http.post("/api/v1/runs", json=program, headers=later)
    served.http.delete(place)


def test_a_stored_trace_is_sent_as_it_lies_there(served: Served) -> None:
    run = served.run("print('stored')")["id"]
    with served.http.stream("GET", f"/api/v1/runs/{run}", headers={"Accept-Encoding": "gzip"}) as answer:
        body = b"".join(answer.iter_raw())
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert json.loads(gzip.decompress(body))["id"] == run
    plain = served.http.get(f"/api/v1/runs/{run}", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.json()["id"] == run
    assert answer.headers["etag"] != plain.headers["etag"]


def test_who_has_a_trace_does_not_get_it_again(served: Served) -> None:
    run = served.run("print('tag')")["id"]
    tag = served.http.get(f"/api/v1/runs/{run}").headers["etag"]
    assert not tag.startswith("W/")
    for known in (tag, f'"other", {tag}', f"W/{tag}", "*"):
        answer = served.http.get(f"/api/v1/runs/{run}", headers={"If-None-Match": known})
        assert (answer.status_code, answer.content) == (304, b"")
    assert served.http.get(f"/api/v1/runs/{run}", headers={"If-None-Match": '"other"'}).status_code == 200


def test_respond_async_tells_where_the_trace_will_be(served: Served) -> None:
    program = {"code": "import time\nprint('slow')\ntime.sleep(9)"}
    answer = served.http.post("/api/v1/runs", json=program, headers={"Prefer": "respond-async"})
    assert (answer.status_code, answer.headers["preference-applied"]) == (202, "respond-async")
    place, run = answer.headers["location"], answer.json()["id"]
    early = served.http.get(place)
    assert place in served.problem(early, 409, "run-not-finished")
    assert early.headers["retry-after"] == "1"
    wait_until(lambda: run in [live.id for live in served.service.queue._running])
    assert served.http.delete(place).json()["id"] == run
    assert served.http.get(place).json()["id"] == run


def test_a_client_that_goes_away_takes_its_run_with_it(served: Served) -> None:
    body = json.dumps({"code": "import time\nprint('gone')\ntime.sleep(9)"}).encode()
    address = (served.http.base_url.host, served.http.base_url.port or 80)
    with socket.create_connection(address) as connection:
        head = (
            "POST /api/v1/runs HTTP/1.1",
            "Host: x",
            "Content-Type: application/json",
            f"Content-Length: {len(body)}",
        )
        connection.sendall("\r\n".join((*head, "", "")).encode() + body)
        wait_until(lambda: served.service.queue.running == 1)
    wait_until(lambda: served.service.queue.running == 0, 8)


@pytest.mark.parametrize(
    ("body", "status", "key", "words"),
    [
        ({}, 422, "bad-request", "either `code` or `expression`"),
        ({"code": "x", "expression": "x"}, 422, "bad-request", "not both"),
        ({"code": "x", "inputs": {"x": 1}}, 422, "bad-request", "belong to an `expression`"),
        ({"cod": "x"}, 422, "bad-request", "body.cod"),
        ({"code": 1}, 422, "bad-request", "body.code"),
        ({"code": "x", "seed": -1}, 422, "bad-request", "body.seed"),
        ({"code": "x", "device": "tpu"}, 422, "bad-request", "body.device"),
        ({"code": "x", "device": "cuda:7"}, 422, "no-such-device", "cuda:7"),
        ({"code": "x", "limits": {"wall_s": 11}}, 422, "limit-raised", "at most 10"),
        ({"code": "x", "limits": {"wall_s": 0}}, 422, "bad-request", "body.limits.wall_s"),
        ({"expression": "x", "inputs": {"x": "a"}}, 422, "bad-input", "'x'"),
        ({"code": "y" * 100_001}, 413, "too-large", "100001"),
        ({"code": "y" * 900_000}, 413, "body-too-large", "800000"),
    ],
)
def test_a_request_that_cannot_be_run_is_refused_in_words(
    served: Served, body: dict[str, object], status: int, key: str, words: str
) -> None:
    assert words in served.problem(served.http.post("/api/v1/runs", json=body), status, key)


def test_a_body_without_a_length_is_read_up_to_the_limit(served: Served) -> None:
    pieces = (b"y" * 100_000 for _ in range(9))
    answer = served.http.post("/api/v1/runs", content=pieces, headers={"Content-Type": "application/json"})
    assert "800000" in served.problem(answer, 413, "body-too-large")


@pytest.mark.parametrize("body", ["{", "[1", "\xff", "[" * 50_000])
def test_a_body_that_is_not_json_is_refused(served: Served, body: str) -> None:
    answer = served.http.post("/api/v1/runs", content=body, headers={"Content-Type": "application/json"})
    served.problem(answer, 400, "bad-json")


def test_half_a_character_is_refused(served: Served) -> None:
    answer = served.http.post(
        "/api/v1/runs", content='{"code": "\\ud800"}', headers={"Content-Type": "application/json"}
    )
    assert "surrogate" in served.problem(answer, 422, "bad-request")


def test_a_form_of_another_site_cannot_run_anything(served: Served) -> None:
    answer = served.http.post("/api/v1/runs", content='{"code": "x"}', headers={"Content-Type": "text/plain"})
    served.problem(answer, 422, "bad-request")


def test_problems_speak_the_language_of_the_reader(served: Served) -> None:
    answer = served.http.get("/api/v1/runs/nothing", headers={"Accept-Language": "zh-CN,zh;q=0.9,en;q=0.8"})
    assert answer.headers["content-language"] == "zh"
    assert "没有运行 nothing" in served.problem(answer, 404, "no-such-run")


def test_the_example_in_the_documentation_is_what_is_answered(served: Served) -> None:
    example = served.http.get("/openapi.json").json()["paths"]["/api/v1/runs/{run}"]["get"]["responses"]["200"]
    shown = example["content"]["application/json"]["example"]
    trace = served.run(shown["program"]["code"])
    assert trace.keys() == shown.keys()
    assert gradient(trace, "x") == gradient(shown, "x") == [6.0]
    edges = [[(node["type"], node["edges"]) for node in each["nodes"]] for each in (trace, shown)]
    assert edges[0] == edges[1]


def test_a_byte_order_mark_is_no_part_of_a_program(served: Served) -> None:
    trace = served.run("\ufeffimport torch\nlosses = [0.5] * 300\n")
    assert (trace["status"], trace["program"]["code"][:6]) == ("ok", "import")
    assert next(each["text"] for each in trace["variables"] if each["name"] == "losses") == repr([0.5] * 300)


def test_a_run_that_takes_long_tells_where_it_is(served: Served) -> None:
    code = "import time\nimport torch\nx = torch.ones(2) * 2\ntime.sleep(1.5)\n"
    accepted = served.http.post("/api/v1/runs", json={"code": code}, headers={"Prefer": "respond-async"}).json()
    told = served.http.get(accepted["events"]).text.split("\n\n")
    progress = [json.loads(event.partition("data: ")[2]) for event in told if "event: progress" in event]
    places = [(word["line"], word["ops"]) for word in progress]
    assert (4, 2) in places  # and line 0 where the program has ended and its run not yet
    elapsed = [word["elapsed_s"] for word in progress]
    assert elapsed == sorted(elapsed)


@pytest.mark.parametrize("name", RunLimits.__struct_fields__)
def test_every_limit_may_be_lowered_and_none_raised(served: Served, name: str) -> None:
    bound = getattr(served.service.settings.limits, name)
    body = {"code": f"print('{name}')", "limits": {name: bound}}
    trace = served.http.post("/api/v1/runs", json=body).json()
    assert trace["limits"][name] == bound
    answer = served.http.post("/api/v1/runs", json={**body, "limits": {name: bound + 1}})
    detail = served.problem(answer, 422, "limit-raised")
    assert name in detail
    assert str(bound) in detail
    lower = bound - 1 if isinstance(bound, int) else bound / 2
    trace = served.http.post("/api/v1/runs", json={**body, "limits": {name: lower}}).json()
    assert trace["limits"][name] == lower


def test_a_frame_without_a_cookie_names_itself(served: Served) -> None:
    own, other = ({"Gradgraph-Session": name} for name in ("a frame", "another"))
    asked = {"code": "while True: pass"}
    told = served.http.post("/api/v1/runs", json=asked, headers=own | {"Prefer": "respond-async"}).json()
    assert served.http.get("/api/v1/runs/mine", headers=own).json()["run"] == told["id"]
    for headers in (other, {}):
        assert served.http.get("/api/v1/runs/mine", headers=headers).status_code == 204
    served.problem(served.http.delete(told["location"], headers=other), 403, "not-your-run")
    assert served.http.delete(told["location"], headers=own).status_code in (200, 204)
