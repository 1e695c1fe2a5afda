"""Coverage and deduplication of the best candidates: new information gains, repeated texts become one result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

from vicw_retrieval.model.candidates import Candidate, in_order
from vicw_retrieval.model.similarity import QuerySimilarity, rarest
from vicw_retrieval.ranking.coverage import coverage
from vicw_retrieval.ranking.duplicates import near_duplicates
from vicw_shared import sparse
from vicw_shared.model import Label
from vicw_shared.ports import GraphStore, Scope

MIN_CHARS = 40
"""Minimum characters of a compared passage: shorter ones are equal by chance ("Yes, please.")."""
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


async def cover(
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
    rarity = await rarest(similarity)
    has = [rarity.keys() & set(chain(*(sparse.encode_query(text).indices for text in texts[one.key]))) for one in first]
    gains = coverage([one.strength for one in first], has, rarity, share, pages)
    for one, gain in zip(first, gains, strict=True):
        if gain > 0:
            one.boost(COVERAGE, gain)
    return in_order(candidates) if any(gains) else candidates


def merge_duplicates(
    texts: Mapping[str, Sequence[str]], candidates: Sequence[Candidate], least: float
) -> Sequence[Candidate]:
    """Return the candidates without near-duplicates of better ones, which get their uids.

    Only items of one speaker (or none), context and domain are compared, if ``texts`` has them. ``least``: the
    resemblance from which two are the same.
    """
    first = [one for one in candidates if one.key in texts]
    compared = [(one.key, (one.item.context, one.item.domain, one.item.speaker), texts[one.key]) for one in first]
    originals = near_duplicates(compared, least=least, chars=MIN_CHARS)
    by_uid = {one.key: one for one in first}
    for uid, best in originals.items():
        by_uid[best].duplicates.append(uid)
    return [one for one in candidates if one.key not in originals] if originals else candidates
