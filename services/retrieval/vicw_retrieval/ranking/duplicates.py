"""Near-duplicates: texts that say the same but for a few words, by the resemblance of their shingles (Broder, 1997)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from vicw_shared.model.wording import plain

_SHINGLE = 3
_WORD = re.compile(r"\w+")
_DECISIVE = re.compile(r"\d|^(?:no|not|never|none|nothing|nobody|without|cannot|n?t)$")
"""Words of which one changes what is said: with a digit, or a negation (``t`` is what is left of ``don't``)."""


@dataclass(frozen=True, slots=True)
class Wording:
    """What of a text is compared: its shingles, and the words that must be the same."""

    shingles: frozenset[tuple[str, ...]]
    decisive: Counter[str]

    @classmethod
    def of(cls, text: str) -> Wording:
        """Read a text. What changes nothing of what it says (case, marks, white space) does not count."""
        words = _WORD.findall(plain(text))
        runs = (tuple(words[start : start + _SHINGLE]) for start in range(max(1, len(words) - _SHINGLE + 1)))
        return cls(frozenset(runs), Counter(word for word in words if _DECISIVE.search(word)))

    def resembles(self, other: Wording, least: float) -> bool:
        """Tell whether the two share at least ``least``, in (0, 1], of all their shingles, and all decisive words."""
        few, many = sorted((len(self.shingles), len(other.shingles)))
        if few < least * many or self.decisive != other.decisive:
            return False
        shared = len(self.shingles & other.shingles)
        return shared >= least * (len(self.shingles) + len(other.shingles) - shared)


def near_duplicates(
    texts: Sequence[tuple[str, Hashable, Sequence[str]]], *, least: float, chars: int
) -> Mapping[str, str]:
    """Return, by uid, of which earlier one each is a near-duplicate.

    ``texts`` are (uid, group, passages), best first; only members of a group are compared. One is a duplicate if each
    of its passages resembles one of the other's; passages under ``chars`` characters say too little to tell.
    """
    firsts: dict[Hashable, list[tuple[str, list[Wording]]]] = {}
    found: dict[str, str] = {}
    for uid, group, passages in texts:
        if not passages or any(len(passage) < chars for passage in passages):
            continue
        worded = [Wording.of(passage) for passage in passages]
        same = next((first for first, of in firsts.get(group, ()) if _adds_nothing(worded, of, least)), None)
        if same is not None:
            found[uid] = same
        else:
            firsts.setdefault(group, []).append((uid, worded))
    return found


def _adds_nothing(worded: Sequence[Wording], first: Sequence[Wording], least: float) -> bool:
    return all(any(one.resembles(other, least) for other in first) for one in worded)
