"""Coverage: of what a question asks for, each result should tell something that no better one tells.

A question that names two things is about both. Ranked one by one, all that tells of the one may come before anything
that tells of the other; so a result gains by the words of the question that those above it lack (maximal marginal
relevance after Carbonell and Goldstein, 1998, with the coverage of words in place of unlikeness).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet

_TELLING = 2.0
"""Inverse document frequency that the words of a question have at least, on average, where it tells them apart."""


def coverage(
    scores: Sequence[float],
    words: Sequence[AbstractSet[int]],
    rarity: Mapping[int, float],
    share: float,
    may: Collection[int] | None = None,
) -> list[float]:
    """Return what each candidate gains; in the order of the sums each has the most to add to those before it.

    ``words`` are those of the question that each has, ``rarity`` their inverse document frequencies. Whoever has all
    words gains ``share`` of the best score, if he ``may`` (the places of those who do; None: all): less where words are
    not rare, since among a few texts any word may stand in one alone. After a few results no word is left, and nothing
    gains any more.

    >>> coverage([5.0, 4.0, 3.5], [{1}, {1}, {2}], {1: 3.0, 2: 3.0}, 0.4)
    [1.0, 0.0, 1.0]
    """
    worth = share * max(scores, default=0.0) / max(sum(rarity.values()), _TELLING * len(rarity), 1.0)
    open_words, gains = dict(rarity), [0.0] * len(scores)

    def gain(one: int) -> float:
        if may is not None and one not in may:
            return 0.0
        return worth * sum(open_words[word] for word in words[one] if word in open_words)

    # Whoever has no open word changes nothing wherever he stands: each round takes a word at least.
    while left := [one for one, has in enumerate(words) if not open_words.keys().isdisjoint(has)]:
        best = max(left, key=lambda one: scores[one] + gain(one))
        gains[best] = gain(best)
        for word in words[best]:
            open_words.pop(word, None)
    return gains
