"""How far two names are from each other, and which of many is nearest to one that does not exist. Pure."""

import re
from collections.abc import Iterable

_DIGITS = re.compile(r"\d")
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]|\d+")
MOST_CANDIDATES = 6000
LONGEST_NAME = 60


def nearest(name: str, candidates: Iterable[str]) -> tuple[str, bool]:
    """The real name that was most likely meant, empty when none is near, and whether no other is as likely.

    Of several equally near, one that begins with the same letter is likelier, and of those one where letters were left
    out."""
    if not 1 < len(name) <= LONGEST_NAME:
        return "", False
    best: list[str] = []
    least = _farthest(name)
    for other in list(dict.fromkeys(candidates))[:MOST_CANDIDATES]:
        if other == name or other.startswith("_") != name.startswith("_") or abs(len(other) - len(name)) > least:
            continue
        far = distance(name, other)
        if _is_another(name, other, far):
            continue
        if far < least or (far == least and not best):
            best, least = [other], far
        elif far == least:
            best.append(other)
    if not best:
        return "", False
    alike = [other for other in best if other[0] == name[0]] or best
    alike = [other for other in alike if _lacks_letters(name, other) or _lacks_letters(other, name)] or alike
    return min(alike, key=lambda other: (len(other) != len(name), other)), len(alike) == 1


def _is_another(name: str, other: str, far: float) -> bool:
    """Whether two names are near and yet two things: `conv1` and `conv2`, `x_train` and `y_train`, `xb` and `yb`,
    `encoder` and `decoder`."""
    numbered = _DIGITS.sub("", name) == _DIGITS.sub("", other) and name[-1].isdigit() and other[-1].isdigit()
    words, others = _WORDS.findall(name), _WORDS.findall(other)
    apart = [*zip(words, others, strict=True)] if len(words) == len(others) else [(name, other)]
    lettered = all(one == two or len(one) == len(two) == 1 for one, two in apart) or len(name) == len(other) == 2
    return numbered or (lettered and far >= 1) or (far > 1 and name[0].lower() != other[0].lower())


def _lacks_letters(short: str, name: str) -> bool:
    """Whether letters left out are all that tells the two apart."""
    letters = iter(name)
    return all(letter in letters for letter in short)


def _farthest(name: str) -> float:
    return 1.5 if len(name) <= 6 else 2 if len(name) <= 9 else 3


def distance(name: str, other: str) -> float:
    """Edits between two names: letters added, left out, changed or swapped; half an edit for upper and lower case."""
    if name.lower() == other.lower():
        return 0.5
    rows: list[list[float]] = [[float(at) for at in range(len(other) + 1)]]
    for i, a in enumerate(name, 1):
        row = [float(i)]
        for j, b in enumerate(other, 1):
            cost = 0.0 if a == b else 0.5 if a.lower() == b.lower() else 1.0
            least = min(rows[-1][j] + 1, row[-1] + 1, rows[-1][j - 1] + cost)
            if i > 1 and j > 1 and a == other[j - 2] and name[i - 2] == b:
                least = min(least, rows[-2][j - 2] + 1)
            row.append(least)
        rows.append(row)
    return rows[-1][-1]
