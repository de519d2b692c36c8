"""The table of ops says what PyTorch does."""

from collections.abc import Callable, Iterator
from typing import cast

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional

from engine import ops
from engine.ops import FACTS, Facts, family_of, out_of_place
from engine.ops.table import ROWS

_WEIGHT = 0.5
Writes = Callable[[Tensor], Tensor]


def shape_of_both(a: Tensor, b: Tensor) -> torch.Size:
    return (a + b).shape


def set_items(tensor: Tensor) -> Tensor:
    tensor[:] = 1.0
    return tensor


FUNCTIONS: dict[str, Callable[..., Tensor]] = {
    "rdiv": torch.Tensor.__rtruediv__,
    "rpow": torch.Tensor.__rpow__,
    "expand": lambda a, b: a.expand(shape_of_both(a, b)),
    "expand_as": lambda a, b: a.expand_as(torch.empty(shape_of_both(a, b))),
    "broadcast_to": lambda a, b: torch.broadcast_to(a, shape_of_both(a, b)),
    "where": lambda a, b: torch.where(torch.tensor(True), a, b),
    "lerp": lambda a, b: torch.lerp(a, torch.as_tensor(b), _WEIGHT),
    "addcmul": lambda a, b: torch.addcmul(a, b, b),
    "addcdiv": lambda a, b: torch.addcdiv(a, b, b),
    "masked_fill": lambda a, b: torch.masked_fill(a, torch.as_tensor(b) > _WEIGHT, 0.0),
    "dist": lambda a, b: torch.dist(a, b).expand(shape_of_both(a, b)),
    "addmm": lambda a, b=None: torch.addmm(a, torch.ones(2, 2), torch.ones(2, 2)),
    "index_add": lambda a: a.index_add(0, torch.tensor([0, 1]), torch.ones(2, 2)),
}
"""How ops are called that take more than two tensors, or are no function of `torch`."""

_mask = torch.ones(2, 2, dtype=torch.bool)
_index = torch.tensor([[0, 1], [1, 0]])
WRITES: dict[str, Writes] = {
    "setitem": set_items,
    "put_": lambda a: a.put_(torch.arange(4), torch.ones(4)),
    "masked_fill": lambda a: a.masked_fill_(_mask, 2.0),
    "masked_scatter": lambda a: a.masked_scatter_(_mask, torch.ones(4)),
    "scatter": lambda a: a.scatter_(1, _index, torch.ones(2, 2)),
    "index_put": lambda a: a.index_put_((torch.tensor([0, 1]),), torch.ones(2)),
    "index_copy": lambda a: a.index_copy_(0, torch.tensor([0, 1]), torch.ones(2, 2)),
    "index_fill": lambda a: a.index_fill_(0, torch.tensor([0, 1]), 3.0),
    "fill_": lambda a: a.fill_(1.0),
    "copy_": lambda a: a.copy_(torch.ones(2, 2)),
    "addcmul": lambda a: a.addcmul_(torch.ones(2, 2), torch.ones(2, 2)),
    "addcdiv": lambda a: a.addcdiv_(torch.ones(2, 2), torch.ones(2, 2)),
    "lerp": lambda a: a.lerp_(torch.ones(2, 2), _WEIGHT),
    "cumsum": lambda a: a.cumsum_(0),
    "cumprod": lambda a: a.cumprod_(0),
    "clamp": lambda a: a.clamp_(-9, 9),
    "clip": lambda a: a.clip_(-9, 9),
    "clamp_min": lambda a: a.clamp_min_(-9),
    "clamp_max": lambda a: a.clamp_max_(9),
    "polygamma": lambda a: a.polygamma_(1),
    "xlogy": lambda a: a.xlogy_(torch.full((2, 2), 3.0)),
    "float_power": lambda a: a.double().float_power_(2),
    "bitwise_or": lambda a: a.bitwise_or_(torch.zeros_like(a)),
    "logical_or": lambda a: a.logical_or_(torch.zeros_like(a)),
    "addmm": lambda a: a.addmm_(torch.ones(2, 2), torch.ones(2, 2)),
    "addmv": lambda a: a[0].addmv_(torch.ones(2, 2), torch.ones(2)),
    "addbmm": lambda a: a.addbmm_(torch.ones(1, 2, 2), torch.ones(1, 2, 2)),
    "baddbmm": lambda a: a[None].baddbmm_(torch.ones(1, 2, 2), torch.ones(1, 2, 2)),
    "addr": lambda a: a.addr_(torch.ones(2), torch.ones(2)),
    "index_add": lambda a: a.index_add_(0, torch.tensor([0, 1]), torch.ones(2, 2)),
    "scatter_add": lambda a: a.scatter_add_(1, _index, torch.ones(2, 2)),
    "scatter_reduce": lambda a: a.scatter_reduce_(1, _index, torch.ones(2, 2), "sum"),
    "index_reduce": lambda a: a.index_reduce_(0, torch.tensor([0, 1]), torch.ones(2, 2), "prod"),
    "resize_": lambda a: a.resize_(2, 2),
    "resize_as_": lambda a: a.resize_as_(torch.ones(2, 2)),
    "threshold": lambda a: functional.threshold(a, 0.0, 0.0, inplace=True),
    "dropout": lambda a: functional.dropout(a, 0.0, inplace=True),
    "alpha_dropout": lambda a: functional.alpha_dropout(a, 0.0, inplace=True),
    "transpose": lambda a: a.transpose_(0, 1),
    "geometric_": lambda a: a.geometric_(0.5),
    "swapaxes": lambda a: a.swapaxes_(0, 1),
    "swapdims": lambda a: a.swapdims_(0, 1),
    "unsqueeze": lambda a: a.unsqueeze_(0),
    "as_strided": lambda a: a.as_strided_((2, 2), (2, 1)),
}
"""How ops write that take more than the tensor, or the tensor and another one."""

STEPS = ("round", "floor", "ceil", "trunc", "fix", "sign", "sgn", "greater", "less")
WHOLE = ("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not")


def having(*traits: str) -> list[str]:
    return [name for name, facts in FACTS.items() if any(getattr(facts, trait) for trait in traits)]


def function(name: str) -> Callable[..., Tensor]:
    places = (torch, functional, torch.Tensor)
    return FUNCTIONS.get(name) or next(getattr(place, name) for place in places if hasattr(place, name))


def written(name: str, tensor: Tensor) -> Tensor:
    """A tensor after an op wrote into it."""
    torch.manual_seed(0)
    if name in WRITES:
        return WRITES[name](tensor)
    bare = out_of_place(name)
    method = getattr(tensor, f"{bare}_", None)
    if method is None:
        places = (functional, torch)
        found = next((getattr(place, f"{bare}_") for place in places if hasattr(place, f"{bare}_")), None)
        return cast(Tensor, found(tensor) if found is not None else getattr(functional, bare)(tensor, inplace=True))
    try:
        return cast(Tensor, method())
    except TypeError:
        return cast(Tensor, method(torch.ones(2, 2, dtype=tensor.dtype)))


def schemas(name: str) -> Iterator[torch._C.FunctionSchema]:
    """The signatures of a kernel, with what they say of memory."""
    packet = getattr(torch.ops.aten, name, None)
    for overload in packet.overloads() if packet is not None else ():
        yield getattr(packet, overload)._schema


def test_each_op_has_one_row() -> None:
    rows = [row.partition(":")[0] for rows in ROWS.values() for row in rows.replace("\n            ", " ").splitlines()]
    assert len(FACTS) == len(" ".join(rows).split())


def test_twins_that_write_exist() -> None:
    for name, facts in FACTS.items():
        assert facts.in_place == (hasattr(torch.Tensor, f"{name}_") and f"{name}_" not in FACTS), name
        for schema in schemas(f"{name}_"):
            alias = schema.arguments[0].alias_info
            assert alias is not None and alias.is_write, schema


def test_views_are_those_of_the_schemas() -> None:
    for name, facts in FACTS.items():
        said = [
            any(result.alias_info is not None and not result.alias_info.is_write for result in schema.returns)
            for schema in schemas(name)
        ]
        if said and name != "data":  # its kernel is called `detach`
            assert facts.view == any(said), name


@pytest.mark.parametrize("name", having("property"))
def test_properties_share_memory_if_they_are_views(name: str) -> None:
    tensor = torch.ones(2, 2, dtype=torch.complex64) if name == "imag" else torch.ones(2, 2)
    assert not callable(getattr(tensor, name))
    assert getattr(tensor, name).untyped_storage().data_ptr() == tensor.untyped_storage().data_ptr()
    assert FACTS[name].view


@pytest.mark.parametrize("name", having("broadcasts"))
@pytest.mark.filterwarnings("ignore:Using a target size")
def test_tensors_are_stretched_to_one_shape(name: str) -> None:
    a, b = torch.ones(2, 1), torch.ones(1, 3)
    if name in WHOLE:
        a, b = a.int(), b.int()
    extra = {"reduction": "none"} if FACTS[name].family == "loss" else {}
    assert function(name)(a, b, **extra).shape == (2, 3)


@pytest.mark.parametrize("name", having("promotes"))
def test_tensors_are_brought_to_one_dtype(name: str) -> None:
    facts = FACTS[name]
    a, b = (
        torch.ones(2, dtype=dtype)
        for dtype in ((torch.int16, torch.int64) if name in WHOLE else (torch.int32, torch.float64))
    )
    made = function(name)((a, b)) if facts.joins else function(name)(a, b)
    assert made.dtype == (torch.bool if facts.compares else torch.result_type(a, b))


@pytest.mark.parametrize("name", having("updates", "fills", "sets"))
@pytest.mark.filterwarnings("ignore:index_reduce")
def test_what_is_written_depends_on_what_was_there_or_does_not(name: str) -> None:
    facts = FACTS[name]
    if name == "requires_grad_":
        assert torch.ones(2, 2).requires_grad_().tolist() == [[1.0, 1.0], [1.0, 1.0]]
        return
    first, second = (written(name, torch.tensor(cells).reshape(2, 2)) for cells in contents(name))
    assert first.equal(second) != facts.updates
    assert facts.updates + facts.fills + facts.sets == 1


def contents(name: str) -> tuple[list[float], list[float]] | tuple[list[bool], list[bool]]:
    """Contents that an op tells apart: steps only those on both of their sides."""
    if name in (*WHOLE, "logical_not"):
        return [False, True, True, False], [True, False, False, True]
    if FACTS[name].compares or name.startswith(STEPS):
        return [0.0, 1.0, 2.0, 0.0], [1.0, 0.0, 0.0, 2.0]
    if FACTS[name].family == "act":
        return [3.0, -1.0, 0.5, 2.0], [1.0, 2.0, -4.0, 0.0]
    return [0.2, 0.4, 0.6, 0.8], [1.3, 1.0, 0.1, 0.7]


@pytest.mark.parametrize("name", having("reads"))
def test_what_is_read_is_no_tensor(name: str) -> None:
    assert not isinstance(getattr(torch.ones(1), name)(), Tensor)


@pytest.mark.parametrize(
    "share",
    [Tensor.numpy, lambda t: torch.from_numpy(t.numpy()), lambda t: torch.as_tensor(t.numpy()),
     lambda t: torch.asarray(t.numpy()), lambda t: torch.frombuffer(t.numpy(), dtype=torch.float32),
     torch.utils.dlpack.from_dlpack],
)  # fmt: skip
def test_memory_that_is_lent_is_written_by_both(share: Callable[[Tensor], Tensor | np.ndarray]) -> None:
    tensor = torch.ones(2)
    share(tensor)[0] = 5.0
    assert tensor.tolist() == [5.0, 1.0]


def test_running_statistics_are_written_silently() -> None:
    for name, given in (("batch_norm", torch.rand(4, 2)), ("instance_norm", torch.rand(1, 2, 4))):
        assert FACTS[name].writes_silently
        mean, variance = torch.zeros(2), torch.ones(2)
        getattr(functional, name)(
            given, mean, variance, **{"training" if name == "batch_norm" else "use_input_stats": True}
        )
        assert mean.abs().sum() > 0
        assert mean._version == (name == "instance_norm")


@pytest.mark.parametrize("name", having("detaches"))
def test_what_is_detached_has_no_history(name: str) -> None:
    tensor = torch.ones(2, requires_grad=True) * 2
    found = getattr(tensor, name) if hasattr(tensor, name) else getattr(torch.autograd, name)(tensor)
    assert not (found() if callable(found) else found).requires_grad


@pytest.mark.parametrize("name", having("like"))
def test_only_the_form_of_a_tensor_is_looked_at(name: str) -> None:
    more = {
        "full_like": (3.0,),
        "randint_like": (9,),
        "new_full": ((2, 2), 1.0),
        "new_empty_strided": ((2, 2), (2, 1)),
        "new": (2, 2),
    }
    arguments = more.get(name, ((2, 2),) if name.startswith("new") else ())
    made = []
    for value in (1.0, 2.0):
        torch.manual_seed(0)
        made.append(function(name)(torch.full((2, 2), value), *arguments))
    assert made[0].shape == (2, 2)
    assert FACTS[name].uninitialised or made[0].equal(made[1])


@pytest.mark.parametrize("name", having("makes_leaf"))
def test_leaves_are_made_with_requires_grad(name: str) -> None:
    more: dict[str, tuple[object, ...]] = {
        "tensor": ([1.0],), "full": ((2,), 1.0), "linspace": (0, 1, 3), "arange": (3.0,),
        "full_like": (torch.ones(2), 1.0),
        "normal": (0.0, 1.0, (2,)), "empty_strided": ((2,), (1,)), "empty_permuted": ((2,), (0,)),
    }  # fmt: skip
    leaf = function(name)(*more.get(name, (torch.ones(2),) if FACTS[name].like else (2,)), requires_grad=True)
    assert leaf.is_leaf
    assert leaf.requires_grad


@pytest.mark.parametrize("name", having("numbers"))
def test_numbers_stand_among_operands(name: str) -> None:
    if name in ("addcmul", "addcdiv"):
        made = getattr(torch, name)(torch.ones(2), torch.ones(2), torch.ones(2), value=2.0)
    else:
        made = function(name)(torch.ones(2), *((0.0, 1.0) if name in ("clamp", "clip") else (2.0,)))
    assert isinstance(made, Tensor)


def test_devices_are_reached_by_moving() -> None:
    assert {"to", "cuda", "cpu"} == ops.MOVES
    assert torch.ones(2).to("meta").device.type == "meta"


def test_families_are_found_by_node_types_and_twins() -> None:
    for facts in FACTS.values():
        assert family_of(facts.name) == facts.family
        assert not facts.in_place or family_of(f"{facts.name}_") == facts.family
    assert family_of("NativeBatchNormBackward0") == "norm"
    assert family_of("MaximumBackward0") == "op"  # the larger of two at each place: nothing is brought together
    assert family_of("MyOwnBackward") == "op"


def test_a_trait_that_no_row_can_have_is_refused() -> None:
    with pytest.raises(TypeError):
        Facts("add", brodcasts=True)  # type: ignore[call-arg]
