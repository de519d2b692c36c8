"""One index of a trace, for every room that looks things up in it."""

import ast
import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from operator import itemgetter

from engine.ops import COPIES, DETACHES, READS
from engine.program.names import called
from engine.program.source import Source, source_of
from engine.trace import HookCall, Module, ModuleCall, Node, Op, Pass, Span, Tensor, Trace, Update, Visit
from engine.unfollowed import NOT_DIFFERENTIABLE, escapes

CONTAINERS = frozenset(("ModuleList", "ModuleDict", "ParameterList", "ParameterDict"))
"""Modules that hold others and are never called."""

SWITCHES = ("no_grad", "inference_mode", "set_grad_enabled")
"""What keeps autograd from recording."""

FEW_NAMES = 4
"""So many results of one call are all named where it is."""

_BUILT_FROM = {
    "tensors": ("tensors", "values", "last_states", "_first_names"),
    "nodes": ("nodes", "leaf_nodes", "led_to"),
    "ops": ("ops", "op_at", "maker", "takers", "_ops_by_name", "_ops_by_span"),
}
"""The look-ups that follow from one part of the trace alone: another trace with the same part has the same ones."""


def is_custom(op: Op) -> bool:
    """Whether it is a call of a custom `autograd.Function`."""
    return op.function.endswith(f"{op.name}.apply")


class TraceIndex:
    """Records by id, who made and who uses what, names, and the order of things; each look-up is built when it is first
    asked for. `known` is the index of the trace that this one was derived from: look-ups in parts they share are taken
    over."""

    def __init__(self, trace: Trace, known: "TraceIndex | None" = None) -> None:
        self.trace = trace
        self._chains: dict[str, tuple[str, ...]] = {}
        self._texts: dict[Span | None, str] = {}
        if known is not None:
            self._take_over(known)

    def _take_over(self, known: "TraceIndex") -> None:
        for part, names in _BUILT_FROM.items():
            if getattr(self.trace, part) is getattr(known.trace, part):
                getattr(known, part)  # the records are always asked for
                self.__dict__.update((name, known.__dict__[name]) for name in names if name in known.__dict__)

    # Records by id

    @cached_property
    def tensors(self) -> dict[str, Tensor]:
        """The states of tensors."""
        return {tensor.id: tensor for tensor in self.trace.tensors}

    @cached_property
    def nodes(self) -> dict[str, Node]:
        """The nodes."""
        return {node.id: node for node in self.trace.nodes}

    @cached_property
    def ops(self) -> dict[str, Op]:
        """The ops."""
        return {op.id: op for op in self.trace.ops}

    @cached_property
    def passes(self) -> dict[str, Pass]:
        """The passes."""
        return {pass_.id: pass_ for pass_ in self.trace.passes}

    @cached_property
    def updates(self) -> dict[str, Update]:
        """The updates."""
        return {update.id: update for update in self.trace.updates}

    @cached_property
    def modules(self) -> dict[str, Module]:
        """The modules."""
        return {module.id: module for module in self.trace.modules}

    @cached_property
    def calls(self) -> dict[str, ModuleCall]:
        """The calls of modules."""
        return {call.id: call for call in self.trace.calls}

    @cached_property
    def hooks(self) -> dict[str, HookCall]:
        """The firings of hooks."""
        return {hook.id: hook for hook in self.trace.hooks}

    def hooked_after(self, pass_id: str) -> set[str]:
        """Nodes after which hooks ran during a pass."""
        after = (hook for hook in self.trace.hooks if hook.pass_id == pass_id and hook.kind in ("accumulate", "node"))
        return {hook.node for hook in after if hook.node is not None}

    # Tensors

    def identity(self, tensor: str) -> str:
        """Id of the first record of the same tensor object."""
        record = self.tensors.get(tensor)
        return tensor if record is None else record.identity or tensor

    @cached_property
    def last_states(self) -> dict[str, Tensor]:
        """The last state of each tensor object, by its identity."""
        return {tensor.identity or tensor.id: tensor for tensor in self.trace.tensors}

    @cached_property
    def _first_names(self) -> dict[str, str]:
        names: dict[str, str] = {}
        for tensor in self.trace.tensors:
            if tensor.names:
                names.setdefault(tensor.identity or tensor.id, tensor.names[0])
        return names

    def name(self, tensor: str | None) -> str:
        """The user's name for a tensor, of this state or else of any."""
        record = self.tensors.get(tensor) if tensor is not None else None
        if record is None:
            return ""
        return record.names[0] if record.names else self._first_names.get(record.identity or record.id, "")

    def has_names(self, tensor: str) -> bool:
        """Whether the program gave it a name."""
        return bool(self.name(tensor))

    def is_parameter(self, tensor: str) -> bool:
        """Whether it is a parameter, in whatever state."""
        record = self.tensors.get(self.identity(tensor))
        return record is not None and record.role == "parameter"

    @cached_property
    def members(self) -> frozenset[str]:
        """The parameters of modules, by their identities."""
        return frozenset(self.identity(own.tensor) for module in self.trace.modules for own in module.parameters)

    def elements(self, tensor: str) -> int:
        """How many elements it has."""
        record = self.tensors.get(tensor)
        return math.prod(record.shape) if record is not None else 0

    def is_tracked(self, tensor: str) -> bool:
        """Whether it requires a gradient."""
        record = self.tensors.get(tensor)
        return record is not None and record.requires_grad

    def is_tracked_leaf(self, tensor: str) -> bool:
        """Whether gradients stop at it."""
        record = self.tensors.get(tensor)
        return record is not None and record.grad_fn is None and record.requires_grad

    def is_followed(self, tensor: str) -> bool:
        """Whether autograd knows what it was computed from."""
        record = self.tensors.get(tensor)
        return record is not None and record.grad_fn is not None

    # Ops

    @cached_property
    def op_at(self) -> dict[str, int]:
        """Where each op stands among all."""
        return {op.id: at for at, op in enumerate(self.trace.ops)}

    @cached_property
    def maker(self) -> dict[str, Op]:
        """The op each tensor came out of: of whole numbers that the forward of a custom Function gave, the Function.
        What an op was given and gives back, as `requires_grad_` does, it did not make. So the ways back from op to op
        end."""
        made: dict[str, Op] = {}
        given: set[str] = set()
        for op in self.trace.ops:
            given.update(op.inputs)
            for tensor in op.outputs:
                record = self.tensors.get(tensor) if is_custom(op) and tensor not in op.inputs else None
                if record is not None and record.dtype.startswith(NOT_DIFFERENTIABLE):
                    made[tensor] = op
                elif tensor not in given:
                    made.setdefault(tensor, op)
        return made

    @cached_property
    def takers(self) -> dict[str, list[Op]]:
        """The ops that were given each tensor in just that state."""
        takers: dict[str, list[Op]] = {}
        for op in self.trace.ops:
            for tensor in op.inputs:
                takers.setdefault(tensor, []).append(op)
        return takers

    @cached_property
    def uses(self) -> dict[str, list[Op]]:
        """The ops that were given each leaf, in any of its states."""
        uses: dict[str, list[Op]] = {}
        for op in self.trace.ops:
            for tensor in op.inputs:
                record = self.tensors.get(tensor)
                if record is not None and record.grad_fn is None and record.requires_grad:
                    uses.setdefault(record.identity or tensor, []).append(op)
        return uses

    @cached_property
    def _ops_by_name(self) -> dict[str, list[Op]]:
        named: dict[str, list[Op]] = {}
        for op in self.trace.ops:
            named.setdefault(op.name, []).append(op)
        return named

    def ops_named(self, names: Iterable[str]) -> Iterator[Op]:
        """The ops with one of these names that did not raise, name by name."""
        for name in names:
            for op in self._ops_by_name.get(name, ()):
                if not op.raised:
                    yield op

    @cached_property
    def _ops_by_span(self) -> dict[Span | None, list[Op]]:
        ops: dict[Span | None, list[Op]] = {}
        for op in self.trace.ops:
            ops.setdefault(op.span, []).append(op)
        return ops

    def ops_at(self, span: Span | None) -> Sequence[Op]:
        """The ops of one place, in the order they ran."""
        return self._ops_by_span.get(span, ()) if span is not None else ()

    def input_of(self, op: Op, at: int = 0) -> Tensor | None:
        """One of its input tensors as it was."""
        return self.tensors.get(op.inputs[at]) if at < len(op.inputs) else None

    def output_of(self, op: Op) -> Tensor | None:
        """Its first output."""
        return self.tensors.get(op.outputs[0]) if op.outputs else None

    @cached_property
    def escapes(self) -> dict[str, tuple[str, ...]]:
        """Op to the reads whose number it was given."""
        return escapes(self.trace)

    def why_unfollowed(self, op: Op) -> str:
        """Why autograd did not record an op."""
        if op.raised:
            return "raised"
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

    def switch_around(self, op: Op) -> ast.Call | None:
        """`torch.no_grad()`, or another switch of recording, of the block that an op stands in."""
        statement = self.code.statement_at(op.span)
        return self.switch_over(statement) if statement is not None else None

    def switch_over(self, node: ast.AST) -> ast.Call | None:
        """That of the block that something is written in."""
        around = self.code.around(node)
        calls = (item.context_expr for above in around if isinstance(above, ast.With) for item in above.items)
        return next((call for call in calls if isinstance(call, ast.Call) and called(call) in SWITCHES), None)

    def switched_off_by(self, op: Op) -> str:
        """Which of them kept autograd from recording an op; `no_grad` where the text does not tell."""
        if op.grad_mode == "inference":
            return "inference_mode"
        around, text = self.switch_around(op), self.trace.program.code
        is_other = "no_grad" not in text if around is None else called(around) == "set_grad_enabled"
        return "set_grad_enabled" if is_other and "set_grad_enabled" in text else "no_grad"

    @cached_property
    def met(self) -> dict[str, list[Op]]:
        """The calls of each collective, by rank; not of one that a single rank was in."""
        met: dict[str, list[Op]] = {}
        for op in self.trace.ops:
            if op.collective is not None:
                met.setdefault(op.collective, []).append(op)
        return {id_: sorted(ops, key=lambda op: op.rank or 0) for id_, ops in met.items() if len(ops) > 1}

    def writes_a_leaf(self, op: Op) -> bool:
        """Whether it updates weights by hand."""
        return op.in_place and any(map(self.is_tracked_leaf, (*op.inputs, *op.outputs)))

    # The program's text

    @cached_property
    def code(self) -> Source:
        """The program's source; without its tree when the sandbox did not take the text."""
        parsed = bool(self.trace.ops) or self.trace.status == "ok"
        return source_of(self.trace.program.code, parsed_in_sandbox=parsed)

    def text_of(self, op: Op) -> str:
        """The sub-expression an op is; nothing for one of several that library code ran for the same expression."""
        span = op.span
        text = self._texts.get(span)
        if text is None:
            text = self._texts[span] = "" if self.is_inside_library(op) else self.code.excerpt(span)
        return text

    def code_of(self, op: Op) -> str:
        """What the program's code calls an op: the call or sub-expression, of one inside a call what it did there."""
        return op.called or self.code.excerpt(op.span)

    def name_of_made(self, tensor: str | None) -> str:
        """The user's name for what an op gave, or the sub-expression that the op is."""
        made = self.maker.get(tensor) if tensor is not None else None
        return self.name(tensor) or (self.text_of(made) if made is not None else "")

    def name_of_all(self, tensors: Iterable[str | None]) -> str:
        """The user's names for what one call gave: `left, right`; the first and the last of many."""
        names = list(dict.fromkeys(name for name in map(self.name, tensors) if name))
        return ", ".join(names) if len(names) <= FEW_NAMES else f"{names[0]} … {names[-1]}"

    def is_inside_library(self, op: Op) -> bool:
        """Whether the same expression of the user led to other kinds of ops too."""
        return op.span in self._library_spans

    @cached_property
    def _library_spans(self) -> frozenset[Span]:
        """Spans that led to more than one kind of op: a call into library code."""
        first: dict[Span, tuple[str, str]] = {}
        shared: set[Span] = set()
        for op in self.trace.ops:
            if op.span is not None:
                module = self.modules.get(op.module or "")
                kind = (op.name, module.type if module is not None else "")
                if first.setdefault(op.span, kind) != kind:
                    shared.add(op.span)
        return frozenset(shared)

    # Nodes and passes

    @cached_property
    def values(self) -> dict[tuple[str, int], str]:
        """Which tensor is which output of which node; results before copies that a node saved."""
        values: dict[tuple[str, int], str] = {}
        copies: list[Tensor] = []
        for tensor in self.trace.tensors:
            made = tensor.grad_fn
            if made is None:
                continue
            if tensor.role == "saved":
                copies.append(tensor)
            else:
                values.setdefault((made.node, made.output_nr), tensor.id)
        for tensor in copies:
            if (made := tensor.grad_fn) is not None:
                values.setdefault((made.node, made.output_nr), tensor.id)
        return values

    @cached_property
    def leaf_nodes(self) -> dict[str, str]:
        """The AccumulateGrad of each leaf that has one."""
        return {node.variable: node.id for node in self.trace.nodes if node.variable is not None}

    @cached_property
    def led_to(self) -> frozenset[str | None]:
        """The nodes that edges lead to, and None where edges are missing."""
        return frozenset([edge.to for node in self.trace.nodes for edge in node.edges])

    @cached_property
    def led_to_outputs(self) -> frozenset[tuple[str | None, int]]:
        """The same, with which of the node's results it is."""
        return frozenset((edge.to, edge.input_nr) for node in self.trace.nodes for edge in node.edges)

    def op_of_node(self, node: str | None) -> Op | None:
        """The op that made a node."""
        record = self.nodes.get(node) if node is not None else None
        return self.ops.get(record.op) if record is not None and record.op is not None else None

    @cached_property
    def layered(self) -> frozenset[str]:
        """Passes whose own computation was recorded."""
        return frozenset(pass_.id for pass_ in self.trace.passes if pass_.create_graph)

    def layer_of(self, node: str | None) -> str | None:
        """The pass with `create_graph=True` that made a node."""
        record = self.nodes.get(node) if node is not None and self.layered else None
        made_in = record.pass_id if record is not None and record.variable is None else None
        return made_in if made_in in self.layered else None

    def reached_from(self, roots: Iterable[str], without: str = "") -> set[str]:
        """Every node that edges lead to from the roots, the roots included; by no way through one."""
        pending = [root for root in roots if root in self.nodes and root != without]
        found = set(pending)
        while pending:
            for edge in self.nodes[pending.pop()].edges:
                to = edge.to
                if to is not None and to not in found and to in self.nodes and to != without:
                    found.add(to)
                    pending.append(to)
        return found

    @cached_property
    def visits_of(self) -> dict[str, list[Visit]]:
        """Node to its visits in all passes."""
        visits: dict[str, list[Visit]] = {}
        for pass_ in self.trace.passes:
            for visit in pass_.visits:
                visits.setdefault(visit.node, []).append(visit)
        return visits

    @cached_property
    def visited(self) -> dict[str, int]:
        """Node to the number of the last pass that ran it."""
        return {visit.node: number for number, pass_ in enumerate(self.trace.passes) for visit in pass_.visits}

    # Modules

    def module_chain(self, module: str | None) -> tuple[str, ...]:
        """Modules whose forward was running, outermost first; containers that are never called are left out."""
        if module is None or module not in self.modules:
            return ()
        chain = self._chains.get(module)
        if chain is None:
            holders = self._holders(module)
            chain = self._chains[module] = (*[id_ for id_ in reversed(holders) if self._is_called(id_)], module)
        return chain

    def outermost(self, module: Module) -> Module:
        """The module that holds it, and is held by none: what the program has a name for."""
        holders = self._holders(module.id)
        return self.modules[holders[-1]] if holders else module

    def _holders(self, module: str) -> list[str]:
        """The modules around one, the innermost first; a forged trace may lead in a circle."""
        holders: list[str] = []
        above = self.modules[module].parent
        while above is not None and above in self.modules and above != module and above not in holders:
            holders.append(above)
            above = self.modules[above].parent
        return holders

    @cached_property
    def _calls_of(self) -> dict[str, list[tuple[int, ModuleCall]]]:
        calls: dict[str, list[tuple[int, ModuleCall]]] = {}
        for call in self.trace.calls:
            if call.first_op in self.op_at:
                calls.setdefault(call.module, []).append((self.op_at[call.first_op], call))
        return {module: sorted(of, key=itemgetter(0)) for module, of in calls.items()}

    def call_of(self, module: str, op: Op) -> ModuleCall | None:
        """The call of a module that an op in it ran in."""
        calls = self._calls_of.get(module, ())
        at = bisect_right(calls, self.op_at[op.id], key=itemgetter(0))
        return calls[at - 1][1] if at else None

    def _is_called(self, module: str) -> bool:
        record = self.modules[module]
        return record.calls > 0 or record.type not in CONTAINERS

    # The timeline

    @cached_property
    def op_step(self) -> dict[str, int]:
        """Place in the timeline at which each op ran."""
        return {
            step.op: number
            for number, step in enumerate(self.trace.timeline)
            if step.op is not None and step.kind == "op"
        }

    @cached_property
    def pass_step(self) -> dict[str, int]:
        """Place in the timeline at which each pass began."""
        return {
            step.pass_id: number
            for number, step in enumerate(self.trace.timeline)
            if step.pass_id is not None and step.kind == "pass"
        }

    @cached_property
    def update_step(self) -> dict[str, int]:
        """Place in the timeline of the first word of each update."""
        found: dict[str, int] = {}
        for number, step in enumerate(self.trace.timeline) if self.trace.updates else ():
            if step.update is not None:
                found.setdefault(step.update, number)
        return found
