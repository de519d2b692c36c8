"""Layouts of every lesson: the server's V8 places things as a browser does, in both languages and every room."""

import json
import subprocess
from itertools import cycle, product
from pathlib import Path

import pytest

from build_frontend import npm_command
from server.drawing import BUNDLE
from tests.golden import programs
from tests.server.conftest import Served

pytestmark = pytest.mark.slow

LESSONS = programs()
PLACES = [{"lang": lang, "room": room} for lang, room in product(("en", "zh"), ("page", "embed", "phone"))]
SCRIPT = """
const { readFileSync } = require('node:fs')
require('node:vm').runInThisContext(readFileSync(process.argv[1], 'utf8'))
for (const line of readFileSync(0, 'utf8').trim().split('\\n')) {
  const [trace, graph, options] = JSON.parse(line)
  console.log(gradgraphLayout(trace, graph, JSON.stringify(options)))
}
"""
"""Lays out what it is given, one question a line."""

Asked = tuple[str, str, dict[str, str]]


@pytest.fixture(scope="module")
def answers(served: Served) -> list[tuple[Asked, str]]:
    """Trace and graph of every lesson, each in one place and all places in turn, and what the server answered."""
    if not served.service.drawing.ready:
        pytest.skip("the drawing code is not built")
    found = []
    for lesson, place in zip(LESSONS, cycle(PLACES), strict=False):
        run = f"/api/v1/runs/{served.run(lesson.read_text('utf-8'))['id']}"
        trace, graph = served.http.get(run).text, served.http.get(f"{run}/graph").text
        answer = served.http.get(f"{run}/graph/layout", params=place)
        assert answer.status_code == 200, answer.text
        found.append(((trace, graph, place), answer.text))
    return found


def test_the_server_lays_out_as_a_browser_would(answers: list[tuple[Asked, str]]) -> None:
    npm = Path(npm_command()[0])
    node = npm if npm.name == "node" else npm.with_name("node")
    lines = "\n".join(json.dumps(asked) for asked, _ in answers)
    done = subprocess.run([node, "-e", SCRIPT, BUNDLE], input=lines, capture_output=True, text=True, check=True)
    for own, (asked, answered) in zip(done.stdout.splitlines(), answers, strict=True):
        assert own == answered, asked[2]


def test_everything_lies_in_the_picture(answers: list[tuple[Asked, str]]) -> None:
    for _, answered in answers:
        layout = json.loads(answered)
        names = [wire["id"] for wire in layout["wires"]]
        assert len(names) == len(set(names))
        for place in (*layout["boxes"], *layout["frames"]):
            assert place["w"] > 0
            assert layout["y"] <= place["y"] <= place["y"] + place["h"] <= layout["y"] + layout["height"]
