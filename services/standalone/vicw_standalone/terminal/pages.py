"""Pages of a list, asked for one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol


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
