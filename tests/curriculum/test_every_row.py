"""The 156 rows of the curriculum are held by tests whose names begin with their numbers."""

import re
from pathlib import Path

ROWS = range(1, 157)


def test_every_row_has_a_test() -> None:
    names = [
        name
        for file in Path(__file__).parent.glob("test_*.py")
        for name in re.findall(r"^def test_((?:\d{3}_)+)", file.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    held = {int(number) for name in names for number in name.strip("_").split("_")}
    assert held == set(ROWS)
