"""Figures of very large tensors: exact where all elements are looked at, marked where not, without a copy of the
whole."""

import binascii
import tracemalloc
import warnings

import numpy as np
import pytest
import torch

from engine.worker.capture import figures as figures_room
from engine.worker.capture.figures import figures
from engine.worker.capture.pictures import picture as pictured
from engine.worker.capture.tensor_facts import as_array, look

SIZE = 6_000_000


def expected(tensor: torch.Tensor) -> list[float]:
    values = tensor.abs() if tensor.is_complex() else tensor
    wide = values.to(torch.float64).flatten()
    wide = wide[wide.isfinite()]
    return [float(each) for each in (wide.min(), wide.max(), wide.mean(), wide.std(correction=0), wide.norm())]


LARGE = {
    "ones": lambda: torch.ones(SIZE),
    "random": lambda: torch.rand(SIZE),
    "half": lambda: torch.rand(SIZE).half(),
    "int64": lambda: torch.arange(SIZE),
    "bool": lambda: torch.arange(SIZE) % 3 == 0,
    "complex": lambda: torch.rand(SIZE, dtype=torch.complex64),
    "transposed": lambda: torch.rand(3000, 2000).T,
    "with gaps": lambda: torch.rand(3000, 4000)[:, ::2],
    "shifted far": lambda: torch.rand(SIZE, dtype=torch.float64) * 1e-3 + 1e5,
    "with NaN and infinity": lambda: torch.rand(SIZE).index_fill_(0, torch.tensor([3, 9]), float("nan")).index_fill_(0, torch.tensor([5]), float("inf")),
    "beyond float32's squares": lambda: torch.rand(SIZE) * 1e25,
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
def test_figures_are_those_of_all_elements(name: str) -> None:
    tensor = LARGE[name]()
    low, high, mean, std, norm, zeros, nan, inf, over = figures(as_array(tensor))
    assert [low, high, mean, std, norm] == pytest.approx(expected(tensor), rel=1e-5)
    wide = tensor.abs() if tensor.is_complex() else tensor.to(torch.float64)
    assert (zeros, nan, inf) == (int((wide == 0).sum()), int(wide.isnan().sum()), int(wide.isinf().sum()))
    assert over == 0


@pytest.mark.parametrize("name", LARGE)
def test_no_copy_of_the_whole_is_made(name: str) -> None:
    tensor = LARGE[name]()
    array = as_array(tensor)
    tracemalloc.start()
    try:
        figures(array)
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()


def test_repeated_elements_are_counted_as_often_as_they_are_there() -> None:
    column = torch.tensor([[0.0], [3.0], [float("nan")]])
    wide = column.expand(3, 400)
    low, high, mean, std, norm, zeros, nan, inf, over = figures(as_array(wide))
    assert (low, high, mean, std, zeros, nan, inf, over) == (0.0, 3.0, 1.5, 1.5, 400, 400, 0, 0)
    assert norm == pytest.approx((9 * 400) ** 0.5)


def test_a_trillion_elements_in_four_bytes_take_no_time() -> None:
    seen = look(torch.ones(1).expand(10**6, 10**6))
    assert seen.rest is not None
    assert seen.rest.summary is not None
    assert seen.rest.summary[:7] == (1.0, 1.0, 1.0, 0.0, 10.0**6, 0, 0)
    assert seen.rest.thumbnail is not None


@pytest.mark.parametrize(
    ("shape", "cells"),
    [((2, 3, 1, 1), (2, 3)), ((1, 4, 1), (1, 4)), ((5, 2, 3), (2, 3)), ((1, 1, 1), (1, 1)), ((4, 1), (4, 1))],
)
def test_a_picture_of_many_axes_passes_over_those_of_size_1(shape: tuple[int, ...], cells: tuple[int, int]) -> None:
    picture = pictured(as_array(torch.ones(shape)))
    assert picture is not None
    assert picture.cells.shape == cells


def test_windows_that_overlap_are_sampled_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures_room, "_MOST", 10_000)
    monkeypatch.setattr(figures_room, "_WHOLE", 1_000)
    windows = torch.arange(3000.0).unfold(0, 1000, 1)
    low, high, mean, *_, over = figures(as_array(windows))
    assert 0 < over <= 10_000
    assert 0 <= float(low) < float(high) <= 2999
    assert mean == pytest.approx(1499.5, rel=0.05)


def test_an_empty_large_shape_has_no_figures_to_compute() -> None:
    assert look(torch.empty(0, 10**9)).data == ()


def test_nothing_finite() -> None:
    assert figures(np.full(SIZE, np.nan, np.float32))[:5] == ("nan",) * 5


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), -float("inf"), 1e38])
@pytest.mark.parametrize("turned", [False, True])
def test_a_picture_marks_only_the_cells_that_are_not_finite(odd: float, turned: bool) -> None:
    values = torch.ones(200, 90)
    values[0, 0] = odd
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        picture = pictured(as_array(values.T if turned else values))
        assert picture is not None
        rows, columns, text, scale = picture.said()
    levels = np.frombuffer(binascii.a2b_base64(text), np.int8)
    assert (rows, columns, levels.size) == (8, 16, 128)
    assert (int((levels == -128).sum()), np.isfinite(odd)) in ((1, False), (0, True))
    assert levels[1:].tolist() == [0 if np.isfinite(odd) else 127] * 127
    assert np.isfinite(odd) or scale == pytest.approx(1.0)


def test_a_picture_shows_the_values_of_its_moment() -> None:
    values = torch.ones(8, 16)
    picture, later = pictured(as_array(values)), pictured(as_array(values))
    assert picture is not None
    assert picture == later
    values.zero_()
    assert picture.said()[3] == 1.0
    assert picture != pictured(as_array(values))


@pytest.mark.parametrize("size", [8192, 8193, 100_000, 262_144, 300_001])
def test_figures_leave_no_element_out(size: int) -> None:
    tensor = torch.arange(size, dtype=torch.float64)
    tensor[-1] = -7
    assert figures(as_array(tensor))[:5] == pytest.approx(expected(tensor), rel=1e-9)
