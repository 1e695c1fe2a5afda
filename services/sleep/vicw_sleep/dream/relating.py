"""Which items are joined as alike, and the reason that is given for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vicw_shared import sparse
from vicw_shared.ports import VectorStore
from vicw_sleep.dream.alike import Alike, same_eyes
from vicw_sleep.mirror.atoms import Atom

_FEWEST_STEMS = 5
"""What says less ("Thanks, see you!") is like too much to be related to anything."""
_SHORTEST_WORD = 4
_READ_CHARS = 2000
_TOLD = 3


@dataclass(frozen=True, slots=True)
class Link:
    """Two items (uids) that are alike: ``certainty`` in [0, 1] that they are of one matter, and the reason."""

    item: str
    other: str
    certainty: float
    reason: str

    @property
    def ends(self) -> tuple[str, str]:
        """Both, the lesser uid first: likeness has no direction, and is said once."""
        return (self.item, self.other) if self.item < self.other else (self.other, self.item)


async def links_of(
    atom: Atom, alike: Sequence[Alike], vectors: VectorStore, *, certainty: float, most: int
) -> list[Link]:
    """Return the links of an item to what it is like, the surest first.

    Only what the very same people may see is linked, in one context and domain: so nobody learns of anything by it.
    """
    mine = _words(atom)
    fit = [one for one in alike if one.certainty >= certainty and same_eyes(atom, one.atom)]
    found: list[Link] = []
    for one in fit[:most] if len(mine) >= _FEWEST_STEMS else ():
        theirs = _words(one.atom)
        if len(theirs) >= _FEWEST_STEMS:
            reason = await _reason([word for stem, word in mine.items() if stem in theirs], vectors)
            found.append(Link(atom.item.uid, one.atom.item.uid, round(one.certainty, 4), reason))
    return found


async def _reason(words: Sequence[str], vectors: VectorStore) -> str:
    """Return why two texts are alike, with the rarest of the words that both have."""
    terms = {word: sparse.encode_query(word).indices for word in words if len(word) >= _SHORTEST_WORD}
    known = sorted({term for of_word in terms.values() for term in of_word})
    idf = dict(zip(known, await vectors.idf(known), strict=True)) if known else {}
    rarest = sorted((word for word in terms if terms[word]), key=lambda w: (-max(idf[t] for t in terms[w]), w))
    return f"alike: both tell of {', '.join(rarest[:_TOLD])}" if rarest else "alike in meaning"


def _words(atom: Atom) -> Mapping[str, str]:
    """Return the words of an item's text by their stems."""
    words = (word.strip(".,;:!?\"'()[]").casefold() for word in atom.text[:_READ_CHARS].split())
    return {stem: word for word in words for stem in list(sparse.stems(word))[:1]}
