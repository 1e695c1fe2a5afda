"""Pages of a list, asked for one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Protocol

_PAGE = 200


class ListPage(Protocol):
    """A page of a list."""

    @property
    def next(self) -> str | None:
        """Return the place where the next page begins; None: this is the last."""
        ...


def pages[P: ListPage](ask: Callable[[str | None], P]) -> Iterator[P]:
    """Yield the pages that ``ask`` returns for the place where each begins, as they are needed."""
    after: str | None = None
    while True:
        page = ask(after)
        yield page
        if (after := page.next) is None:
            return


def first[P: ListPage, T](
    limit: int, ask: Callable[[str | None, int], P], of: Callable[[P], Iterable[T]], *, most: int = _PAGE
) -> list[T]:
    """Return the first ``limit`` of what pages hold. ``ask`` gets where a page begins, and how many it may hold."""
    size = min(limit, most)
    return list(islice((one for page in pages(lambda after: ask(after, size)) for one in of(page)), limit))
