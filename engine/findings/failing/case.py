"""One failure and all that is known of it: what the rules for errors look at."""

import ast
from collections.abc import Iterable, Mapping
from functools import cached_property

from engine.findings.diagnosis import Diagnosis, line
from engine.program.source import source_of
from engine.trace import Edit, Failure, Finding, Op, Operand, Span, Tensor


class Case:
    """A failure, its diagnosis, and the parts of its message that a rule's pattern named."""

    def __init__(self, diagnosis: Diagnosis, failure: Failure) -> None:
        self.diagnosis = diagnosis
        self.failure = failure
        self.code = source_of(diagnosis.trace.program.code)
        self.groups: dict[str, str] = {}
        self.rule = ""
        """Code of the rule that is looking."""

    @property
    def facts(self) -> dict[str, str]:
        """What the running program told."""
        return self.failure.facts

    @cached_property
    def node(self) -> ast.expr | ast.stmt | None:
        """The failing expression."""
        return self.code.at(self.failure.span)

    @cached_property
    def call(self) -> ast.Call | None:
        """The failing expression when it is a call."""
        return self.node if isinstance(self.node, ast.Call) else None

    @cached_property
    def op(self) -> Op | None:
        """The op that raised."""
        return self.diagnosis.ops.get(self.failure.op or "")

    def inputs(self) -> list[Tensor]:
        """The tensors given to the op that raised."""
        return (
            [self.diagnosis.tensors[input_] for input_ in self.op.inputs if input_ in self.diagnosis.tensors]
            if self.op
            else []
        )

    def argument(self, position: int, name: str = "") -> Tensor | None:
        """One argument of the op that raised, when it is a tensor."""
        given = self.op.arguments if self.op is not None else ()
        positional = [argument for argument in given if not argument.name]
        found = next((argument for argument in given if name and argument.name == name), None)
        if found is None and position < len(positional):
            found = positional[position]
        return self.diagnosis.tensors.get(found.tensor) if found is not None and found.tensor is not None else None

    def operand(self, text: str) -> Operand | None:
        """What a name of the failing expression stood for."""
        return next((operand for operand in self.failure.operands if operand.text == text), None)

    def tensor_of(self, node: ast.AST | None) -> Tensor | None:
        """The tensor that a part of the failing expression gave."""
        if not isinstance(node, ast.expr):
            return None
        operand = self.operand(ast.unparse(node))
        if operand is not None:
            return self.diagnosis.tensors.get(operand.tensor or "")
        span = self.code.span(node)
        for op in reversed(self.diagnosis.trace.ops):
            if op.span == span and not op.raised:
                return self.diagnosis.tensors.get(op.outputs[0]) if len(op.outputs) == 1 else None
        return None

    def written(self, tensor: Tensor | None) -> ast.expr | None:
        """The part of the failing expression that gave a tensor; None when there is none or more than one."""
        if tensor is None or self.node is None:
            return None
        match self.node:
            case ast.Call(func=ast.Attribute(value=receiver)):
                parts = [receiver, *self.node.args, *(word.value for word in self.node.keywords)]
            case ast.Call():
                parts = [*self.node.args, *(word.value for word in self.node.keywords)]
            case ast.BinOp():
                parts = [self.node.left, self.node.right]
            case ast.AugAssign():
                parts = [self.node.value]
            case _:
                return None
        identity = tensor.identity or tensor.id
        found = [part for part in parts if self._is(part, identity)]
        return found[0] if len(found) == 1 else None

    def _is(self, part: ast.expr, identity: str) -> bool:
        tensor = self.tensor_of(part)
        return tensor is not None and (tensor.identity or tensor.id) == identity

    def say(self, tensor: Tensor | None) -> str:
        """What to call a tensor: as it is written here, else its name."""
        node = self.written(tensor)
        if node is not None:
            return self.code.short(node)
        return self.diagnosis.say(tensor.id if tensor is not None else None)

    def finding(
        self,
        code: str = "",
        given: Mapping[str, str] = {},
        /,
        *,
        span: Span | None = None,
        fix: Iterable[Edit] = (),
        tensors: Iterable[Tensor | None] = (),
        nodes: Iterable[str] = (),
        **parameters: str,
    ) -> Finding:
        """The diagnosis, at the failing place unless another is given. Parameters come as a mapping, by name, or
        both."""
        where = span or self.failure.span
        common = {"line": line(where), "code": self.diagnosis.code.excerpt(where)}
        return Finding(
            code=code or self.rule,
            severity="error",
            span=where,
            tensors=tuple(tensor.id for tensor in tensors if tensor is not None),
            nodes=tuple(nodes),
            parameters={**common, **self.groups, **given, **parameters},
            fix=tuple(fix),
        )


def sizes(shape: Iterable[int]) -> str:
    """A shape for a sentence."""
    return f"[{', '.join(map(str, shape))}]"
