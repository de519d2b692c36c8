"""The stories of stories.mjs, told once in a real Chromium against the real server; one test for each."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import soak
from tests.e2e.browser import browser_with_windows

ROOT = Path(__file__).parent.parent.parent
STORIES_S = 1500

EXAMPLES_STORY = "each example for other pages shows its run"

STORIES = (
    "a first visit finds an example that has run, with its text",
    "a gradient is explained factor by factor, by mouse and by keys",
    "gradients of vectors and rules with wide matrices stand whole",
    "the ledger shows at a glance what was added to a gradient not reset",
    "playing halts at a line whose number was clicked, and strides go over a pass",
    "a long run that plays is in view at each moment",
    "a matrix is printed in its rows, arrows step after a pass was chosen, and a new program has no old search",
    "the tour is offered once, can be left, and walks through what is on the page",
    "the tour: offered in small windows too, and on a phone it goes to the tab it speaks of",
    "a projector gets large type and nothing to press; the same run reads as text",
    "an empty page says how to begin",
    "a program runs and its graph appears",
    "what a program gives twice can be looked at, at each step",
    "steps go back and forth by button, key and slider",
    "a sum shows each contribution, and nothing moves while stepping",
    "a node explains itself with its numbers",
    "the ways through a box are lit, by mouse and by keys",
    "a click on a line selects its box, and a box lights its line",
    "the language switches everywhere",
    "the theme switches and is kept",
    "a reload restores the run, the step and the selection",
    "a failing program keeps what happened before it",
    "a cut graph is found and told at its line",
    "the graph follows the pass the step belongs to",
    "a second run keeps nothing of the first",
    "any program after any other is in view, and red only where a diagnosis stands",
    "a part of the page that a network loses is fetched again, or when the reader says so",
    "an edit marks the graph as from before it",
    "an edit that was not run survives a reload, and back and forward",
    "a run that waits says how many are ahead",
    "a module opens in place",
    "panels under the graph follow the step and stay in the address",
    "the engine plays node by node",
    "a fix is advice until it was run, and applying it shows both runs",
    "numbers are turned by hand, and nothing moves but what they change",
    "a value that fails is told at its line, and the last good picture stays",
    "a switch shows beside a run what one change would make of it",
    "a write that autograd cannot see is red in its memory",
    "optimizers are compared on one picture",
    "a silent mistake is mended from its lesson",
    "a cut is red only where something suffers",
    "a gradient that grad() returned is not called missing",
    "a matrix product shows rows and columns, recorded or not",
    "every lesson opens legible, and nothing covers a box",
    "a large program opens as few boxes that mean something",
    "parts that nothing joins stand on lines",
    "a long run is stopped and keeps what it did",
    "gradients are checked and Jacobians shown when they are asked for",
    "contour lines of the real function lie under the path",
    "a walk over the module tree says what became of each tensor",
    "one operator of a class of one’s own is followed call by call",
    "a pass is gone through with matrices",
    "a run stands beside the one before it, and Back takes it away",
    "Back goes to the program before, and past all that a number was turned to at once",
    "the cells that an op read are shown, with dtypes and sizes",
    "a line that moves a tensor says what a GPU would be sent",
    "hooks and modules tell of themselves",
    "search finds a node by its type",
    "level and lesson are chosen from the page",
    "no CUDA is said, not offered",
    "a phone shows one view at a time",
    "an embed plays inside a sandboxed frame of another site",
    "an embed lays out as its server does, and itself when a group is opened",
    "a lesson that does not exist is said, and others are offered",
    "a row of biases is whole in a narrow column of Training",
    "the gradient norms of layers lead to their passes, by mouse and by keys",
    "the READMEs show the page as it is, light and dark",
    "views and aliases light up together",
    "a small graph opens whole on a phone, what stands beside its boxes too",
    "a small graph too large for its window opens at the leaf that is told of, whatever was shown before",
    "broadcasting is drawn with ghost cells, and on the way back the cells that are summed",
    "a cell of a convolution shows its window",
    "a small view shows itself large under the pointer and by keys, with how its values are spread",
    "nothing covers the tabs of the panels, at any size",
    "what tells of a box does not lie over it, and the headings of groups that begin above are told",
    "a tensor of three axes is seen slice by slice",
    "a snapshot opens for others as it was left, without its run, until its maker deletes it",
    "an element on a page of another site follows its page, and prints a picture",
    "what the share box gives to paste shows the snapshot where it is pasted",
    EXAMPLES_STORY,
    "a run in one file plays from disk, in a sandbox, with no network",
    "a run in one file has what presses make of its groups, and says what it leaves out",
    "the module shows a run on a site of its own, with no server",
    "on slides a press or a key is a step, and past the last one the page is told",
    "a reader changes the program of an embed where the operator lets them, and has it back",
    "ten embeds on a page are fetched as they come near, and without scripts they are pictures",
    "an embed opens with the box of its step in view, at any width and level",
    "an embed of a run that is gone says so",
    "a lesson's phrases light what they speak of, and its terms are explained",
    "simulated devices and ranks have lanes: what crosses a cut, and what each rank gave and got",
    "questions: a lesson stops before its answer is anywhere on the page, by keys and on a phone",
    "questions: embeds, slides and single files ask, and count no further than the question",
    "questions: which line fails is pressed, where a gradient flows drawn, another number asked again",
    "questions: the sheet has questions first and answers on a page of their own",
    "questions: a first visit finds its example whole, and is asked when it wants to be",
    "questions: a class answers together, and its teacher sees the spread and shows the answer",
    "a lesson's graph has its share of a small window beside its story and its question",
    "questions: numbers to play with turn by keys within their range, and are asked anew",
    "questions: an embed tells the words of a lesson once its questions are answered, in either language",
    "questions: a presented lesson walks through its questions and its words, with a remote or a finger",
    "a step changes what it tells of and nothing else in the picture, however long the run",
    "on paper the whole program stands above the picture",
    "a graph that its window cuts is whole on paper, in light colours",
    "no accessibility violations: first visit, tour, model, failure, panels, presentation, embed",
)

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(STORIES_S + 2 * soak.PATIENCE_S)]

Told = dict[str, str | None]
"""What went wrong in each story; None when nothing did."""


@pytest.fixture(scope="module")
def told(chromium: str, url: str, course: Path, request: pytest.FixtureRequest) -> Told:
    """The chosen stories, told in one browser."""
    items = [item for item in request.session.items if isinstance(item, pytest.Function)]
    chosen = [item.callspec.params["story"] for item in items if item.originalname == test_story.__name__]
    names = chosen if 0 < len(chosen) < len(STORIES) else ()
    if EXAMPLES_STORY in chosen or not names:
        request.getfixturevalue("examples")
    command = [sys.executable, "build_frontend.py", "run", "--silent", "stories", "--", *names]
    browsers = {"CHROMIUM": chromium, "CHROMIUM_WITH_WINDOWS": browser_with_windows() or chromium}
    environment = {**os.environ, **browsers, "GRADGRAPH_URL": url, "GRADGRAPH_EXAMPLES": str(course)}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=STORIES_S, check=False
    )
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert lines, f"no story was told: {done.stderr[-2000:]}"
    return {line["story"]: None if line["ok"] else line["error"] for line in lines}


@pytest.mark.parametrize("story", STORIES)
def test_story(story: str, told: Told) -> None:
    assert story in told, "the story was not told"
    assert told[story] is None


def test_every_story_is_a_test(told: Told) -> None:
    assert set(told) == set(STORIES)
