"""Starts of causal chains: results and the events of their passages, ranked by the query terms that they cover."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Mapping, Sequence

from vicw_retrieval.causal_chains.causes import CausalGraph
from vicw_retrieval.causal_chains.chain_search import ChainStart
from vicw_shared import sparse

_RANK_WEIGHT = 0.25
"""Relevance for belonging to the best result; having all query terms is worth 1."""
_MIN_SHARE = 0.5
"""Minimum relevance of a start as a share of the best start's."""
_WHOLE = 0.95
"""Factor on statements and items: an event with the query terms is more specific than its statement or item."""
_MAX_STARTS = 50


async def starts_of(causes: CausalGraph, query: str, results: Sequence[tuple[str, Sequence[str]]]) -> list[ChainStart]:
    """Return the starts that have a causal neighbour, most relevant first, with these neighbours read.

    ``results`` are items with their passages, best first; all are known and visible.
    """
    await causes.read_extracted([passage for _, passages in results for passage in passages])
    ranks: dict[str, int] = {}
    texts: dict[str, str] = {}
    for rank, (uid, passages) in enumerate(results, start=1):
        ranks.setdefault(uid, rank)
        texts[uid] = " ".join(node.text or "" for passage in passages if (node := causes.nodes.get(passage)))
        for node in (node for passage in passages for node in causes.extracted_in(passage)):
            ranks.setdefault(node.uid, rank)
            texts[node.uid] = node.text or node.name
    shares = _shares(query, texts)
    events = {uid for uid in ranks if not (causes.nodes[uid].is_statement or causes.nodes[uid].content_hash)}
    starts = [
        ChainStart(uid, (1 if uid in events else _WHOLE) * shares[uid] + _RANK_WEIGHT / rank, rank)
        for uid, rank in ranks.items()
    ]
    starts = heapq.nsmallest(_MAX_STARTS, starts, key=lambda start: (-start.relevance, start.rank, start.uid))
    await causes.read(start.uid for start in starts)
    leading = [start for start in starts if causes.neighbours(start.uid)]
    best = max((start.relevance for start in leading), default=0.0)
    return [start for start in leading if start.relevance >= _MIN_SHARE * best]


def _shares(query: str, texts: Mapping[str, str]) -> dict[str, float]:
    """Return the share of the question that each text covers, in [0, 1]: its terms, weighted by rarity among the texts.

    Terms that no text has are ignored.
    """
    query_terms = sparse.encode_query(query).indices
    has = {uid: set(query_terms).intersection(sparse.encode_query(text).indices) for uid, text in texts.items()}
    counts = Counter(term for terms in has.values() for term in terms)
    rarity = {term: math.log(1 + (len(texts) - n + 0.5) / (n + 0.5)) for term, n in counts.items()}
    total = sum(rarity.values())
    return {uid: sum(rarity[term] for term in terms) / total if total else 0.0 for uid, terms in has.items()}
