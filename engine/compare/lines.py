"""Which lines of two programs correspond."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence

from engine.compare.types import SameLines
from engine.program.spans import lines_of

Pairs = list[tuple[int, int]]

_DEEPEST = 8
"""How often a gap between lines that correspond is looked into again: each time costs a look at what is left."""
_TARGET = re.compile(r"([\w.,\[\]()* ]+?)\s*(?:[-+*/@%&|^]|//|\*\*|>>|<<)?=(?!=)")
_HEAD = re.compile(r"[@\w.]+")
_HEAD_CHARACTERS = 120


def corresponding(here: str, there: str) -> Pairs:
    """Numbers of lines that correspond, ascending here: those that read the same but for indentation, then those
    between them that bind the same name or begin with the same word, then those that are left over in equal number,
    and last those that read the same and have moved.

    Of several ways that are equally good the same one is taken from both sides."""
    if here > there:
        return sorted((a, b) for b, a in corresponding(there, here))
    ours, theirs = _lines(here), _lines(there)
    texts = [text for _, text in ours], [text for _, text in theirs]
    pairs = _filled(in_order(*texts), *texts)
    return sorted((ours[a][0], theirs[b][0]) for a, b in [*pairs, *_moved(pairs, *texts)])


def stretches(pairs: Pairs, here: str, there: str) -> tuple[SameLines, ...]:
    """Pairs of lines, those that follow each other told as one."""
    ours, theirs = lines_of(here), lines_of(there)
    told: list[SameLines] = []
    for a, b in pairs:
        changed = ours[a - 1].strip() != theirs[b - 1].strip()
        last = told[-1] if told else None
        if last and (a, b, changed) == (last.here + last.count, last.there + last.count, last.changed):
            told[-1] = SameLines(here=last.here, there=last.there, count=last.count + 1, changed=changed)
        else:
            told.append(SameLines(here=a, there=b, changed=changed))
    return tuple(told)


def in_order(here: Sequence[str], there: Sequence[str]) -> Pairs:
    """Places of equal words, ascending in both: what both begin and end with, then words that are unique in what is
    left, and so on between them."""
    pairs: Pairs = []
    pending = [(0, len(here), 0, len(there), 0)]
    while pending:
        a, a_end, b, b_end, depth = pending.pop()
        while a < a_end and b < b_end and here[a] == there[b]:
            pairs.append((a, b))
            a, b = a + 1, b + 1
        while a < a_end and b < b_end and here[a_end - 1] == there[b_end - 1]:
            a_end, b_end = a_end - 1, b_end - 1
            pairs.append((a_end, b_end))
        anchors = _unique(here, there, range(a, a_end), range(b, b_end)) if depth < _DEEPEST else []
        if anchors:
            pairs += anchors
            pending += [(*gap, depth + 1) for gap in _gaps(anchors, (a, a_end), (b, b_end))]
    return sorted(pairs)


def _lines(code: str) -> list[tuple[int, str]]:
    """Lines that say something, with their numbers."""
    stripped = ((number, line.strip()) for number, line in enumerate(lines_of(code), 1))
    return [(number, text) for number, text in stripped if text and not text.startswith("#")]


def _unique(here: Sequence[str], there: Sequence[str], ours: range, theirs: range) -> Pairs:
    """The longest ascending run of words that each side has once."""
    counts = Counter(here[place] for place in ours), Counter(there[place] for place in theirs)
    places = {there[place]: place for place in theirs}
    shared = [(a, places[here[a]]) for a in ours if counts[0][here[a]] == 1 == counts[1][here[a]]]
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for at, (_, b) in enumerate(shared):
        length = bisect_left(ends, b)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [b]
        last[length : length + 1] = [at]
    chosen: Pairs = []
    at = last[-1] if last else -1
    while at >= 0:
        chosen.append(shared[at])
        at = before[at]
    return chosen[::-1]


def _gaps(pairs: Pairs, ours: tuple[int, int], theirs: tuple[int, int]) -> Iterator[tuple[int, int, int, int]]:
    """What lies between pairs, where both sides have something."""
    a, b = ours[0], theirs[0]
    for next_a, next_b in [*pairs, (ours[1], theirs[1])]:
        if a < next_a and b < next_b:
            yield a, next_a, b, next_b
        a, b = next_a + 1, next_b + 1


def _filled(pairs: Pairs, here: Sequence[str], there: Sequence[str]) -> Pairs:
    """Adds lines that were changed in place."""
    all_of_it = (0, len(here)), (0, len(there))
    for a, a_end, b, b_end in list(_gaps(pairs, *all_of_it)):
        heads = [_head(text) for text in here[a:a_end]], [_head(text) for text in there[b:b_end]]
        pairs += [(a + x, b + y) for x, y in in_order(*heads)]
    pairs.sort()
    for a, a_end, b, b_end in list(_gaps(pairs, *all_of_it)):
        if a_end - a == b_end - b:
            pairs += zip(range(a, a_end), range(b, b_end), strict=True)
    return sorted(pairs)


def _moved(pairs: Pairs, here: Sequence[str], there: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Of what is left over, places of words that each side has once."""
    known = {a for a, _ in pairs}, {b for _, b in pairs}
    left = [Counter(text for at, text in enumerate(side) if at not in known[n]) for n, side in enumerate((here, there))]
    places = {text: at for at, text in enumerate(there) if at not in known[1]}
    for at, text in enumerate(here):
        if at not in known[0] and left[0][text] == 1 == left[1][text]:
            yield at, places[text]


def _head(text: str) -> str:
    """What a statement binds, or the word it begins with."""
    begin = text[:_HEAD_CHARACTERS]
    found = _TARGET.match(begin) or _HEAD.match(begin)
    return found[0].rstrip("=+-*/@%&|^<> ") if found else text
