"""Wire format of the switches beside a run, `gradgraph.what-ifs/1`: each makes another program, which shows what
follows when it is run."""

from typing import Final, Literal

from engine.trace import Edit, Record, Span

FORMAT: Final = "gradgraph.what-ifs/1"

Code = Literal[
    "not_detached", "recorded", "other_seed", "float64", "not_reset", "gradient_doubled", "gradient_cut", "frozen"
]


class WhatIf(Record, frozen=True):
    """One change to the program or to how it is run."""

    code: Code
    """`not_detached`: this `detach()` gone; `recorded`: this `no_grad` is `enable_grad`; `other_seed`: another seed;
    `float64`: the default dtype; `not_reset`: this reset of gradients left out; `gradient_doubled`, `gradient_cut`:
    what this operation's result receives is doubled by a hook, or its result detached; `frozen`: this leaf requires no
    gradient."""
    edits: tuple[Edit, ...] = ()
    """The change of the program; none where only the seed changes."""
    seed: int | None = None
    """The seed to run it with; absent for that of the run."""
    span: Span | None = None
    """The part of the program it is about; absent where it is about all of it."""
    name: str = ""
    """The leaf's name, or what is written in the span, shortened."""
    ops: tuple[str, ...] = ()
    """Ids of the ops it is about, in the order they ran, at most 64."""
    tensor: str | None = None
    """Id of the leaf it is about."""


class WhatIfs(Record, frozen=True, kw_only=True):
    """What a run could be done otherwise in."""

    format: Literal["gradgraph.what-ifs/1"]
    """Name and version of this format."""
    run: str
    """The run."""
    what_ifs: tuple[WhatIf, ...] = ()
    """In the order of the program, those about all of it last; at most 400."""
