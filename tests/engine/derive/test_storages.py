"""Alias groups, their writes and the counters those raised, beside PyTorch's own pointers and versions."""

import pytest

from engine import laws
from engine.derive.storages import MOST_WRITES
from engine.trace import Node, Storage, Trace, Variable
from tests.engine.worker.forked import record

HEAD = "import torch\nimport numpy as np\n"


def _identity(trace: Trace, name: str) -> str:
    tensor = next(tensor for tensor in trace.tensors if name in tensor.names)
    return tensor.identity or tensor.id


def _storage_of(trace: Trace, name: str) -> Storage | None:
    identity = _identity(trace, name)
    return next((storage for storage in reversed(trace.storages) if identity in storage.tensors), None)


def _variable(trace: Trace, name: str) -> Variable:
    return next(variable for variable in trace.variables if variable.name == name)


def _writes(trace: Trace, name: str) -> list[tuple[str, int, bool, int]]:
    """Name written through, version, bumped and line of each."""
    names = {tensor.id: (tensor.names or ("",))[0] for tensor in trace.tensors}
    storage = _storage_of(trace, name)
    assert storage is not None
    return [(names[w.tensor], w.version, w.bumped, w.span.line if w.span else 0) for w in storage.writes]


def test_views_share_and_clones_do_not() -> None:
    trace = record(
        HEAD + "x = torch.ones(4, 4)\ny = x.view(16)\nz = x.clone()\nr = x.reshape(2, 8)\nc = x.t().reshape(16)\n"
        "y[0] = 9\nx[0, 0] += 1\n"
    )
    group = _storage_of(trace, "x")
    assert group is not None
    assert {_identity(trace, name) for name in ("x", "y", "r")} <= set(group.tensors)
    assert not {_identity(trace, name) for name in ("z", "c")} & set(group.tensors)
    assert [(version, bumped) for _, version, bumped, _ in _writes(trace, "x")] == [(1, True), (2, True), (3, True)]
    assert group.size_bytes == 64
    assert laws.broken(trace) == []


ADD = """
x = torch.ones(2); y = torch.ones(2)
a = x + y
b = torch.add(x, y)
torch.add(x, y, out=y)
y.add_(x)
"""


def test_two_of_four_ways_to_add_write() -> None:
    trace = record(HEAD + ADD)
    assert _writes(trace, "y") == [("y", 1, True, 7), ("y", 2, True, 8)]
    assert _storage_of(trace, "a") is None
    assert _storage_of(trace, "x") is None


def test_a_write_through_data_that_changes_no_value_raises_no_counter() -> None:
    trace = record(HEAD + "x = torch.zeros(2)\nx.add_(0)\nx.data.zero_()\n")
    assert [(bumped, line) for _, _, bumped, line in _writes(trace, "x")] == [(True, 4), (False, 5)]


def test_data_raises_no_counter_and_detach_does() -> None:
    trace = record(
        HEAD + "x = torch.ones(2, requires_grad=True)\ny = x * x\nx.data *= 10\nd = x.data\nd.add_(1)\n"
        "z = x.detach()\nz.mul_(2)\nwith torch.no_grad():\n    x.add_(1)\n"
    )
    assert [(bumped, line) for _, _, bumped, line in _writes(trace, "x")] == [
        (False, 5),
        (False, 7),
        (True, 9),
        (True, 11),
    ]


@pytest.mark.parametrize("through", ["x.data", "x.detach()"])
def test_bumped_says_whether_backward_notices(through: str) -> None:
    code = HEAD + f"x = torch.ones(2, requires_grad=True)\ny = (x * x).sum()\n{through}.mul_(5)\ny.backward()\n"
    trace = record(code)
    (write,) = _writes(trace, "x")
    assert write[2] == (trace.status == "failed")


ARRAYS = """
a = np.ones(5, dtype=np.float32)
b = torch.from_numpy(a)
c = torch.tensor(a)
np.add(a, 1, out=a)
part = a[1:3]
far = a + 1
t = torch.zeros(3)
n = t.numpy()
t.add_(1)
n[0] = 7
several = [n, {"k": a}, far]
alone = np.zeros(3)
"""


def test_arrays_are_told_with_the_tensors_they_share_memory_with() -> None:
    trace = record(HEAD + ARRAYS)
    first, second = _storage_of(trace, "b"), _storage_of(trace, "t")
    assert first is not None and second is not None
    assert first.arrays == ("a", "part", "several[1]['k']")
    assert second.arrays == ("n", "several[0]")
    assert [_variable(trace, name).storage for name in ("a", "part", "n", "far", "alone")] == [
        first.id,
        first.id,
        second.id,
        None,
        None,
    ]
    assert _variable(trace, "far").kind == "array"
    assert _storage_of(trace, "c") is None


def test_writes_through_arrays_are_writes_from_outside() -> None:
    trace = record(HEAD + ARRAYS)
    assert [write[:3] for write in _writes(trace, "b")] == [("b", 0, False)]
    assert [write[:3] for write in _writes(trace, "t")] == [("t", 1, True), ("t", 1, False)]


def test_two_tensors_of_one_array_have_two_counters() -> None:
    trace = record(
        HEAD + "a = np.ones(3)\nt = torch.from_numpy(a)\nu = torch.from_numpy(a)\nt.add_(1)\nu.add_(1)\nprint(t, u)\n"
    )
    assert [(bumped, line) for _, _, bumped, line in _writes(trace, "t") if line] == [(True, 6), (False, 7)]


def test_optimizers_and_accumulation_write_too() -> None:
    trace = record(
        HEAD + "w = torch.ones(2, requires_grad=True)\nopt = torch.optim.SGD([w], lr=0.1)\nfor _ in range(2):\n"
        "    (w * w).sum().backward()\n    opt.step()\n"
    )
    assert [(bumped, line) for _, _, bumped, line in _writes(trace, "w")] == [(True, 7), (True, 7)]
    grad = next(
        storage
        for storage in trace.storages
        if any(write.op is None and write.update is None for write in storage.writes)
    )
    assert [(write.bumped, write.span and write.span.line) for write in grad.writes] == [(True, 6)]


def test_running_statistics_are_written_without_a_version() -> None:
    trace = record(HEAD + "bn = torch.nn.BatchNorm1d(3)\nbn(torch.randn(4, 3))\nbn(torch.randn(4, 3))\n")
    means = [storage for storage in trace.storages if _identity(trace, "bn.running_mean") in storage.tensors]
    assert [write.bumped for write in means[0].writes][-2:] == [False, False]


def test_very_many_writes_are_cut_in_the_middle() -> None:
    trace = record(HEAD + "x = torch.zeros(1)\nfor i in range(300):\n    x += 1\n")
    storage = _storage_of(trace, "x")
    assert storage is not None
    assert len(storage.writes) + storage.writes_omitted == 300
    assert [storage.writes[0].version, storage.writes[-1].version, len(storage.writes)] == [1, 300, MOST_WRITES]


def test_memory_used_again_is_another_storage() -> None:
    trace = record(HEAD + "for i in range(5):\n    x = torch.full((1000,), float(i))\n    y = x.sum()\n    del x, y\n")
    assert all(len(storage.tensors) == 1 for storage in trace.storages)


# Versions saved by nodes


def _node(trace: Trace, kind: str) -> Node:
    return next(node for node in trace.nodes if node.type == kind)


def _saved(trace: Trace, kind: str) -> dict[str, int | None]:
    return {
        saved.field: saved.version for saved in _node(trace, kind).saved if saved.tensor or saved.version is not None
    }


def test_saved_versions_are_those_of_the_moment() -> None:
    trace = record(
        HEAD + "x = torch.ones(3, requires_grad=True)\ny = x * 2\ny.add_(1)\nv = y[:2]\nz = v.pow(2)\nr = y.exp()\n"
        "with torch.no_grad():\n    y.add_(1)\n"
    )
    assert _saved(trace, "PowBackward0") == {"self": 1}
    assert _saved(trace, "ExpBackward0") == {"result": 0}


@pytest.mark.parametrize("read", ["", "r = (v * v)\n", "s = y.sum()\n", "del v\n", "y.view(4)\n"])
def test_a_write_through_a_view_is_linked_to_its_op_and_base(read: str) -> None:
    trace = record(
        HEAD + "x = torch.ones(4, requires_grad=True)\ny = x * 2\nw = y[2:]\nv = y[:2]\nv.mul_(3)\n" + read
        + "(w * 1).sum().backward()\n"
    )  # fmt: skip
    writer = next(op for op in trace.ops if op.name == "mul_")
    assert _node(trace, "CopySlices").op == writer.id
    for node in trace.nodes:
        if node.type == "AsStridedBackward0":
            assert node.op == writer.id
            assert node.id in writer.nodes
    assert laws.broken(trace) == []
    base = [tensor for tensor in trace.tensors if (tensor.identity or tensor.id) == _identity(trace, "y")]
    assert base[-1].grad_fn is not None
    assert base[-1].grad_fn.node == _node(trace, "CopySlices").id


def test_a_saved_tensor_changed_before_its_node_was_read_tells_its_version() -> None:
    trace = record(
        HEAD + "x = torch.ones(4, requires_grad=True)\ny = x * 2\nv = y[:2]\nv.exp_()\nv.mul_(2)\nz = v * v\n"
        "with torch.no_grad():\n    y.add_(1)\nz.sum()\n"
    )
    last = [tensor for tensor in trace.tensors if "v" in tensor.names and tensor.requires_grad]
    assert not any(tensor.is_leaf for tensor in last)
    product = next(node for node in trace.nodes if node.type == "MulBackward0" and len(node.saved) == 2)
    assert [saved.version for saved in product.saved] == [2, 2]
    used = next(tensor for tensor in trace.tensors if tensor.id == product.saved[0].tensor)
    assert used.grad_fn is not None
    assert next(node.type for node in trace.nodes if node.id == used.grad_fn.node) == "AsStridedBackward0"


def test_as_strided_of_the_program_is_its_own_op() -> None:
    trace = record(
        HEAD + "x = torch.ones(4, requires_grad=True)\ny = x * 2\ny.mul_(3)\nz = y.as_strided((2,), (2,))\n"
        "z.sum().backward()\n"
    )
    assert next(op for op in trace.ops if op.name == "as_strided").nodes == (_node(trace, "AsStridedBackward0").id,)


DIRTY = """class Inc(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x.add_(1)
        ctx.mark_dirty(x)
        return x
    @staticmethod
    def backward(ctx, g):
        return g
a = torch.ones(2, requires_grad=True)
b = a * 1
c = Inc.apply(b)
print(c._version, c is b)
"""


def test_mark_dirty_raises_the_version_once_more() -> None:
    trace = record(HEAD + DIRTY)
    assert trace.output[0].text == "2 True\n"
    assert [(version, bumped, line) for _, version, bumped, line in _writes(trace, "b")] == [
        (1, True, 6),
        (2, True, 14),
    ]
    assert laws.broken(trace) == []


def test_mark_dirty_without_a_write_is_one() -> None:
    trace = record(HEAD + DIRTY.replace("x.add_(1)", "pass"))
    assert trace.output[0].text == "1 True\n"
    assert [(version, line) for _, version, _, line in _writes(trace, "b")] == [(1, 14)]


def test_set_moves_into_memory_and_writes_nothing() -> None:
    trace = record(HEAD + "x = torch.zeros(3)\ny = torch.ones(3)\nx.set_(y)\nprint(x._version)\n")
    storage = _storage_of(trace, "y")
    assert trace.output[0].text == "1\n"
    assert storage is not None
    assert {_identity(trace, "x"), _identity(trace, "y")} == set(storage.tensors)
    assert storage.writes == ()
    (op,) = [op for op in trace.ops if op.name == "set_"]
    (update,) = trace.updates
    assert (op.in_place, update.op, op.span and op.span.line) == (True, op.id, 5)
    assert laws.broken(trace) == []


def test_tensors_that_libraries_put_together_are_not_set_by_the_program() -> None:
    trace = record(HEAD + "import copy\nx = torch.ones(3)\ny = copy.deepcopy(x)\n")
    assert all(op.name != "set_" for op in trace.ops)


def test_out_into_an_empty_or_a_small_tensor_writes_into_its_new_memory() -> None:
    trace = record(
        HEAD + "y = torch.ones(300)\no = torch.empty(0)\ntorch.add(y, y, out=o)\nprint(o._version)\n"
        "import warnings\nwarnings.simplefilter('ignore')\np = torch.zeros(3)\ntorch.add(y, y, out=p)\n"
        "print(p._version)\n"
    )
    assert [piece.text for piece in trace.output] == ["1\n", "1\n"]
    assert _writes(trace, "o") == [("o", 1, True, 5)]
    assert _writes(trace, "p") == [("p", 1, True, 10)]
    assert laws.broken(trace) == []
