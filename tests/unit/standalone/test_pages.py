"""A command asks for no more pages of a list than it shows."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from vicw_standalone.terminal.pages import pages


@dataclass(frozen=True)
class Numbers:
    numbers: tuple[int, ...]
    next: str | None


def test_pages_are_asked_for_one_by_one_up_to_the_last() -> None:
    asked: list[str | None] = []

    def ask(after: str | None) -> Numbers:
        asked.append(after)
        first = int(after or 0)
        return Numbers((first, first + 1), str(first + 2) if first < 4 else None)

    numbers = [number for page in pages(ask) for number in page.numbers]
    assert (numbers, asked) == ([0, 1, 2, 3, 4, 5], [None, "2", "4"])
    asked.clear()
    assert list(islice((number for page in pages(ask) for number in page.numbers), 2)) == [0, 1]
    assert asked == [None], "the next page is not needed"
