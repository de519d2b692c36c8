"""Traces made by hand, for tests of what is pure: each op gets a node when a tracked tensor goes in."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from engine.limits import DEFAULT_LIMITS
from engine.trace import (
    FORMAT,
    Accumulation,
    Argument,
    Broadcast,
    Edge,
    Environment,
    Failure,
    Finding,
    Member,
    Module,
    Node,
    NodeOutput,
    Number,
    Op,
    OutputOf,
    Pass,
    Program,
    Root,
    Span,
    Step,
    Tensor,
    Timings,
    Trace,
    Update,
    Variable,
    Visit,
)


@dataclass
class Tape:
    """A program being recorded."""

    code: str = ""
    tensors: list[Tensor] = field(default_factory=list)
    ops: list[Op] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    passes: list[Pass] = field(default_factory=list)
    updates: list[Update] = field(default_factory=list)
    modules: list[Module] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)
    timeline: list[Step] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    failure: Failure | None = None

    def span(self, text: str, nth: int = 0) -> Span | None:
        """Where a piece of one line stands in the code."""
        for number, line in enumerate(self.code.split("\n"), 1):
            column = line.find(text)
            if column >= 0:
                if nth == 0:
                    return Span(line=number, end_line=number, column=column, end_column=column + len(text))
                nth -= 1
        return None

    def tensor(
        self,
        *names: str,
        data: Sequence[Number] = (1.0,),
        shape: tuple[int, ...] = (),
        role: str = "constant",
        requires_grad: bool = False,
        grad_fn: OutputOf | None = None,
        dtype: str = "float32",
        identity: str | None = None,
        version: int = 0,
        grad: str | None = None,
    ) -> str:
        """Add one tensor state; its id."""
        record = msgspec.convert(
            {
                "id": f"t{len(self.tensors) + 1}",
                "shape": shape,
                "dtype": dtype,
                "role": role,
                "names": names,
                "data": tuple(data),
                "requires_grad": requires_grad,
                "is_leaf": grad_fn is None,
                "grad_fn": grad_fn,
                "identity": identity,
                "version": version,
                "grad": grad,
            },
            Tensor,
        )
        self.tensors.append(record)
        if names:
            self.variables.append(Variable(name=names[0], kind="tensor", type="Tensor", tensor=record.id))
        return record.id

    def leaf(
        self, *names: str, shape: tuple[int, ...] = (), role: str = "leaf", data: Sequence[Number] = (1.0,)
    ) -> str:
        """Add a tensor that autograd tracks, with its AccumulateGrad."""
        tensor = self.tensor(*names, shape=shape, role=role, data=data, requires_grad=True)
        self.nodes.append(Node(id=f"n{len(self.nodes) + 1}", type="AccumulateGrad", edges=(), variable=tensor))
        return tensor

    def edge_to(self, tensor: str, name: str = "") -> Edge:
        """The edge a node has towards a tensor."""
        record = next(one for one in self.tensors if one.id == tensor)
        if record.grad_fn is not None:
            return Edge(to=record.grad_fn.node, input_nr=record.grad_fn.output_nr, name=name)
        if record.requires_grad:
            leaf = record.identity or record.id
            return Edge(to=next(node.id for node in self.nodes if node.variable == leaf), input_nr=0, name=name)
        return Edge(to=None, input_nr=0, name=name)

    def op(
        self,
        name: str,
        *inputs: str,
        out: str = "",
        text: str = "",
        nth: int = 0,
        numbers: Sequence[str] = (),
        node: str | None = None,
        slots: Sequence[str] = ("self", "other", "third"),
        records: bool = True,
        module: str | None = None,
        grad_mode: str = "grad",
        shape: tuple[int, ...] = (),
        dtype: str = "float32",
        data: Sequence[Number] = (1.0,),
        broadcast: tuple[Broadcast, ...] = (),
        in_place: str | None = None,
        identity: str | None = None,
        outputs: int = 1,
    ) -> str:
        """Run one op; the id of its (first) output, or of the op when it gives no tensor."""
        op_id = f"o{len(self.ops) + 1}"
        edges = tuple(self.edge_to(one, slot) for one, slot in zip(inputs, slots, strict=False))
        edges += tuple(Edge(to=None, input_nr=0) for _ in numbers)
        tracked = records and any(edge.to is not None for edge in edges)
        grad_fn = None
        if tracked:
            made = f"n{len(self.nodes) + 1}"
            grad_fn = OutputOf(node=made, output_nr=0)
            self.nodes.append(
                Node(
                    id=made,
                    type=node or name.capitalize() + "Backward0",
                    edges=edges,
                    outputs=(NodeOutput(shape=shape, dtype=dtype),),
                    op=op_id,
                    sequence_nr=str(len(self.nodes)),
                )
            )
        results = tuple(
            self.tensor(
                *([out] if out else []),
                role="result",
                shape=shape,
                dtype=dtype,
                data=data,
                requires_grad=tracked,
                grad_fn=grad_fn,
                identity=identity,
            )
            for _ in range(outputs)
        )
        self.ops.append(
            msgspec.convert(
                {
                    "id": op_id,
                    "name": name,
                    "function": f"torch.{name}",
                    "arguments": (
                        *(Argument(tensor=input_) for input_ in inputs),
                        *(Argument(text=number) for number in numbers),
                    ),
                    "inputs": inputs,
                    "outputs": results,
                    "nodes": (grad_fn.node,) if grad_fn is not None else (),
                    "span": self.span(text, nth) if text else None,
                    "module": module,
                    "grad_mode": grad_mode,
                    "in_place": in_place is not None,
                    "broadcast": broadcast,
                },
                Op,
            )
        )
        self.timeline.append(Step(kind="op", op=op_id, span=self.ops[-1].span))
        return results[0] if results else op_id

    def module(self, path: str, type: str, parent: str | None = None, calls: int = 1) -> str:
        """Add a module; its id."""
        identifier = f"m{len(self.modules) + 1}"
        self.modules.append(Module(id=identifier, path=path, type=type, parent=parent, calls=calls))
        return identifier

    def parameter(self, module: str, path: str, shape: tuple[int, ...] = ()) -> str:
        """Add a parameter of a module; its id."""
        tensor = self.leaf(path, shape=shape, role="parameter")
        at = next(at for at, own in enumerate(self.modules) if own.id == module)
        member = Member(name=path.rpartition(".")[2], tensor=tensor)
        own = self.modules[at]
        self.modules[at] = msgspec.structs.replace(own, parameters=(*own.parameters, member))
        return tensor

    def backward(
        self,
        *tensors: str,
        visits: Sequence[Visit] = (),
        accumulations: Sequence[Accumulation] = (),
        text: str = "",
        failed: bool = False,
        retain_graph: bool = False,
    ) -> str:
        """Add a pass; its id."""
        identifier = f"p{len(self.passes) + 1}"
        roots = []
        for tensor in tensors:
            edge = self.edge_to(tensor)
            seed = self.tensor(role="seed")
            roots.append(Root(node=edge.to, input_nr=edge.input_nr, tensor=tensor, seed=seed, implicit=True))
        self.passes.append(
            Pass(
                id=identifier,
                kind="backward",
                roots=tuple(roots),
                visits=tuple(visits),
                accumulations=tuple(accumulations),
                span=self.span(text) if text else None,
                failed=failed,
                retain_graph=retain_graph,
            )
        )
        self.timeline.append(Step(kind="pass", pass_id=identifier, span=self.passes[-1].span))
        return identifier

    def trace(self) -> Trace:
        """What was recorded."""
        return Trace(
            format=FORMAT,
            id="r",
            status="failed" if self.failure is not None else "ok",
            program=Program(code=self.code),
            environment=Environment(python="3.11", torch="2.13.0", engine="0", device="cpu"),
            limits=DEFAULT_LIMITS,
            timings=Timings(total_ms=0.0),
            failure=self.failure,
            output=(),
            warnings=(),
            tensors=tuple(self.tensors),
            variables=tuple(self.variables),
            ops=tuple(self.ops),
            nodes=tuple(self.nodes),
            passes=tuple(self.passes),
            updates=tuple(self.updates),
            modules=tuple(self.modules),
            memory=(),
            timeline=tuple(self.timeline),
            findings=tuple(self.findings),
            truncated=(),
        )
