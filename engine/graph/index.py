"""Look-ups in one trace, built once for a view."""

import math
from collections.abc import Iterable
from functools import cached_property

from engine.program.source import Source, source_of
from engine.trace import Op, Span, Tensor, Trace
from engine.trace_index import TraceIndex
from engine.unfollowed import COPIES, DETACHES, NOT_DIFFERENTIABLE, READS, escapes

CONTAINERS = frozenset({"ModuleList", "ModuleDict", "ParameterList", "ParameterDict"})


class GraphIndex(TraceIndex):
    """Ids to records, and who made and who uses what."""

    def __init__(self, trace: Trace, known: TraceIndex | None = None) -> None:
        super().__init__(trace, known)
        self._chains: dict[str, tuple[str, ...]] = {}
        self._texts: dict[Span | None, str] = {}

    @cached_property
    def code(self) -> Source:
        """The program's source; without its tree when the sandbox did not take the text."""
        parsed = bool(self.trace.ops) or self.trace.status == "ok"
        return source_of(self.trace.program.code, parsed_in_sandbox=parsed)

    @cached_property
    def op_at(self) -> dict[str, int]:
        """Where each op stands among all."""
        return {op.id: at for at, op in enumerate(self.trace.ops)}

    @cached_property
    def maker(self) -> dict[str, Op]:
        """The op each tensor came out of."""
        return _makers(self.trace)

    @cached_property
    def values(self) -> dict[tuple[str, int], str]:
        """Which tensor is which output of which node."""
        return _values(self.trace)

    @cached_property
    def leaf_nodes(self) -> dict[str, str]:
        """The AccumulateGrad of each leaf that has one."""
        return {node.variable: node.id for node in self.trace.nodes if node.variable is not None}

    @cached_property
    def led_to(self) -> frozenset[str | None]:
        """The nodes that edges lead to, and None where edges are missing."""
        return frozenset([edge.to for node in self.trace.nodes for edge in node.edges])

    @cached_property
    def layered(self) -> frozenset[str]:
        """Passes whose own computation was recorded."""
        return frozenset(one.id for one in self.trace.passes if one.create_graph)

    def layer_of(self, node: str | None) -> str | None:
        """The pass with `create_graph=True` that made a node."""
        record = self.nodes.get(node) if node is not None and self.layered else None
        made_in = record.pass_id if record is not None and record.variable is None else None
        return made_in if made_in in self.layered else None

    @cached_property
    def escapes(self) -> dict[str, tuple[str, ...]]:
        """Op to the reads whose number it was given."""
        return escapes(self.trace)

    def why_unfollowed(self, op: Op) -> str:
        """Why autograd did not record an op."""
        if op.name in READS:
            return "item"
        if op.name in COPIES and op.inputs:
            return "tensor"
        if op.grad_mode != "grad":
            inside = op.span is not None and self.code.is_in_function_forward(op.span.line)
            return "function" if inside else "no_grad"
        if op.name in DETACHES:
            return "detach"
        dtypes = [self.tensors[tensor].dtype for tensor in op.outputs if tensor in self.tensors]
        is_whole = all(dtype.startswith(NOT_DIFFERENTIABLE) for dtype in dtypes)
        return "integer" if is_whole and any(map(self.is_tracked, op.inputs)) else "untracked"

    def reached_from(self, roots: Iterable[str]) -> set[str]:
        """Every node that edges lead to from the roots, the roots included."""
        pending = [root for root in roots if root in self.nodes]
        found = set(pending)
        while pending:
            for edge in self.nodes[pending.pop()].edges:
                to = edge.to
                if to is not None and to not in found and to in self.nodes:
                    found.add(to)
                    pending.append(to)
        return found

    def writes_a_leaf(self, op: Op) -> bool:
        """Whether it updates weights by hand."""
        return op.in_place and any(map(self.is_tracked_leaf, (*op.inputs, *op.outputs)))

    @cached_property
    def _names(self) -> dict[str, str]:
        return _names(self.trace)

    @cached_property
    def _inner_spans(self) -> frozenset[Span]:
        return _shared_spans(self.trace)

    def identity(self, tensor: str) -> str:
        """Id of the first record of the same tensor object."""
        record = self.tensors.get(tensor)
        return tensor if record is None else record.identity or tensor

    def name(self, tensor: str | None) -> str:
        """The user's name for a tensor, of this state or else of any."""
        record = self.tensors.get(tensor) if tensor is not None else None
        if record is None:
            return ""
        return record.names[0] if record.names else self._names.get(record.identity or record.id, "")

    def text_of(self, op: Op) -> str:
        """The sub-expression an op is; nothing for one of several that library code ran for the same expression."""
        span = op.span
        text = self._texts.get(span)
        if text is None:
            text = self._texts[span] = "" if self.is_inside_library(op) else self.code.excerpt(span)
        return text

    def is_inside_library(self, op: Op) -> bool:
        """Whether the same expression of the user led to other kinds of ops too."""
        return op.span in self._inner_spans

    def has_names(self, tensor: str) -> bool:
        """Whether the program gave it a name."""
        return bool(self.name(tensor))

    def is_parameter(self, tensor: str) -> bool:
        """Whether it is a parameter of a module, in whatever state."""
        record = self.tensors.get(self.identity(tensor))
        return record is not None and record.role == "parameter"

    def elements(self, tensor: str) -> int:
        """How many elements it has."""
        record = self.tensors.get(tensor)
        return math.prod(record.shape) if record is not None else 0

    def is_tracked(self, tensor: str) -> bool:
        """Whether autograd follows it."""
        record = self.tensors.get(tensor)
        return record is not None and record.requires_grad

    def is_tracked_leaf(self, tensor: str) -> bool:
        """Whether gradients stop at it."""
        record = self.tensors.get(tensor)
        return record is not None and record.grad_fn is None and record.requires_grad

    def module_chain(self, module: str | None) -> tuple[str, ...]:
        """Modules whose forward was running, outermost first; containers that are never called are left out."""
        if module is None or module not in self.modules:
            return ()
        chain = self._chains.get(module)
        if chain is None:
            chain = self._chains[module] = self._climb(module)
        return chain

    def _climb(self, module: str) -> tuple[str, ...]:
        chain = [module]
        above = self.modules[module].parent
        while above is not None and above in self.modules and above not in chain:
            chain.append(above)
            above = self.modules[above].parent
        return tuple(m for m in reversed(chain) if m == module or self._is_called(m))

    def _is_called(self, module: str) -> bool:
        record = self.modules[module]
        return record.calls > 0 or record.type not in CONTAINERS


def _shared_spans(trace: Trace) -> frozenset[Span]:
    """Spans that led to more than one kind of op: a call into library code."""
    types = {module.id: module.type for module in trace.modules}
    first: dict[Span, tuple[str, str]] = {}
    shared: set[Span] = set()
    for op in trace.ops:
        if op.span is not None:
            kind = (op.name, types.get(op.module or "", ""))
            if first.setdefault(op.span, kind) != kind:
                shared.add(op.span)
    return frozenset(shared)


def _makers(trace: Trace) -> dict[str, Op]:
    made: dict[str, Op] = {}
    for op in trace.ops:
        for tensor in op.outputs:
            made.setdefault(tensor, op)
    return made


def _values(trace: Trace) -> dict[tuple[str, int], str]:
    """Which tensor is which output of which node; results before copies that a node saved."""
    values: dict[tuple[str, int], str] = {}
    copies: list[Tensor] = []
    for tensor in trace.tensors:
        made = tensor.grad_fn
        if made is None:
            continue
        if tensor.role == "saved":
            copies.append(tensor)
        else:
            values.setdefault((made.node, made.output_nr), tensor.id)
    for tensor in copies:
        made = tensor.grad_fn
        if made is not None:
            values.setdefault((made.node, made.output_nr), tensor.id)
    return values


def _names(trace: Trace) -> dict[str, str]:
    names: dict[str, str] = {}
    for tensor in trace.tensors:
        if tensor.names:
            names.setdefault(tensor.identity or tensor.id, tensor.names[0])
    return names
