"""Coverage: boost results that contain query terms which better results lack.

A question that names two things is about both. Ranked independently, all results about the one may precede every
result about the other. So a result gains by the query terms missing from those above it (maximal marginal relevance
after Carbonell and Goldstein, 1998, with term coverage in place of dissimilarity).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet

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
