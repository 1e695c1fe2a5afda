"""How the lines of a page became others."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

type Step = tuple[int, int, int, int]
"""Lines [i, j) became lines [k, end)."""
_MOST_PAIRS = 40_000
"""Of so many lines and others that have no line of their own in common all between the first and the last that differ
are taken to be changed: where they are blank in part, comparing takes the cube of their number.
"""


def steps_of(lines: Sequence[str], new: Sequence[str]) -> list[Step]:
    """Return what differs, in order.

    What comes once in both, as the head of an atom does, is found first (Cohen's patience diff), and only what stands
    between is compared line by line.
    """
    found: list[Step] = []
    start, there = 0, 0
    for end, place in [*_anchors(lines, new), (len(lines), len(new))]:
        if (end - start) * (place - there) > _MOST_PAIRS:
            step = _inside(lines, new, (start, end, there, place))
            found += [step] if step[0] < step[1] or step[2] < step[3] else []
        elif start < end or there < place:
            part = SequenceMatcher(None, lines[start:end], new[there:place], autojunk=False)
            codes = (code for code in part.get_opcodes() if code[0] != "equal")
            found += [(start + i, start + j, there + k, there + last) for _, i, j, k, last in codes]
        start, there = end + 1, place + 1
    return found


def _inside(lines: Sequence[str], new: Sequence[str], step: Step) -> Step:
    """Return a step without the lines that are the same at its ends."""
    i, j, k, end = step
    while i < j and k < end and lines[i] == new[k]:
        i, k = i + 1, k + 1
    while i < j and k < end and lines[j - 1] == new[end - 1]:
        j, end = j - 1, end - 1
    return i, j, k, end


def _anchors(lines: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the places of lines that come once in both: the most of them that are in one order."""
    counts, others = Counter(lines), Counter(new)
    places = {line: place for place, line in enumerate(new) if others[line] == 1}
    pairs = [(at, places[line]) for at, line in enumerate(lines) if counts[line] == 1 and line in places]
    tails: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for number, (_, place) in enumerate(pairs):
        at = bisect_left(tails, place)
        before.append(last[at - 1] if at else -1)
        tails[at : at + 1] = [place]
        last[at : at + 1] = [number]
    chain, number = list[tuple[int, int]](), last[-1] if last else -1
    while number >= 0:
        chain.append(pairs[number])
        number = before[number]
    return reversed(chain)
