"""The nearest real name, and when none is near enough or several are."""

import pytest

from engine.program.spelling import distance, nearest


@pytest.mark.parametrize(
    ("name", "candidates", "expected"),
    [
        ("one", ["ones", "ne", "conj"], ("ones", True)),
        ("Linaer", ["Linear", "Bilinear"], ("Linear", True)),
        ("linear", ["Linear", "lines"], ("Linear", True)),
        ("grd", ["gcd", "grad"], ("grad", True)),
        ("los", ["loss", "lose"], ("lose", False)),
        ("conv2", ["conv1", "conv3"], ("", False)),
        ("decoder", ["encoder"], ("", False)),
        ("x_train", ["y_train"], ("", False)),
        ("netG", ["netD"], ("", False)),
        ("xb", ["yb"], ("", False)),
        ("troch", ["torch"], ("torch", True)),
        ("print", ["int"], ("", False)),
        ("hidden", ["_hiden"], ("", False)),
        ("x", ["y"], ("", False)),
        ("", ["a"], ("", False)),
        ("a" * 100_000, ["a"], ("", False)),
    ],
)
def test_the_nearest_name(name: str, candidates: list[str], expected: tuple[str, bool]) -> None:
    assert nearest(name, candidates) == expected


@pytest.mark.parametrize(
    ("one", "other", "far"),
    [("wieght", "weight", 1), ("tensr", "tensor", 1), ("abc", "xyz", 3), ("Relu", "ReLU", 0.5), ("", "ab", 2)],
)
def test_distance_counts_edits(one: str, other: str, far: float) -> None:
    assert distance(one, other) == far == distance(other, one)
