"""What a program's tensors are at moments in the midst of it, in plain PyTorch: where a statement has just ended."""

import ast
import functools
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

import torch

from tests.oracle.facts import FILE, Moment, MomentFact, TensorFact

_Key = tuple[int, int, int, int]
_SIMPLE = ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr | ast.Return | ast.Delete
_PART_OF_A_STATEMENT = frozenset(("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"))
_MOST_LEAVES = 200


def simple_statements(code: str) -> dict[int, tuple[int, int]]:
    """First and last line of the simple statement on each line that has one and no other."""
    try:
        nodes = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.stmt)]
    except (SyntaxError, ValueError):
        return {}
    begun = Counter(node.lineno for node in nodes)
    found: dict[int, tuple[int, int]] = {}
    for node in nodes:
        if isinstance(node, _SIMPLE) and begun[node.lineno] == 1:
            span = (node.lineno, node.end_lineno or node.lineno)
            found.update(dict.fromkeys(range(span[0], span[1] + 1), span))
    return found


@dataclass
class _Running:
    """A frame of the program, and the statement it is in."""

    statement: tuple[int, int] | None = None
    calls: bool = False
    """The statement has called another function of the program."""
    raised: bool = False


class Watch:
    """Watches statements end, and says what the tensors are at the moments asked for."""

    def __init__(
        self,
        code: str,
        moments: tuple[Moment, ...],
        counts: Callable[[], tuple[int, int, int]],
        tensor_fact: Callable[[torch.Tensor], TensorFact],
    ) -> None:
        self.moments = moments
        self._wanted = {(_key(moment), moment.occurrence) for moment in moments}
        self._statements = simple_statements(code)
        self._counts = counts
        self._tensor_fact = tensor_fact
        self._ended: Counter[_Key] = Counter()
        self._facts: dict[tuple[_Key, int], MomentFact] = {}
        self._stack: list[_Running] = []

    def facts(self) -> tuple[MomentFact | None, ...]:
        """For each moment what was seen, or None where it can't be told apart: the statement ended more often or less often with
        these counts, or called another function of the program."""
        found = ((moment, self._facts.get((_key(moment), moment.occurrence))) for moment in self.moments)
        return tuple(fact if self._ended[_key(moment)] == moment.of else None for moment, fact in found)

    def trace(self, frame: FrameType, event: str, argument: object) -> Callable[..., Any] | None:
        """As `sys.settrace` wants it: a frame begins."""
        code: CodeType = frame.f_code
        if code.co_filename != FILE or code.co_name in _PART_OF_A_STATEMENT:
            return None
        if self._stack:
            self._stack[-1].calls = True
        running = _Running()
        self._stack.append(running)
        return functools.partial(self._step, running)

    def _step(self, running: _Running, frame: FrameType, event: str, argument: object) -> None:
        if event == "exception":
            running.raised = True
            return
        here = self._statements.get(frame.f_lineno) if event == "line" else None
        if event == "line" and here == running.statement and here is not None and here[0] < here[1]:
            return  # another line of the same statement
        if running.statement is not None and not running.raised:
            self._end(running.statement[0], running.calls, frame)
        running.statement, running.calls, running.raised = here, False, False
        if event == "return":
            self._stack.remove(running)

    def _end(self, line: int, calls: bool, frame: FrameType) -> None:
        key = (line, *self._counts())
        self._ended[key] += 1
        occurrence = self._ended[key] - 1
        if (key, occurrence) in self._wanted and not calls:
            self._facts[key, occurrence] = self._seen(frame)

    def _seen(self, frame: FrameType) -> MomentFact:
        variables = {name: item for name, item in frame.f_globals.items() if isinstance(item, torch.Tensor)}
        held = {id(tensor): tensor for tensor in _tensors(frame) if tensor.is_leaf and tensor.requires_grad}
        leaves = list(held.values())[:_MOST_LEAVES]
        return MomentFact(
            variables={name: self._tensor_fact(tensor) for name, tensor in variables.items() if _is_plain(tensor)},
            leaves=tuple(self._tensor_fact(tensor) for tensor in leaves if _is_plain(tensor)),
        )


def _is_plain(tensor: torch.Tensor) -> bool:
    """It has a shape that can be told: not a lazy parameter, nor one of tensors in a tensor."""
    return not torch.nn.parameter.is_lazy(tensor) and not tensor.is_nested


def _key(moment: Moment) -> _Key:
    return (moment.line, moment.passes, moment.steps, moment.zero_grads)


def _tensors(frame: FrameType | None) -> Iterator[torch.Tensor]:
    """What the program's frames hold: in names, in modules, in lists and in attributes of its objects."""
    while frame is not None:
        if frame.f_code.co_filename == FILE:
            for value in list(frame.f_locals.values()):
                yield from _held(value)
        frame = frame.f_back


def _held(value: object) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, torch.nn.Module):
        if "_parameters" in vars(value):  # else its class has not called `super().__init__()`
            yield from value.parameters()
    elif isinstance(value, list | tuple):
        yield from (item for item in value if isinstance(item, torch.Tensor))
    elif type(value).__module__ == "__main__":
        yield from (item for item in getattr(value, "__dict__", {}).values() if isinstance(item, torch.Tensor))
