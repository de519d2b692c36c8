"""What plain PyTorch says of one program: the facts a trace is compared with."""

from typing import Literal

import msgspec

Element = bool | int | float | str

FILE = "program.py"
"""The name of the program's file, in tracebacks and printed warnings."""
FULL = 256
"""Tensors of at most this many elements are compared element by element."""


class Fact(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Base of all facts."""


class Figures(Fact, frozen=True):
    """Figures over the finite elements of a large tensor."""

    min: float
    max: float
    mean: float
    std: float
    norm: float
    zeros: int
    nan: int
    inf: int


class Values(Fact, frozen=True):
    """Contents of one tensor; without data and figures when they cannot be read."""

    shape: tuple[int, ...]
    dtype: str
    data: tuple[Element, ...] | None = None
    figures: Figures | None = None


class TensorFact(Fact, frozen=True):
    """A tensor at the end of the program."""

    values: Values
    requires_grad: bool
    is_leaf: bool
    grad: Values | None


class GraphFact(Fact, frozen=True):
    """What is reachable from one root."""

    types: dict[str, int]
    edges: int
    parallel: int
    missing: int


class VariableFact(Fact, frozen=True):
    """A global name at the end of the program."""

    kind: Literal["tensor", "array", "module", "optimizer", "function", "class", "value"]
    type: str
    tensor: TensorFact | None = None
    graph: GraphFact | None = None
    members: dict[str, TensorFact] = {}
    """Parameters and buffers of a module."""
    items: tuple[Values, ...] = ()
    """Tensors in a list, tuple or dict."""
    text: str | None = None


class VisitFact(Fact, frozen=True):
    """One node run by the engine."""

    node: str
    entered: tuple[Values | None, ...]
    left: tuple[Values | None, ...]


class PassFact(Fact, frozen=True):
    """One call of the engine."""

    kind: Literal["backward", "grad"]
    roots: tuple[GraphFact, ...]
    visits: tuple[VisitFact, ...] = ()
    failed: bool = False


class FailureFact(Fact, frozen=True):
    """What ended the program."""

    type: str
    message: str
    line: int


class WarningFact(Fact, frozen=True):
    """A Python warning."""

    category: str
    message: str
    line: int


class Moment(Fact, frozen=True):
    """The end of a statement, told apart by what had happened by then."""

    line: int
    """Where the statement begins."""
    passes: int
    steps: int
    zero_grads: int
    occurrence: int
    """Which of its ends with these counts."""
    of: int
    """How many there are."""


class MomentFact(Fact, frozen=True):
    """What a program held at a moment."""

    variables: dict[str, TensorFact]
    """Tensors under global names."""
    leaves: tuple[TensorFact, ...]
    """Leaves that require a gradient, each once, in all functions that were running."""


class Facts(Fact, frozen=True):
    """One run of a program."""

    stdout: str
    stderr: str
    warnings: tuple[WarningFact, ...]
    failure: FailureFact | None
    variables: dict[str, VariableFact]
    passes: tuple[PassFact, ...]
    steps: int
    """Optimizer steps."""
    zero_grads: int
    """Calls of `zero_grad`, of optimizers and of modules."""
    moments: tuple[MomentFact | None, ...] = ()
    """For each moment asked for; None for one that is not certain."""


class Question(Fact, frozen=True):
    """A program to run."""

    code: str
    seed: int = 0
    threads: int = 1
    hooks: bool = False
    """Put hooks on the nodes: visits are then recorded."""
    moments: tuple[Moment, ...] = ()
