"""Anchors of a text's sections: the fragment after the # of a link."""

from __future__ import annotations

import re

_LINK = re.compile(r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])")
_SLUG_CHARS = 300
_DROPPED = re.compile(r"[^\w\- ]")


class Unique:
    """Makes names unique: a repeated name gets ``-1``, ``-2``, …"""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._next: dict[str, int] = {}

    def __call__(self, name: str) -> str:
        """Return ``name``, or its first free variant."""
        candidate = name
        while candidate in self._used:
            self._next[name] = self._next.get(name, 0) + 1
            candidate = f"{name}-{self._next[name]}"
        self._used.add(candidate)
        return candidate


def slug(heading: str) -> str:
    """Return the anchor that GitHub gives a heading: lower case, no punctuation, hyphens for spaces."""
    plain = _LINK.sub(r"\1", heading[:_SLUG_CHARS]).strip().lower()
    return _DROPPED.sub("", plain).replace(" ", "-") or "section"
