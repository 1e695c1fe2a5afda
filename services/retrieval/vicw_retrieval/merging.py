"""One result for what says the same: near-duplicates go under the best of them, with their ids."""

from __future__ import annotations

from collections.abc import Sequence

from vicw_retrieval.candidates import Candidate
from vicw_retrieval.ranking.duplicates import near_duplicates
from vicw_shared.ports import GraphStore, Scope

LEAST_CHARS = 40
"""A passage that is shorter says the same as another by chance: "Yes, please.", each to something else."""
_PASSAGES = 5
_SPARE = 10


async def merge_duplicates(
    graph: GraphStore, scope: Scope, found: Sequence[Candidate], limit: int, least: float
) -> Sequence[Candidate]:
    """Return the candidates without those that add nothing to a better one of them; that one has their uids.

    Only what one speaker, or nobody, says in one context and domain can be the same. Those that could become one of
    ``limit`` results are compared. ``least``: the resemblance from which two are the same; 0: none are.
    """
    first = found[: 2 * limit + _SPARE] if least > 0 else ()
    passages = {one.key: [uid for uid, _ in one.passages[:_PASSAGES]] for one in first}
    texts = await graph.texts(scope.tenant, [uid for uids in passages.values() for uid in uids]) if first else {}
    told = [
        (
            one.key,
            (one.item.context, one.item.domain, one.item.speaker),
            [texts[uid] for uid in passages[one.key] if uid in texts],
        )
        for one in first
    ]
    same = near_duplicates(told, least=least, chars=LEAST_CHARS)
    by_uid = {one.key: one for one in first}
    for uid, best in same.items():
        by_uid[best].duplicates.append(uid)
    return [one for one in found if one.key not in same] if same else found
