"""The .npy writer and reader against NumPy itself."""

import io

import numpy as np
import pytest

from server import npy

DTYPES = [
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0, 4)])
def test_numpy_reads_what_was_written(dtype: str, shape: tuple[int, ...]) -> None:
    array = np.arange(int(np.prod(shape)), dtype="float64").reshape(shape).astype(dtype)
    elements = npy.element_format(dtype)
    assert elements is not None
    loaded = np.load(io.BytesIO(npy.write(array.tobytes(), shape, elements)), allow_pickle=False)
    assert (loaded.shape, loaded.dtype) == (array.shape, array.dtype)
    np.testing.assert_array_equal(loaded, array)


def test_numbers_of_a_trace_become_a_file_and_pages_again() -> None:
    numbers = (1.5, "nan", "inf", "-inf", 0.0)
    elements = npy.element_format("float32")
    assert elements is not None
    file = npy.write_numbers(numbers, (5,), elements)
    np.testing.assert_array_equal(np.load(io.BytesIO(file)), np.array([1.5, np.nan, np.inf, -np.inf, 0], "float32"))
    assert npy.read(file, 0, 2) == ((1.5, "nan"), 5)
    assert npy.read(file, 2, 100) == (("inf", "-inf", 0.0), 5)
    assert npy.read(file, 9, 10) == ((), 5)


def test_whole_numbers_beyond_javascript_are_text() -> None:
    elements = npy.element_format("int64")
    assert elements is not None
    file = npy.write_numbers((2**53, str(2**53 + 1), str(-(2**63))), (3,), elements)
    assert npy.read(file, 0, 3)[0] == (2**53, str(2**53 + 1), str(-(2**63)))


def test_complex_numbers_are_pairs() -> None:
    elements = npy.element_format("complex64")
    assert elements is not None
    file = npy.write_numbers((1.0, 2.0, 3.0, -4.0), (2,), elements)
    np.testing.assert_array_equal(np.load(io.BytesIO(file)), np.array([1 + 2j, 3 - 4j], "complex64"))
    assert npy.read(file, 0, 4) == ((1.0, 2.0, 3.0, -4.0), 4)


def test_what_numpy_does_not_have_has_no_layout() -> None:
    assert npy.element_format("bfloat16") is None
