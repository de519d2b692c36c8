"""Wire format of the fixes of a run that were tried, `gradgraph.fixes/1`.

A finding has edits that take its cause out; here is what the edited program did when it was run, and how sure the
finding is by that. `before` is what the run itself says, `after` what the edited program's run says.
"""

from typing import Final, Literal

from engine.trace import Certainty, Record, Tensor

FORMAT: Final = "gradgraph.fixes/1"

Verdict = Literal[
    "mends",
    "remains",
    "new_finding",
    "gradient_lost",
    "graph_grows",
    "stops",
    "lines_lost",
    "output_lost",
    "not_finished",
    "too_long",
]


class Shift(Record, frozen=True):
    """Something that reads differently in the edited program's run."""

    what: Literal["gradient", "value", "loss", "printed", "memory"]
    """`gradient`: a tensor's `.grad` at the end; `value`: a tensor or a number at the end; `loss`: that of the last
    pass, where it is lower; `printed`: the first printed line that differs; `memory`: where nothing else differs, the
    most bytes that were kept for backward at one time."""
    name: str = ""
    """Of a `gradient`, `value` or `loss` the tensor's name, if it has one; of a `printed` line its number in the
    output."""
    before: Tensor | float | str | None = None
    """As it was; absent for None, and for a line that was not printed."""
    after: Tensor | float | str | None = None
    """As it is with the fix."""


class Trial(Record, frozen=True):
    """What came of one fix."""

    finding: int
    """Index of the finding that offers it, in `findings` of the run."""
    verdict: Verdict
    """`mends`: the finding is gone, nothing new is wrong and the program gets at least as far. Else why the fix is
    not to be offered: the finding `remains`, a leaf that it names still gets no gradient, or, of what right
    programs do as well, nothing is better for it; a `new_finding` as grave is there, or the edits cut a gradient
    off or make Python warn of something; a leaf that got gradients gets none (`gradient_lost`); each pass of a loop
    walks back further than the one before (`graph_grows`); the program `stops` where it did not, or before it got
    further; it leaves out statements (`lines_lost`) or print lines (`output_lost`) that it had; a limit stopped it
    (`not_finished`); the edited program is longer than the server takes (`too_long`)."""
    certainty: Certainty | None = None
    """What the run says of the finding: `certain` when taking its cause out ended it and something else came of it
    (`proof`, or an error that is gone); `possible` when it is still there all the same, or another trouble came in its
    place: the cause may be another one. Absent when the run says neither; the finding is then as certain as the trace
    has it."""
    run: str = ""
    """The edited program's run; absent where there is none."""
    stops_at: int | None = None
    """The line of the edited program that a failure further on stops it at; absent when it ran to its end."""
    proof: tuple[Shift, ...] = ()
    """What reads differently now, the most telling first, at most four."""


class Fixes(Record, frozen=True, kw_only=True):
    """The fixes of a run."""

    format: Literal["gradgraph.fixes/1"]
    """Name and version of this format."""
    run: str
    """The run whose findings offer them."""
    done: bool
    """Whether all were tried that will be; else some are still waiting for an idle worker."""
    trials: tuple[Trial, ...] = ()
    """Those that were tried so far. A finding whose fix is not among them when `done` was never tried."""
