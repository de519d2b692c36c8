"""How two tensors compare, beside PyTorch's own words on them."""

import math

import pytest
import torch

from engine.compare.values import alike, difference
from engine.trace import Number, Summary, Tensor

STEPS = {"float32": 16, "float64": 16, "float16": 2, "bfloat16": 2}


def _tensor(*data: Number, dtype: str = "float32", shape: tuple[int, ...] | None = None) -> Tensor:
    return Tensor(id="t1", shape=(len(data),) if shape is None else shape, dtype=dtype, role="result", data=data)


def _figures(**changed: float | str | int) -> Tensor:
    given = {"min": -1.0, "max": 2.0, "mean": 0.5, "std": 1.0, "norm": 40.0, **changed}
    return Tensor(id="t1", shape=(1000,), dtype="float32", role="result", summary=Summary(**given))  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", STEPS)
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0, 1.5, 100.0])
def test_rounding_is_a_few_steps_of_the_dtype(dtype: str, share: float) -> None:
    kind = getattr(torch, dtype)
    a = torch.tensor([1.0, -1.0, 0.25], dtype=torch.float64)
    b = a.clone()
    b[1] += share * STEPS[dtype] * torch.finfo(kind).eps
    a, b = a.to(kind), b.to(kind)
    found = difference(_tensor(*a.tolist(), dtype=dtype), _tensor(*b.tolist(), dtype=dtype))
    assert alike(found) is (share <= 1)
    assert (found.verdict == "same") is torch.equal(a, b)
    assert (found.largest or 0.0) == float((b.double() - a.double()).abs().max())


@pytest.mark.parametrize("dtype", STEPS)
def test_a_sum_in_another_order_is_rounding_and_a_small_step_of_training_is_none(dtype: str) -> None:
    kind = getattr(torch, dtype)
    torch.manual_seed(0)
    x, w = torch.randn(8, 256).to(kind), torch.randn(256, 4).to(kind)
    turned = torch.randperm(256)
    here, there = x @ w, x[:, turned] @ w[turned]
    found = difference(*(_tensor(*made.flatten().tolist(), dtype=dtype) for made in (here, there)))
    assert alike(found)
    if dtype.startswith("float") and dtype != "float16":
        moved = difference(*(_tensor(*made.flatten().tolist(), dtype=dtype) for made in (w, w + 5e-6 * w.abs().max())))
        assert moved.verdict == "differs"


def test_whole_numbers_differ_by_one() -> None:
    assert difference(_tensor(7, dtype="int64"), _tensor(8, dtype="int64")).verdict == "differs"
    huge = difference(_tensor("9007199254740993", dtype="int64"), _tensor("9007199254740992", dtype="int64"))
    assert (huge.verdict, huge.largest) == ("differs", 1)
    assert difference(_tensor(True, dtype="bool"), _tensor(False, dtype="bool")).verdict == "differs"


@pytest.mark.parametrize(
    ("here", "there", "verdict"),
    [
        ("nan", "nan", "same"),
        ("inf", "inf", "same"),
        ("inf", "-inf", "differs"),
        ("nan", 1.0, "differs"),
        (0.0, -0.0, "same"),
        (0.0, 1e-30, "differs"),
    ],
)
def test_odd_numbers(here: Number, there: Number, verdict: str) -> None:
    found = difference(_tensor(here, 0.0), _tensor(there, 0.0))
    assert found.verdict == verdict
    assert difference(_tensor(there, 0.0), _tensor(here, 0.0)).verdict == verdict


def test_a_difference_beyond_all_numbers_is_told() -> None:
    found = difference(_tensor(1.7e308, dtype="float64"), _tensor(-1.7e308, dtype="float64"))
    assert (found.verdict, found.largest) == ("differs", "inf")


def test_shape_comes_before_values_and_dtype_beside_them() -> None:
    assert difference(_tensor(1.0), _tensor(1.0, shape=(1, 1))).verdict == "shape"
    found = difference(_tensor(1, dtype="int64"), _tensor(3.0))
    assert (found.verdict, found.largest) == ("dtype", 2.0)
    assert difference(_tensor(), _tensor()).verdict == "same"


def test_large_tensors_are_compared_by_their_figures() -> None:
    assert difference(_figures(), _figures()).verdict == "same"
    assert difference(_figures(), _figures(norm=40.00001)).verdict == "rounding"
    assert difference(_figures(), _figures(norm=40.001)).verdict == "differs"
    assert difference(_figures(), _figures(mean=0.6)).verdict == "differs"
    assert difference(_figures(), _figures(nan=1)).verdict == "differs"
    assert difference(_figures(max="nan"), _figures(max="nan")).verdict == "same"
    assert difference(_figures(max=2.0), _figures(max="inf")).verdict == "differs"
    assert all(difference(_figures(), _figures(mean=mean)).figures for mean in (0.5, 0.7))


def test_what_neither_trace_holds_is_unknown_and_no_difference() -> None:
    hidden = Tensor(id="t1", shape=(2,), dtype="float32", role="result", contents="uninitialised")
    found = difference(hidden, _tensor(1.0, 2.0))
    assert found.verdict == "unknown"
    assert alike(found)


def test_elements_of_both_sides_count_for_the_scale() -> None:
    found = difference(_tensor(0.0, 1.0), _tensor(0.0, 4.0))
    assert (found.largest, found.relative) == (3.0, 0.75)
    assert math.isclose(float(difference(_tensor(1e-9), _tensor(2e-9)).relative or 0), 0.5)
