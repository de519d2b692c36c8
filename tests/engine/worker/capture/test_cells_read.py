"""Which cells an op has read: each program works on element numbers, so PyTorch's own results say it."""

import random
from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from engine import laws
from engine.trace import Op, Reads, Trace
from engine.worker.capture import cells_read as worker
from tests.engine.worker.forked import record

START = """
import torch
import numpy as np
T = torch.tensor
x = torch.arange(24.0).view(2, 3, 4)
m = torch.arange(12.0).view(3, 4)
v = torch.arange(5.0)
s = torch.tensor(0.0)
"""

INDEXED = """
x[0]  x[-1]  x[1, 2]  x[1, 2, 3]  x[:, 1]  x[..., 1]  x[0, ..., 1]  x[None]  x[:, None, 1]  x[...]  x[()]  x[..., None]
x[0:1]  x[:, 1:]  x[:, ::2]  x[:, 1:3, ::3]  x[:, :-1]  x[:, -2:, -1:]  x[1:, 0:0]  x[5:]
x[T(1)]  x[T(1), T(2)]  x[T([0, 1])]  x[T([1, 0, 1])]  x[:, T([2, 0])]  x[:, :, T([[0, 1], [2, 3]])]  x[T([-1, 0])]
x[T([0, 1]), T([1, 2])]  x[T([0, 1]), :, T([1, 3])]  x[:, T([0, 1]), T([1, 3])]  x[T([[0], [1]]), T([0, 2])]  x[0, :, T([1, 3])]
x[T([0, 1]), 1, T([1, 3])]  x[T([0, 1]), None, T([1, 2])]  x[None, T([0]), 1:]  x[T([], dtype=torch.long)]  x[T([1], dtype=torch.int32)]
x[x > 7]  x[x < 0]  x[T([True, False])]  x[:, T([True, False, True])]  x[1, T([True, False, True])]  x[m[:2, :3] > 1]
x[T([True, True]), T([0, 2])]  x[T(True)]  x[T(False)]  x[True]  x[False]  x[True, T([0, 1])]  x[T([1, 0], dtype=torch.uint8)]
x[[0, 1]]  x[[1]]  x[[True, False]]  x[:, [0, 2]]  x[[0, 1], [1, 2]]  x[[[0, 1], [1, 0]]]  x[[0], :, [1]]  x[[T(0), T(1)]]  x[[slice(0, 1)]]
x[np.array([0, 1])]  x[:, np.array([True, False, True])]  x[T(0):T(2)]  x[0][1]  x.T[0]  x.transpose(0, 2)[1]  m[m.long() % 3 == 0]
s[None]  s[...]  s[()]  s[True]  v[T([4, 4, 0])]  v[-1]  v[1:4:2]
""".split("  ")

PICKED = """
torch.gather(m, 0, T([[0, 1, 2, 0]]))  torch.gather(m, 1, T([[0], [3], [1]]))  m.gather(-1, T([[0, 2], [3, 1]]))  x.gather(2, torch.zeros(1, 2, 2, dtype=torch.long))
torch.gather(input=m, dim=1, index=T([[1, 1]]))  m.gather(axis=1, index=T([[3], [0], [2]]))  v.gather(0, T([4, 0]))  torch.gather(m, 0, torch.zeros(0, 4, dtype=torch.long))
torch.take(m, T([0, -1, 5]))  m.take(T([[3]]))  torch.take_along_dim(m, T([[0], [2], [1]]), dim=1)  torch.take_along_dim(m, T([7, 2]))  torch.take_along_dim(m, T([[2, 0, 1, 1]]), 0)
torch.index_select(m, 0, T([2, 0]))  m.index_select(1, T([3], dtype=torch.int32))  x.index_select(-2, T([1, 1]))  v.index_select(0, T(3))  torch.index_select(m, dim=0, index=T([1]))  torch.index_select(m, axis=1, index=T([1]))
m.select(1, 2)  x.select(-1, -1)  m.narrow(0, 1, 2)  x.narrow(-1, -2, 1)  torch.narrow(m, 1, T(1), 2)
torch.masked_select(m, m > 4)  m.masked_select(T([True, False, True, False]))  torch.masked_select(v, T([[True], [False]]))
torch.nn.functional.embedding(T([[0, 2], [1, 1]]), m)
torch.where(m > 3, m, m * 0)  torch.where(T([True, False, True, False]), m, s)  m.where(m > 5, s)  torch.where(m > 3, m, 0.0)  torch.where(m > 3, 1.0, m)
torch.where(condition=m > 3, input=m, other=m * 0)  torch.where(m > 3, other=m, input=s)  m.where(condition=m > 5, other=s)
m.masked_fill(m > 3, 0.0)  m.masked_fill(T([True, False, False, True]), s)
m.scatter(0, T([[0, 1, 2, 0]]), m)  m.scatter(1, T([[3], [0]]), 7.0)  v.scatter(0, T([4, 0]), T([9.0, 8.0, 7.0]))  m.scatter(dim=0, index=T([[1]]), value=3)
m.index_fill(0, T([1, 1]), 5.0)  m.clone().masked_fill_(m > 2, -1.0)  m.clone().scatter_(1, T([[2, 1]]), m)  v.clone().index_fill_(0, T([0, 3]), s)
""".split("  ")

POSITIONS = """
m.nonzero()  torch.nonzero(m > 4, as_tuple=True)  torch.argwhere(m > 7)  torch.where(m > 7)  (m < 0).nonzero()  s.nonzero()  (s + 1).nonzero()  torch.nonzero(x)
m.max(1)  torch.max(m, 0, True)  m.min(dim=-1, keepdim=True)  x.max(1)  m.median(0)  m.mode()  m.kthvalue(2)  m.kthvalue(2, 0)  m.topk(2)  m.topk(1, 0)  v.topk(3)
m.sort()  m.sort(0, descending=True)  torch.sort(m, descending=True)  m.sort(stable=True, dim=1)  m.argsort(1)  m.argmax()  m.argmax(1)  x.argmin(1, keepdim=True)
m.cummax(0)  (-m).cummin(1)  v.max(0)  s.max(0)  torch.max(input=m, dim=1)
m.max(axis=0)  m.argmin(axis=0, keepdims=True)  m.sort(axis=0)
""".split("  ")

WRITTEN = """
a[0] = 1.0  a[:, 1] = v[:3]  a[1, 2] = s  a[T([0, 2])] = m[:2] + 5  a[a > 3] = -1.0  a[..., ::2] = T([[7.0], [8.0], [9.0]])  a[0] = a[1]
a[None] = m[None]  a[[0, 1], [2, 3]] = T([5.0, 6.0])  a[T([True, False, True])] = m[1]  a[:] = T([[1.0, 2.0, 3.0, 4.0]])  a[T(1)] = v[:4]
""".split("  ")


def _explained(trace: Trace) -> dict[int, list[Op]]:
    assert trace.status == "ok", trace.failure
    assert laws.broken(trace) == []
    assert not [finding for finding in trace.findings if finding.code == "not_recorded"]
    ops: dict[int, list[Op]] = {}
    for op in trace.ops:
        if op.reads and op.span is not None:
            ops.setdefault(op.span.line, []).append(op)
    return ops


def _lines(expressions: list[str], written: str) -> tuple[str, range]:
    first = len(START.splitlines()) + 1
    texts = [text.strip() for text in "  ".join(expressions).replace("\n", "  ").split("  ") if text.strip()]
    return START + "".join(written.format(text) + "\n" for text in texts), range(first, first + len(texts))


@pytest.mark.parametrize("expressions", [INDEXED, PICKED], ids=["indexed", "picked"])
def test_the_cells_read_are_the_elements_that_came_out(expressions: list[str]) -> None:
    """`x`, `m` and `v` hold the numbers of their own elements: what comes out of them is which cells were read."""
    code, lines = _lines(expressions, "y = {}")
    trace = record(code)
    tensors = {tensor.id: tensor for tensor in trace.tensors}
    explained = _explained(trace)
    texts = code.splitlines()
    for line in lines:
        results = [op for op in trace.ops if op.span is not None and op.span.line == line][-1:]
        empty = 0 in tensors[results[0].outputs[0]].shape
        assert empty or line in explained, texts[line - 1]
        for op in explained.get(line, []):
            for reads in op.reads:
                given, made = tensors[op.inputs[reads.input]], tensors[op.outputs[reads.output]]
                if given.data == tuple(float(number) for number in range(len(given.data or ()))):
                    told = [
                        (cell, value) for cell, value in zip(reads.cells, made.data or (), strict=True) if cell >= 0
                    ]
                    assert all(cell == value for cell, value in told), texts[line - 1]
                    assert told or len(op.reads) > 1, texts[line - 1]


def test_positions_are_told_with_the_values_at_them() -> None:
    code, lines = _lines(POSITIONS, "y = {}")
    trace = record(code)
    explained = _explained(trace)
    tensors = {tensor.id: tensor for tensor in trace.tensors}
    for line in lines:
        last = [op for op in trace.ops if op.span is not None and op.span.line == line][-1]
        assert line in explained or 0 in tensors[last.outputs[0]].shape, code.splitlines()[line - 1]


def test_what_is_written_and_what_stays_are_told() -> None:
    code, lines = _lines(WRITTEN, "a = m.clone(); {}")
    explained = _explained(record(code))
    assert set(explained) == set(lines)
    for line in lines:
        kept, *put = next(op for op in explained[line] if op.name == "setitem").reads
        for at, cell in enumerate(kept.cells):
            assert cell in (at, -1)
            assert all((one.cells[at] >= 0) == (cell < 0) for one in put)


def _random_index(random: random.Random) -> Iterator[str]:
    axes = [2, 3, 4]
    while axes and random.random() < 0.9:
        size = axes[0]
        forms = ["None", ":", "...", "int", "slice", "long", "list", "mask", "tensor", "bool"]
        form = random.choices(forms, [1, 3, 1, 3, 3, 3, 1, 2, 2, 0.3])[0]
        if form in ("None", "bool"):
            yield "None" if form == "None" else "True"
            continue
        if form == "...":
            if len(axes) < 3:
                continue
            yield "..."
            del axes[: random.randint(0, 2)]
            yield from (str(random.randrange(-axis, axis)) for axis in axes[:1])
            return
        del axes[0]
        if form == ":":
            yield ":"
        elif form == "int":
            yield str(random.randrange(-size, size))
        elif form == "slice":
            yield f"{random.randint(-size, size)}:{random.randint(0, size + 1)}:{random.randint(1, 3)}"
        elif form == "mask":
            yield f"T({[True] * 2 + [False] * (size - 2)})"
        elif form == "tensor":
            yield f"T({random.randrange(size)})"
        else:
            shape = random.choice(["[{}, {}]", "[[{}], [{}]]"]).format(
                *(random.randrange(-size, size) for _ in range(2))
            )
            yield f"T({shape})" if form == "long" else shape


def test_random_indices_are_read_as_pytorch_reads_them() -> None:
    rng = random.Random(7)
    picked = [", ".join(_random_index(rng)) for _ in range(300)]
    code = START + "".join(f"try: y = x[{text}]\nexcept IndexError: pass\n" for text in picked if text)
    explained = _explained(record(code))  # the law compares each value with the cell it is said to come from
    assert len(explained) > 200


UNTOLD = {
    "too large": "torch.zeros(5000)[0]\ntorch.gather(torch.zeros(5000), 0, T([0]))\ntorch.zeros(1)[T([0]).expand(5000)]",
    "no memory": "torch.zeros(3, device='meta')[0]",
    "sparse": "m.to_sparse().index_select(0, T([0]))",
    "written twice": "v[T([0, 0])] = T([1.0, 2.0])\nv.scatter_(0, T([1, 1]), T([1.0, 2.0]))",
    "its own index": "b = T([True, False])\nb[b] = False",
    "added up": "v.scatter(0, T([0]), T([5.0]), reduce='add')",
    "scaled first": "torch.nn.functional.embedding(T([0]), m, max_norm=1.0)",
    "of no single cell": "m.max()\ntorch.maximum(m, m)\ntorch.max(m, m)",
    "mapped": "torch.func.vmap(lambda row: row[0])(m)",
    "of a class of the program's": (
        "class I:\n    def __index__(self): print('asked'); return 1\ny = v[I()]\ny = v[I():]\nclass L(torch.Tensor): pass\ny = m.as_subclass(L)[0]"
    ),
}


@pytest.mark.parametrize("code", UNTOLD.values(), ids=UNTOLD.keys())
def test_what_is_not_known_is_not_told(code: str) -> None:
    trace = record(START + code + "\n")
    explained = _explained(trace)
    assert not [op for line, ops in explained.items() if line > len(START.splitlines()) for op in ops]
    assert "".join(one.text for one in trace.output).count("asked") in (0, 2)


def test_the_second_asking_of_an_index_is_not_heard() -> None:
    code = "class I:\n    asked = 0\n    def __index__(self): I.asked += 1; return 1\ny = v[I()]\nprint(I.asked)\n"
    assert record(START + code).output[0].text == "1\n"


def test_a_run_tells_so_many_cells_and_says_that_there_were_more() -> None:
    trace = record("import torch\nx = torch.arange(4000.0)\nfor n in range(40):\n    y = x[:4000]\n    z = x[0]\n")
    told = [op for op in trace.ops if op.reads]
    assert sum(len(reads.cells) for op in told for reads in op.reads) <= worker.MOST_CELLS
    (cut,) = [one for one in trace.truncated if one.what == "reads"]
    assert cut.kept == len(told) and cut.kept + (cut.omitted or 0) == 80


def test_a_run_tells_of_so_many_ops() -> None:
    trace = record("import torch\nx = torch.arange(4.0)\nfor n in range(1100):\n    y = x[n % 4]\n")
    assert len([op for op in trace.ops if op.reads]) == worker.MOST_OPS
    (cut,) = [one for one in trace.truncated if one.what == "reads"]
    assert (cut.kept, cut.omitted) == (worker.MOST_OPS, 100)


@pytest.mark.slow
def test_cells_of_turns_left_out_leave_nothing_behind() -> None:
    code = "import torch\nw = torch.ones(4, requires_grad=True)\nfor n in range(3000):\n    w[n % 4].backward()\n    w.grad = None\n"
    trace = record(code)
    assert trace.gaps and laws.broken(trace) == []
    assert [op for op in trace.ops if op.reads]


def _other_cells(reads: Reads) -> Reads:
    return replace(reads, cells=tuple(reversed(reads.cells)))


@pytest.mark.parametrize("code", ["y = m[0]", "y = m.nonzero()", "y = m.topk(2)"])
def test_a_wrong_cell_breaks_the_law(code: str) -> None:
    trace = record(START + code + "\n")
    assert laws.broken(trace) == []
    wrong = tuple(replace(op, reads=tuple(map(_other_cells, op.reads))) for op in trace.ops)
    assert laws.broken(replace(trace, ops=wrong)) != []
    short = tuple(
        replace(op, reads=tuple(replace(read, cells=read.cells[1:]) for read in op.reads)) for op in trace.ops
    )
    assert laws.broken(replace(trace, ops=short)) != []
    far = tuple(replace(op, reads=tuple(replace(read, input=9) for read in op.reads)) for op in trace.ops)
    assert laws.broken(replace(trace, ops=far)) != []
