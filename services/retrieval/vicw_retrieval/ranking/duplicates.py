"""Near-duplicates: texts that differ in a few words only, found by the resemblance of their shingles (Broder, 1997)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property

from vicw_shared.model.text_keys import plain

_WORD = re.compile(r"\w+")
_DECISIVE = re.compile(r"\d|^(?:no|not|never|none|nothing|nobody|without|cannot|n?t)$")
"""Words that change the meaning: those with a digit, and negations (``t`` is the rest of ``don't``)."""


class Shingles:
    """Comparable form of a text: the hashes of its runs of three words, and the words that must be the same."""

    def __init__(self, text: str) -> None:
        """Read a text. Case, marks and white space do not count."""
        self._words = _WORD.findall(plain(text))
        runs = zip(self._words, self._words[1:], self._words[2:], strict=False)
        self._shingles = frozenset(map(hash, runs)) or frozenset({hash(tuple(self._words))})

    @cached_property
    def _decisive(self) -> Counter[str]:
        return Counter(word for word in self._words if _DECISIVE.search(word))

    def resembles(self, other: Shingles, least: float) -> bool:
        """Return whether both share at least ``least``, in (0, 1], of all their shingles, and all decisive words."""
        few, many = sorted((len(self._shingles), len(other._shingles)))
        if few < least * many:
            return False
        shared = len(self._shingles & other._shingles)
        return shared >= least * (few + many - shared) and self._decisive == other._decisive


def near_duplicates(
    texts: Sequence[tuple[str, Hashable, Sequence[str]]], *, least: float, chars: int
) -> Mapping[str, str]:
    """Return, by uid, the earlier text of which each is a near-duplicate.

    ``texts`` are (uid, group, passages), best first; only members of a group are compared. In a duplicate, each passage
    resembles one of the other's. Texts with a passage under ``chars`` characters say too little to compare.
    """
    firsts: dict[Hashable, list[tuple[str, list[Shingles]]]] = {}
    duplicates: dict[str, str] = {}
    for uid, group, passages in texts:
        if not passages or any(len(passage) < chars for passage in passages):
            continue
        shingles = [Shingles(passage) for passage in passages]
        original = next((first for first, of in firsts.get(group, ()) if _is_covered(shingles, of, least)), None)
        if original is not None:
            duplicates[uid] = original
        else:
            firsts.setdefault(group, []).append((uid, shingles))
    return duplicates


def _is_covered(shingles: Sequence[Shingles], first: Sequence[Shingles], least: float) -> bool:
    return all(any(one.resembles(other, least) for other in first) for one in shingles)
