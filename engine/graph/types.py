"""Wire format of the graph to draw, `gradgraph.graph/1`."""

from typing import Literal

import msgspec

from engine.trace import Record, Span

FORMAT = "gradgraph.graph/1"

Level = Literal["autograd", "forward", "both"]


class BoxParameter(Record, frozen=True):
    """A leaf folded into the box that uses it."""

    name: str
    """The user's name for it."""
    tensor: str
    """Tensor id."""
    node: str | None = None
    """Its AccumulateGrad."""
    slot: int | None = None
    """Slot of the box's node that leads to it; of several the first."""
    shared: int = 1
    """How many boxes use it."""


class Box(Record, frozen=True):
    """One box: an op with its node, a leaf, or a ghost."""

    id: str
    """Node id, op id or tensor id it stands for; unique in the view."""
    kind: Literal["op", "leaf", "ghost", "collective"]
    """`op`: an autograd node (or a recorded op at level `forward`); `leaf`: a tensor with AccumulateGrad, or an input;
    `ghost`: an operation or tensor that is not in the autograd graph; `collective`: the calls of all ranks that met."""
    title: str
    """Node type, op name or leaf's role."""
    name: str
    """The user's name for the result, or the sub-expression (`y * y`); of a collective what it makes of the tensors:
    `sum`, `avg`, `max` …, `mean` of gradients that DDP gives divided by the number of ranks, `copy`, `start` where
    making a DDP gives all ranks the parameters and buffers of one."""
    family: str
    """Icon: `leaf param add minus mul div pow mean sum mat norm act emb attn loss acc view ghost op`."""
    op: str | None = None
    """Op id."""
    node: str | None = None
    """Node id; for a leaf its AccumulateGrad."""
    tensor: str | None = None
    """Forward value shown in the left cell."""
    output_nr: int = 0
    """Which input of `node` the right cell's gradient enters."""
    group: str | None = None
    """Innermost group it belongs to."""
    parameters: tuple[BoxParameter, ...] = ()
    """Leaves folded into it, each once."""
    constants: tuple[str, ...] = ()
    """Plain numbers and untracked tensors among the arguments, as stubs beside it."""
    constant_tensors: tuple[str | None, ...] = ()
    """For each constant the tensor it is, null for a plain number; empty when all are plain."""
    folded: tuple[str, ...] = ()
    """Nodes drawn inside this box, such as the transpose of a folded weight."""
    reason: str = ""
    """For a ghost: `no_grad`, `inference_mode`, `set_grad_enabled`, `function` (inside the forward of a custom
    Function), `detach`, `item`, `tensor`, `integer`, `untracked`; `unused` for leaves that took part in nothing. For
    another box `unreached`: no edge leads to it from the root, only a cut."""
    ops: tuple[str, ...] = ()
    """Of a collective: its op in each rank that met, by rank; `op` is the first of them."""
    span: Span | None = None
    """The user's code."""
    order: int = 0
    """Position in forward order."""


class Link(Record, frozen=True):
    """One edge to draw, from producer (above) to consumer (below)."""

    source: str
    """Box that made the value."""
    target: str
    """Box that uses it."""
    kind: Literal["data", "ghost", "cut", "exchange"]
    """`data`: gradient can flow back; `ghost`: it cannot; `cut`: it stops here because of `reason`; `exchange`: a
    collective took or wrote a leaf, its gradient, or the first gradient of a pass."""
    tensor: str | None = None
    """The forward value on it; of an exchange what a rank got of the collective above."""
    op: str | None = None
    """Of an exchange the op by which a rank took part in the collective."""
    back: str | None = None
    """Of an exchange what goes up: what a rank gave to the collective above, or got of the one below."""
    node: str | None = None
    """The consumer's node, whose slot sends the gradient; absent for ghosts."""
    slot: int | None = None
    """Slot of that node's edges: `visit.left[slot]` is the gradient on this edge."""
    label: str = ""
    """Of several results of the box above the name of the one it carries; else the slot's name, when two edges join
    the same boxes."""
    broadcast: tuple[int, ...] = ()
    """Axes over which the gradient is summed on the way back."""
    reason: str = ""
    """What cut it: `detach`, `data`, `no_grad`, `inference_mode`, `set_grad_enabled`, `tensor`, or what took a number
    out, such as `item` or `float`."""
    span: Span | None = None
    """The code that cut it."""


class Group(Record, frozen=True):
    """Boxes shown as one because they share a module path or a loop, or because one pass or one rank made them."""

    id: str
    """Group id."""
    title: str
    """Last part of the module path, the loop's line, what the name it counts by is in a turn (`t = 0`, of several
    `t = 4–25`) or the turn's number, what a function's call belongs to (`net[0][3]`) or its number, the call that made
    a layer, what one op made, or `rank 0`."""
    type: str
    """Module class, name of the op, of calls the function, of a turn of a loop its head (`for x, y`), of the steps of
    one of several recurrent layers which one (`l0_reverse`), else empty."""
    kind: Literal["module", "loop", "line", "layer", "rank", "device", "recursion", "steps", "op"]
    """Why they belong together; `layer`: one pass with `create_graph=True` made them; `rank`: one rank did;
    `device`: they are on one of several; `recursion`: calls of a function that calls itself made them;
    `steps`: one call of PyTorch, or of Python's `sum`, made them in turn; `op`: one op did, and only what the last of
    them made has a value."""
    parent: str | None = None
    """The group around it."""
    module: str | None = None
    """Module id."""
    size: int = 0
    """Nodes in it, at any depth; what autograd did not record is none."""
    repeat: int = 1
    """How many times a loop's body or a function ran, or how many alike modules these are."""
    hands_on: bool = False
    """Whether each step of a loop takes in what the one before it made, with the same weights: an unrolled RNN."""
    parameters: int = 0
    """Parameter elements in it."""
    tensor: str | None = None
    """Value of its last box, shown when folded."""
    node: str | None = None
    """Node of its last box."""
    span: Span | None = None
    """The user's code."""
    pass_id: str | None = msgspec.field(default=None, name="pass")
    """For a layer: the pass whose computation it is."""


class RootChoice(Record, frozen=True):
    """A root one can choose."""

    id: str
    """Node id."""
    name: str
    """Name of the tensor or the call's text."""
    passes: tuple[str, ...] = ()
    """Passes that start at it."""


class Graph(Record, frozen=True):
    """What to draw, before layout."""

    format: Literal["gradgraph.graph/1"]
    """Name and version of this format."""
    run: str
    """Run id."""
    level: Level
    """`autograd`: nodes only; `forward`: every op; `both`: nodes, and what autograd did not record as ghosts."""
    root: str | None
    """Chosen root (node id); null for all."""
    pass_id: str | None
    """Chosen pass; of several drawn together the last."""
    roots: tuple[RootChoice, ...]
    """All roots, latest last."""
    boxes: tuple[Box, ...]
    """In forward order."""
    links: tuple[Link, ...]
    """In forward order of their targets."""
    groups: tuple[Group, ...]
    """Parents first."""
    omitted: int = 0
    """Boxes left out by the limit."""
    passes: tuple[str, ...] = ()
    """Passes drawn together, in the order they ran: the chosen one, and those whose layers hang together with it, or
    with which its rank exchanged values or gradients."""
