"""What both text exports write on boxes and edges: names, shapes, values, gradients."""

import math
from typing import Literal

from engine.graph import Box, Graph, Group, Link
from engine.trace import Accumulation, Number, Op, Tensor, Trace
from engine.trace_index import TraceIndex

Language = Literal["en", "zh"]

SHOWN = 4  # elements of a tensor written out
MINUS = "−"

_WORDS: dict[Language, dict[str, str]] = {
    "en": {
        "leaf": "leaf",
        "parameter": "parameter",
        "norm": "norm",
        "cut": "cut by {}()",
        "data": "cut by .data",
        "no_grad": "cut by no_grad",
        "inference_mode": "cut by inference_mode",
        "set_grad_enabled": "cut by set_grad_enabled(False)",
        "tensor": "cut by torch.tensor()",
        "axis": "Σ over axis {}",
        "axes": "Σ over axes {}",
        "times": "×{}",
        "omitted": "{} more boxes are not drawn",
        "layer": "what {} computed, as a graph",
        "start": "DDP starts",
    },
    "zh": {
        "leaf": "叶子",
        "parameter": "参数",
        "norm": "范数",
        "cut": "被 {}() 剪断",
        "data": "被 .data 剪断",
        "no_grad": "被 no_grad 剪断",
        "inference_mode": "被 inference_mode 剪断",
        "set_grad_enabled": "被 set_grad_enabled(False) 剪断",
        "tensor": "被 torch.tensor() 剪断",
        "axis": "沿第 {} 轴求和",
        "axes": "沿第 {} 轴求和",
        "sum": "求和",
        "times": "×{}",
        "omitted": "还有 {} 个方框没有画出",
        "layer": "{} 自己的计算，也是一张图",
        "mean": "平均",
        "copy": "原样传递",
        "start": "DDP 起点",
    },
}

_LEAVES = ("leaf", "parameter")
_CALLS = {"backward": "backward()", "grad": "autograd.grad()"}


class Labels:
    """Texts for one graph; each label is a list of lines without line breaks."""

    def __init__(self, graph: Graph, trace: Trace, language: Language = "en") -> None:
        self._index = TraceIndex(trace)
        self._tensors = self._index.tensors
        self._words = _WORDS[language]
        shown = [pass_ for pass_ in trace.passes if pass_.id in graph.passes]
        self._calls = {pass_.id: f"{_CALLS[pass_.kind]} #{pass_.id[1:]}" for pass_ in trace.passes}
        self._visits = {visit.node: visit for pass_ in shown for visit in pass_.visits}
        self._kept = {kept.node: kept for pass_ in shown for kept in pass_.accumulations}

    def box(self, box: Box) -> list[str]:
        """Title and name, then value and gradient."""
        if box.kind == "collective":
            ops = [self._index.ops[op] for op in box.ops]
            return [f"{box.title} · {self._words.get(box.name, box.name)}", *map(self._exchanged, ops)]
        title = self._words[box.title] if box.kind != "op" and box.title in _LEAVES else box.title
        head = " · ".join(_one_line(part) for part in (title, box.name) if part)
        facts = [self._value(box.tensor), self._gradient_of(box)]
        lines = [head, "   ".join(fact for fact in facts if fact)]
        lines += [f"{_one_line(leaf.name)} {self._shape(leaf.tensor)}" for leaf in box.parameters]
        return [line for line in lines if line]

    def link(self, link: Link) -> list[str]:
        """Shape and slot, then the gradient that went back, or why none did."""
        lines = [" ".join(part for part in (self._shape(link.tensor), _one_line(link.label)) if part)]
        visit = self._visits.get(link.node or "")
        if visit is not None and link.slot is not None and link.slot < len(visit.left):
            lines.append(f"∇ {self._value(visit.left[link.slot])}" if visit.left[link.slot] is not None else "∇ None")
        if link.back is not None:
            lines.append(f"↑ {self._value(link.back)}")
        if link.broadcast:
            words = self._words["axes" if len(link.broadcast) > 1 else "axis"]
            lines.append(words.format(", ".join(map(str, link.broadcast))))
        if link.kind == "cut":
            lines.append((self._words.get(link.reason) or self._words["cut"]).format(link.reason))
        return [line for line in lines if line]

    def _exchanged(self, op: Op) -> str:
        """What one rank gave to a collective, and what it got."""
        gave, got = (" ".join(map(self._value, tensors)) for tensors in (op.gave, op.outputs))
        return f"rank {op.rank}: {gave or '·'} → {got or '·'}"

    def group(self, group: Group) -> str:
        """Title, class and repetition; of a layer the pass that made it."""
        if group.kind == "layer":
            return self._words["layer"].format(self._calls.get(group.pass_id or "", _one_line(group.title)))
        times = self._words["times"].format(group.repeat) if group.repeat > 1 else ""
        return " ".join(part for part in (_one_line(group.title), group.type, times) if part)

    def omitted(self, count: int) -> str:
        """How much is not drawn."""
        return self._words["omitted"].format(count)

    def _gradient_of(self, box: Box) -> str:
        if box.node is None:
            return ""
        if box.kind == "leaf":
            kept = self._kept.get(box.node)
            return self._kept_as(kept) if kept is not None and kept.after is not None else ""
        visit = self._visits.get(box.node)
        entered = visit.entered[box.output_nr] if visit is not None and box.output_nr < len(visit.entered) else None
        return f"∇ {self._value(entered)}" if entered is not None else ""

    def _kept_as(self, kept: Accumulation) -> str:
        """A leaf's `.grad`; where something stood in it, as the sum of that and of what came."""
        before, came, after = map(self._value, (kept.before, kept.delta, kept.after))
        term = f"({came})" if came.startswith(MINUS) else came
        return f".grad {before} + {term} → {after}" if before and came else f".grad {after}"

    def _shape(self, tensor: str | None) -> str:
        record = self._tensors.get(tensor) if tensor is not None else None
        return "×".join(map(str, record.shape)) if record is not None else ""

    def _value(self, tensor: str | None) -> str:
        record = self._tensors.get(tensor) if tensor is not None else None
        if record is None:
            return ""
        if record.data is not None and len(record.data) <= SHOWN:
            inner = " ".join(map(_number, record.data))
            return inner if record.shape == () else f"[{inner}]"
        norm = _norm(record)
        return f"{self._words['norm']} {norm}" if norm else ""


def _norm(tensor: Tensor) -> str:
    if tensor.summary is not None:
        return _number(tensor.summary.norm)
    numbers = [number for number in tensor.data or () if isinstance(number, int | float)]
    return _number(math.hypot(*numbers)) if tensor.data is not None and len(numbers) == len(tensor.data) else ""


def _number(value: Number) -> str:
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return text.replace("-", MINUS)


def _one_line(text: str) -> str:
    return " ".join(text.split())
