"""Request and answer bodies that are not the trace."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, model_validator

from engine.devices import CPU, PATTERN, checked
from engine.program.questions import MOST_QUESTIONS
from engine.request import CheckKind
from engine.trace import RunLimits


class Body(BaseModel):
    """Base of request bodies: fields nobody knows are refused, so that a misspelt one is noticed."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class Answer(BaseModel):
    """Base of answers."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class LimitsBody(Body):
    """Limits for this run; each may only be lower than the operator's."""

    wall_s: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """Seconds that the run has, without what it waits for a processor; by the clock at most 3 times that."""
    cpu_s: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """Seconds of processor time, all threads together."""
    memory_bytes: Annotated[int, Field(gt=0)] | None = None
    """Bytes the program may add to the warm process."""
    output_bytes: Annotated[int, Field(ge=0)] | None = None
    """Bytes of printed output that are kept."""
    ops: Annotated[int, Field(ge=0)] | None = None
    """Forward operations that are recorded."""
    nodes: Annotated[int, Field(ge=0)] | None = None
    """Autograd nodes that are recorded."""
    trace_bytes: Annotated[int, Field(gt=0)] | None = None
    """Bytes of events the worker may say."""


class RunBody(Body):
    """A program to run: either `code`, or an `expression` with its `inputs`."""

    code: str | None = None
    """Python source, run as `__main__`."""
    expression: str | None = None
    """A tensor expression such as `((x + 2)**2 * 3).mean()`; a backward pass follows when its value is a scalar."""
    inputs: dict[str, JsonValue] = {}
    """The expression's named inputs: numbers or nested lists."""
    device: Annotated[str, AfterValidator(checked), Field(json_schema_extra={"pattern": PATTERN})] = CPU.name
    """`auto`, `cpu`, `cuda` or `cuda:N`."""
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0
    """Given to torch, numpy and random before the first line."""
    limits: LimitsBody = LimitsBody()
    """Lower limits for this run."""
    check: CheckKind | Annotated[list[CheckKind], Field(max_length=4)] = []
    """What to work out beside the run: `finite-difference` compares the gradients of its leaves, `jacobian` gives
    Jacobians of small roots, `surface` a function of two numbers on a grid, `calls` the calls of the program's own
    functions; one word or a list."""

    @model_validator(mode="after")
    def _one_program(self) -> Self:
        if (self.code is None) == (self.expression is None):
            raise ValueError("give either `code` or `expression`, and not both")
        if self.code is not None and self.inputs:
            raise ValueError("`inputs` belong to an `expression`; put values into the `code` itself")
        return self


Id = Annotated[str, Field(pattern=r"^[ -~]{1,200}$")]
"""An id within a trace, or of one: printable, and no longer than any that is made."""
MOST_STEPS = 10_000_000
"""Steps that can be asked for: more than any timeline has."""
MOST_OPEN = 2_000
"""Groups that can be open: more than a page can show."""
LessonName = Annotated[str, Field(pattern=r"^\w+$", max_length=80)]
"""Of a gallery program. The count stands beside the pattern: `\\w{1,80}` takes pydantic 7 MB."""


class View(Body):
    """Base of what a view says: values are of the type they should have, or refused."""

    model_config = ConfigDict(strict=True, frozen=True)


class SelectedPart(View):
    """A part of the graph that is selected."""

    kind: Literal["box", "edge", "group"]
    """What it is."""
    id: Id
    """Its id in the graph."""


class SelectedLine(View):
    """A line of the program that is selected."""

    kind: Literal["line"]
    """What it is."""
    line: Annotated[int, Field(ge=1, le=100_000)]
    """Its number, from 1."""


Panel = Literal["ledger", "memory", "training", "engine", "storage", "checks", "jacobian", "calls", "text", "compare"]


class SnapshotView(View):
    """Where a reader begins: what a page's address says besides the run."""

    step: Annotated[int, Field(ge=0, le=MOST_STEPS)]
    """Steps of the timeline that have happened."""
    lang: Literal["zh", "en"]
    """Language of the words."""
    theme: Literal["light", "dark", "auto"] = "auto"
    """Colours; `auto` follows the reader's system."""
    lesson: LessonName | None = None
    """Gallery program it came from; null for another one."""
    selection: Annotated[SelectedPart | SelectedLine, Field(discriminator="kind")] | None = None
    """What is selected."""
    expanded: Annotated[list[Id], Field(max_length=MOST_OPEN)] | None = None
    """Groups that are open; null for those that open by themselves."""
    level: Literal["autograd", "forward", "both"] = "both"
    """Autograd nodes, recorded operations, or both."""
    root: Id | None = None
    """Node to start from; null for the default."""
    pass_id: Annotated[Id | None, Field(alias="pass")] = None
    """Chosen pass; null for that of the step."""
    panel: Panel | None = None
    """The panel open under the graph."""
    beside: Annotated[list[Id], Field(max_length=2)] = []
    """Runs or snapshots that stand beside it; they become snapshots too."""

    def json_bytes(self) -> bytes:
        """The view as it is stored: the same text for the same view."""
        expanded = None if self.expanded is None else sorted(set(self.expanded))
        return self.model_copy(update={"expanded": expanded}).model_dump_json(by_alias=True).encode()


class SnapshotBody(Body):
    """What to keep: a finished run, or another snapshot, as it is looked at."""

    run: Id
    """Id of the run or snapshot."""
    view: SnapshotView
    """Where its reader begins."""


class SnapshotMade(Answer):
    """A snapshot that was kept."""

    id: str
    """Its id: the same content has the same one."""
    url: str
    """Path of its page; `.json`, `.svg`, `.png`, `.dot`, `.mmd` and `.py` after it give its files."""
    token: str
    """Deletes it with `DELETE /api/v1/snapshots/{id}`; told this once."""


def _in_characters(text: str) -> str:
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ValueError("half of a surrogate pair is no character")
    return text


class RoomBody(Body):
    """A room to open."""

    run: Id
    """Id of a finished run or snapshot whose program asks questions."""
    lesson: LessonName | None = None
    """Gallery program it came from; null for another one."""


class RoomMade(Answer):
    """A room that was opened."""

    code: str
    """What its learners are told; letters of either case name it."""
    url: str
    """Path of its page."""
    token: str
    """Makes who has it the teacher, in the header `Owner-Token`; told this once."""


Asked = Annotated[int, Field(ge=0, lt=MOST_QUESTIONS, strict=True)]
"""A question of a program: its number among those that can be answered, from 0."""


class RoomNow(Answer):
    """How a room stands."""

    run: str
    """Id of the run or snapshot."""
    lesson: str | None
    """Gallery program it came from."""
    question: int | None
    """Number of the question that is asked, from 0; null before the first."""
    is_revealed: bool
    """Whether its answer is shown."""


class RoomAsks(Body):
    """What the teacher wants asked."""

    question: Asked
    """Number of the question, from 0."""
    is_revealed: bool = False
    """Whether its answer is shown: it is answered no more."""


class AnswerBody(Body):
    """A learner's answer."""

    question: Asked
    """Number of the question it is to."""
    answer: Annotated[str, AfterValidator(_in_characters)]
    """As it was typed."""


class OEmbed(Answer):
    """How another site shows a page of ours (oEmbed 1.0)."""

    type: Literal["rich"] = "rich"
    """Kind of content: HTML."""
    version: Literal["1.0"] = "1.0"
    """Of oEmbed."""
    title: str
    """What the graph is of, as plain text."""
    provider_name: Literal["Gradgraph"] = "Gradgraph"
    """Whose it is."""
    provider_url: str
    """This server."""
    cache_age: int
    """Seconds it may be kept."""
    html: str
    """The frame."""
    width: int
    """Its pixels across."""
    height: int
    """Its pixels down."""
    thumbnail_url: str | None = None
    """A picture; absent, with its sizes, where none can be drawn."""
    thumbnail_width: int | None = None
    """Its pixels across."""
    thumbnail_height: int | None = None
    """Its pixels down."""


class Piece(Answer):
    """A part of a paragraph."""

    kind: Literal["text", "code", "math", "phrase", "term"]
    text: str
    """Its words; of a formula the LaTeX."""
    at: str | None = None
    """What a phrase speaks of: a name or code of the program, or the type of a node."""
    says: str | None = None
    """Of a term its meaning, of a formula its MathML."""


class Text(Answer):
    """What a lesson is called and says, in one language."""

    title: str
    """One line."""
    text: tuple[tuple[Piece, ...], ...]
    """Paragraphs."""
    questions: tuple["QuestionWords", ...] = ()
    """The lesson's own words for the questions of its program, in their order."""


class QuestionWords(Answer):
    """What a lesson says around one of its questions, in one language."""

    ask: str
    """The question."""
    why: str
    """What is said after the answer."""


class Lesson(Answer):
    """One gallery program."""

    name: str
    """Name in addresses."""
    run: str
    """Run id of the program as it stands, with seed 0 on the CPU; what an embed plays."""
    order: int
    """Place in the menu."""
    tags: tuple[str, ...]
    """What it is about."""
    chapter: str
    """Part of the course it belongs to."""
    zh: Text
    """Chinese."""
    en: Text
    """English."""
    code: str
    """The program."""


class IsolationHealth(Answer):
    """How runs are kept apart, from self-tests through the real path."""

    profile: str
    """`full`, `container`, `gvisor`, `partial` or `none`."""
    layers: tuple[str, ...]
    """Active layers, in the order they are applied."""


class WorkerHealth(Answer):
    """A worker node."""

    name: str
    """Its name at the broker."""
    pool: str
    """Runs it takes: `cpu`, or `cuda` where it has a GPU."""
    slots: int
    """Runs it performs at the same time."""
    running: int
    """Runs it performs now."""


class ClusterHealth(Answer):
    """The nodes of a cluster."""

    leader: str | None
    """The web node whose queue is everybody's; null while there is none."""
    redelivered: int
    """Runs that were given to another worker since that node leads."""
    workers: tuple[WorkerHealth, ...]
    """Worker nodes that take runs."""


class Health(Answer):
    """How the service is doing."""

    status: str
    """`ok`, or `down` while no program could be run: no worker is ready, or in a cluster nobody leads."""
    gradgraph: str
    """Version of Gradgraph, with a digest of the engine's source."""
    torch: str
    """PyTorch version."""
    python: str
    """Python version."""
    devices: tuple[str, ...]
    """Devices a program can have."""
    isolation: IsolationHealth | None
    """How runs are kept apart; null while starting."""
    workers: int
    """Runs performed at the same time."""
    running: int
    """Runs being performed."""
    waiting: int
    """Runs in the queue."""
    queue: int
    """Most runs the queue takes."""
    stored_traces: int
    """Traces in the store."""
    stored_bytes: int
    """Bytes they take."""
    store: str
    """`ok`, or what the last use of the store's file failed with."""
    limits: dict[str, float | int]
    """The operator's limits of one run."""
    pictures: bool
    """Whether SVG can be drawn."""
    oldest_s: float
    """Seconds the run has waited that came first; 0 when none does."""
    cluster: ClusterHealth | None
    """The other nodes; null for a service of one process."""


class Accepted(Answer):
    """A run that was put into the queue."""

    id: str
    """Run id."""
    location: str
    """Where the trace will be."""
    events: str
    """Where to follow it."""


class QueuePlace(Answer):
    """Where the newest run of this browser stands."""

    run: str
    """Run id."""
    state: Literal["waiting", "running", "finished"]
    """Whether it still waits."""
    ahead: int
    """Runs whose turn is before its own; 0 once it is being performed."""
    expected_s: float
    """Seconds until it begins, if runs go on taking as long as of late; 0 once it is being performed."""
    elapsed_s: float
    """Seconds it has been performed, as of its last word; told after the first quarter of a second."""
    line: int
    """Line of the program it was at; 0 when unknown."""
    ops: int
    """Forward operations recorded by then."""


class ValuesPage(Answer):
    """Values of one tensor in row-major order, a page at a time."""

    id: str
    """Tensor id."""
    shape: tuple[int, ...]
    """Sizes, outermost axis first."""
    dtype: str
    """Element type."""
    offset: int
    """Index of the first value."""
    values: list[bool | int | float | str]
    """The values; complex numbers as real and imaginary part in turn."""
    next: int | None
    """Offset of the next page; null on the last."""


class ProblemBody(Answer):
    """A refused request (RFC 9457)."""

    type: str
    """`urn:gradgraph:problem:` and the key of the problem."""
    title: str
    """What kind of problem, in the reader's language."""
    status: int
    """HTTP status."""
    detail: str
    """The value, the rule and the next step."""
    instance: str
    """The path asked for."""


def limits_within(asked: LimitsBody, operator: RunLimits) -> RunLimits | tuple[str, float, float]:
    """The limits of a run, or the name, value and bound of the first that is above the operator's."""
    merged: dict[str, float] = {}
    for name in RunLimits.__struct_fields__:
        bound, value = getattr(operator, name), getattr(asked, name)
        if value is not None and value > bound:
            return name, value, bound
        merged[name] = bound if value is None else value
    return RunLimits(**merged)  # type: ignore[arg-type]
