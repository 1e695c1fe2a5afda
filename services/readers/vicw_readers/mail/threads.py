"""Which thread a mail belongs to, known from the mails before it, in bounded memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

MAX_REMEMBERED = 200_000
"""Mails whose threads are remembered: some 30 MB."""


class Threads:
    """Threads by References and In-Reply-To: a thread is named by the id of its first mail."""

    def __init__(self) -> None:
        self._roots: OrderedDict[int, str] = OrderedDict()

    def root_of(self, own_id: str, references: Sequence[str]) -> str:
        """Return the thread of a mail: that of the nearest known mail it refers to, else of the oldest it names."""
        known = (self._roots.get(hash(one)) for one in reversed(references))
        root = next(filter(None, known), references[0] if references else own_id)
        self._remember(own_id, root)
        for one in references:
            if hash(one) not in self._roots:
                self._remember(one, root)
        return root

    def _remember(self, own_id: str, root: str) -> None:
        self._roots[hash(own_id)] = root
        if len(self._roots) > MAX_REMEMBERED:
            self._roots.popitem(last=False)
