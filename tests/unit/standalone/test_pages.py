"""A command asks for no more pages of a list than it shows."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from vicw_standalone.terminal.pages import first, pages


@dataclass(frozen=True)
class Numbers:
    numbers: tuple[int, ...]
    next: str | None


def test_pages_are_asked_for_one_by_one_up_to_the_last() -> None:
    asked: list[str | None] = []

    def ask(after: str | None) -> Numbers:
        asked.append(after)
        start = int(after or 0)
        return Numbers((start, start + 1), str(start + 2) if start < 4 else None)

    numbers = [number for page in pages(ask) for number in page.numbers]
    assert (numbers, asked) == ([0, 1, 2, 3, 4, 5], [None, "2", "4"])
    asked.clear()
    assert list(islice((number for page in pages(ask) for number in page.numbers), 2)) == [0, 1]
    assert asked == [None], "the next page is not needed"


def test_the_size_of_a_page_is_what_is_shown_up_to_its_maximum() -> None:
    asked: list[tuple[str | None, int]] = []

    def ask(after: str | None, size: int) -> Numbers:
        asked.append((after, size))
        start = int(after or 0)
        return Numbers(tuple(range(start, start + size)), str(start + size))

    assert first(3, ask, lambda page: page.numbers) == [0, 1, 2]
    assert first(5, ask, lambda page: page.numbers, most=2) == [0, 1, 2, 3, 4]
    assert asked == [(None, 3), (None, 2), ("2", 2), ("4", 2)]
