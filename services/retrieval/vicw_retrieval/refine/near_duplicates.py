"""Coverage, and merging of near-duplicates, among the best candidates."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import cached_property
from itertools import chain

from vicw_core.index import sparse
from vicw_retrieval.model.similarity import QuerySimilarity, rarest
from vicw_retrieval.ranking.fusion import Candidate, in_order
from vicw_shared.domains import CODING
from vicw_shared.model import Label
from vicw_shared.model.text_keys import plain, same_acronyms
from vicw_shared.ports import GraphStore, Scope

_WORD = re.compile(r"\w+")
_DECISIVE = re.compile(r"\d|^(?:no|not|never|none|nothing|nobody|without|cannot|n?t)$")
"""Words that change the meaning: those with a digit, and negations (``t`` is the rest of ``don't``)."""
_SIGN = re.compile(r"(?<!\w)-(?=\d)|[%?]")
_SYMBOLS = frozenset({"So", "Sm", "Sc"})
"""Categories of emoji, operators and currencies."""


class Shingles:
    """Comparable form of a text: the hashes of its runs of three words, and what must be the same.

    These are numbers, negations, signs, symbols such as emoji, and acronyms.
    """

    def __init__(self, text: str) -> None:
        """Read a text. Case, marks and white space do not count."""
        self._text, self._plain = text, plain(text)
        self._words = _WORD.findall(self._plain)
        runs = zip(self._words, self._words[1:], self._words[2:], strict=False)
        self._shingles = frozenset(map(hash, runs)) or frozenset({hash(tuple(self._words))})

    @cached_property
    def _decisive(self) -> Counter[str]:
        words = (word for word in self._words if _DECISIVE.search(word))
        symbols = (sign for sign in self._plain if sign != "|" and unicodedata.category(sign) in _SYMBOLS)
        return Counter(chain(words, symbols, _SIGN.findall(self._plain)))

    def resembles(self, other: Shingles, least: float) -> bool:
        """Return whether both share at least ``least``, in (0, 1], of all their shingles, and all decisive words."""
        mine, theirs = len(self._shingles), len(other._shingles)
        if mine < least * theirs or theirs < least * mine:  # most pairs end here
            return False
        shared = len(self._shingles & other._shingles)
        if shared < least * (mine + theirs - shared) or self._decisive != other._decisive:
            return False
        return same_acronyms(self._text, other._text)


def near_duplicates(
    texts: Sequence[tuple[str, Hashable, Sequence[str]]], *, least: float, chars: int
) -> Mapping[str, str]:
    """Return, by uid, the earlier text of which each is a near-duplicate.

    ``texts`` are (uid, group, passages), best first; only members of a group are compared. In a duplicate, each passage
    resembles one of the other's. A text with a passage under ``chars`` characters has to have the same words.
    """
    firsts: dict[Hashable, list[tuple[str, list[Shingles]]]] = {}
    duplicates: dict[str, str] = {}
    for uid, group, passages in texts:
        if not passages:
            continue
        shingles = [Shingles(passage) for passage in passages]
        share = 1.0 if any(len(passage) < chars for passage in passages) else least
        original = next((first for first, of in firsts.get(group, ()) if _is_covered(shingles, of, share)), None)
        if original is not None:
            duplicates[uid] = original
        else:
            firsts.setdefault(group, []).append((uid, shingles))
    return duplicates


def _is_covered(shingles: Sequence[Shingles], first: Sequence[Shingles], least: float) -> bool:
    return all(any(one.resembles(other, least) for other in first) for one in shingles)


_TELLING = 2.0
"""Minimum average inverse document frequency of the query terms that the gain is normalised by."""


def coverage(
    scores: Sequence[float],
    words: Sequence[AbstractSet[int]],
    rarity: Mapping[int, float],
    share: float,
    may: Collection[int] | None = None,
) -> list[float]:
    """Return the gain of each candidate. Sorted by score plus gain, each adds the most to those before it.

    ``words`` holds the query terms of each candidate, ``rarity`` their inverse document frequencies. ``may`` lists the
    indexes of the candidates that can gain (None: all). A candidate with all terms gains ``share`` of the best score,
    less where terms are not rare: among a few texts any term may occur in one alone. After a few results every term is
    covered and the remaining gains are 0.

    >>> coverage([5.0, 4.0, 3.5], [{1}, {1}, {2}], {1: 3.0, 2: 3.0}, 0.4)
    [1.0, 0.0, 1.0]
    """
    unit = share * max(scores, default=0.0) / max(sum(rarity.values()), _TELLING * len(rarity), 1.0)
    open_words, gains = dict(rarity), [0.0] * len(scores)

    def gain(one: int) -> float:
        if may is not None and one not in may:
            return 0.0
        return unit * sum(open_words[word] for word in words[one] if word in open_words)

    # A candidate without an open word has no effect at any rank. Each round covers at least one word.
    while open_candidates := [one for one, has in enumerate(words) if not open_words.keys().isdisjoint(has)]:
        best = max(open_candidates, key=lambda one: scores[one] + gain(one))
        gains[best] = gain(best)
        for word in words[best]:
            open_words.pop(word, None)
    return gains


MIN_CHARS = 40
"""Minimum characters of a passage that may differ: in a shorter one each word counts."""
_PASSAGES = 5
_SPARE = 10
COVERAGE = "coverage"


async def read_texts(
    graph: GraphStore, scope: Scope, candidates: Sequence[Candidate], limit: int
) -> dict[str, list[str]]:
    """Return the texts, by key, of the candidates that could become one of ``limit`` results."""
    passages = {one.key: [uid for uid, _ in one.passages[:_PASSAGES]] for one in candidates[: 2 * limit + _SPARE]}
    texts = await graph.texts(scope.tenant, [uid for uids in passages.values() for uid in uids]) if passages else {}
    return {key: [texts[uid] for uid in uids if uid in texts] for key, uids in passages.items()}


def cover(
    similarity: QuerySimilarity,
    texts: Mapping[str, Sequence[str]],
    candidates: Sequence[Candidate],
    limit: int,
    share: float,
) -> Sequence[Candidate]:
    """Return the candidates in their new order: those with query terms that no better one has gain.

    Only knowledge items gain: a chat repeats the same words about different things. If all candidates are results,
    there is nothing to choose; among a few texts no term can be said to be rare.
    """
    first = [one for one in candidates if one.key in texts]
    pages = {place for place, one in enumerate(first) if one.item.label is Label.ENTITY}
    if not pages or len(candidates) <= limit:
        return candidates
    rarity = rarest(similarity)
    has = [rarity.keys() & set(chain(*(sparse.document_terms(text) for text in texts[one.key]))) for one in first]
    gains = coverage([one.strength for one in first], has, rarity, share, pages)
    raised = {one.key: one.raised(**{COVERAGE: gain}) for one, gain in zip(first, gains, strict=True) if gain > 0}
    return in_order(raised.get(one.key, one) for one in candidates) if raised else candidates


def merge_duplicates(
    texts: Mapping[str, Sequence[str]], candidates: Sequence[Candidate], least: float
) -> Sequence[Candidate]:
    """Return the candidates without near-duplicates of better ones, which get their uids.

    Only items of one speaker (or none), context and domain are compared, if ``texts`` has them; short code is not.
    ``least``: the resemblance from which two are the same.
    """
    first = [one for one in candidates if one.key in texts and not _is_short_code(one, texts[one.key])]
    compared = [(one.key, (one.item.context, one.item.domain, one.item.speaker), texts[one.key]) for one in first]
    originals = near_duplicates(compared, least=least, chars=MIN_CHARS)
    duplicates: dict[str, tuple[str, ...]] = {}
    for uid, best in originals.items():
        duplicates[best] = (*duplicates.get(best, ()), uid)
    return [
        replace(one, duplicates=(*one.duplicates, *duplicates[one.key])) if one.key in duplicates else one
        for one in candidates
        if one.key not in originals
    ]


def _is_short_code(candidate: Candidate, passages: Sequence[str]) -> bool:
    is_code = candidate.item.domain == CODING and candidate.item.speaker is None
    return is_code and any(len(passage) < MIN_CHARS for passage in passages)
