"""When two answers to a question are the same, although two engines have counted.

The embedded store keeps a byte a dimension and no originals, so that its cosines are right to about a thousandth. What
stands so near to another that this decides may stand in another order, and what stands so near to the end of a list may
be the one or the other; nothing else may differ.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pytest

from vicw_retrieval.search.waiting_passages import PENDING
from vicw_shared.model import Edge
from vicw_shared.model.knowledge import BRIDGE_RULES
from vicw_shared.settings import IngestSettings
from vicw_shared.wire.retrieve import GraphEdge, Result, RetrieveResponse

DENSE_ERROR = 0.004
BM25_ERROR = 0.001
FUSED_ERROR = 0.02
HANDED_ERROR = 0.05
"""What several hand on to one adds up, and so do its errors."""
CONFIDENCE_ERROR = 0.1
SURE_ERROR = 0.01
RELEVANCE_ERROR = 0.02
_COUNTED = {"score", "relevance", "rank", "channels", "passages", "text"}


def assert_same_answers(
    ours: RetrieveResponse, theirs: RetrieveResponse, limit: int, *, all_indexed: bool = True
) -> None:
    """Assert that two answers are the same, but for what two engines count in different ways.

    If not ``all_indexed``, passages may wait for their vectors, which both must tell of.
    """
    assert ours.degraded == theirs.degraded, (ours.degraded, theirs.degraded)
    assert set(ours.degraded) <= (set() if all_indexed else {PENDING}), ours.degraded
    if ours.intent.model_copy(update={"confidence": 0.0}) != theirs.intent.model_copy(update={"confidence": 0.0}):
        # The vote was so open that a thousandth has decided it.
        assert ours.intent.confidence == pytest.approx(theirs.intent.confidence, abs=CONFIDENCE_ERROR)
        return
    assert ours.relevance == pytest.approx(theirs.relevance, abs=RELEVANCE_ERROR)
    hits = [(result.uid, hit.channel) for result in (*ours.results, *theirs.results) for hit in result.channels]
    alone = {channel for _, channel in hits if channel != "graph"}
    brought = {uid for uid, channel in hits if channel == "graph"}
    assert ours.explain is not None
    error = BM25_ERROR if alone == {"bm25"} else FUSED_ERROR  # cosines are standardised: a thousandth counts more
    if ours.explain.boosts:
        error = HANDED_ERROR
    assert theirs.explain is not None
    apart = _boosted_apart(ours.explain.boosts, theirs.explain.boosts)
    same_ranking(_scores(ours.results, apart), _scores(theirs.results, apart), limit, error, brought)
    assert theirs.explain is not None
    assert ours.explain.domains_searched == theirs.explain.domains_searched
    assert ours.explain.wrapped_query == theirs.explain.wrapped_query
    assert ours.explain.channels.keys() == theirs.explain.channels.keys()
    found = {result.uid: result for result in theirs.results}
    for result in ours.results:
        if result.uid in found and result.uid not in apart:
            same_result(result, found[result.uid], error)
    if sorted(_shown(ours)) == sorted(_shown(theirs)):
        assert {node.uid: node for node in ours.graph.nodes} == {node.uid: node for node in theirs.graph.nodes}
        same_edges({edge.id: edge for edge in ours.graph.edges}, {edge.id: edge for edge in theirs.graph.edges})
        assert ours.graph.paths == theirs.graph.paths
    if _shown(ours) == _shown(theirs) and ours.answered == theirs.answered:
        assert ours.text == theirs.text
        assert ours.explain.cut == theirs.explain.cut


def _shown(answer: RetrieveResponse) -> list[tuple[str, str, tuple[str, ...]]]:
    """Return each result, its passage, and the tags over which it leads on: the nearest in meaning are taken."""
    return [(r.uid, r.text, tuple(via.uid for via in r.via if via.type == "TAGGED")) for r in answer.results]


def same_edges(ours: Mapping[str, Edge | GraphEdge], theirs: Mapping[str, Edge | GraphEdge]) -> None:
    """Assert that two graphs have the same edges; bridges, which rest on cosines, need be about as sure only."""
    for one, other in ((ours, theirs), (theirs, ours)):
        only = [one[name] for name in one.keys() - other.keys()]
        assert [edge for edge in only if not _may_fail(edge)] == []
    for name in ours.keys() & theirs.keys():
        mine, its = ours[name], theirs[name]
        assert _is_bridge(mine) == _is_bridge(its)
        if not _is_bridge(mine):
            assert mine == its
            continue
        assert (mine.type, mine.source, mine.target) == (its.type, its.source, its.target)
        assert _certainty(mine) == pytest.approx(_certainty(its), abs=SURE_ERROR), (mine, its)
        assert mine.weight == pytest.approx(its.weight, abs=SURE_ERROR)


def _is_bridge(edge: Edge | GraphEdge) -> bool:
    return edge.created_by.startswith(BRIDGE_RULES)


def _may_fail(edge: Edge | GraphEdge) -> bool:
    """Tell whether a bridge is so near to what it must be at least that another engine may draw none."""
    return _is_bridge(edge) and _certainty(edge) < IngestSettings().bridge_confidence + SURE_ERROR


def _certainty(edge: Edge | GraphEdge) -> float:
    confidence = edge.properties["confidence"] if isinstance(edge, Edge) else edge.confidence
    assert isinstance(confidence, float)
    return confidence


def same_ranking(
    ours: Mapping[str, float],
    theirs: Mapping[str, float],
    limit: int,
    error: float,
    brought: Collection[str] = (),
) -> None:
    """Assert that two lists, best first, hold the same with the same scores, but for their very ends.

    What was ``brought`` stands in a list whatever its score.
    """
    assert len(ours) == len(theirs)
    for name in ours.keys() & theirs.keys():
        assert ours[name] == pytest.approx(theirs[name], abs=error)
    for mine, other in ((ours, theirs), (theirs, ours)):
        for name in mine.keys() - other.keys():
            assert len(other) == limit, f"{name} is found by one only, and the other had room"
            assert name not in brought
            assert mine[name] <= min(score for uid, score in other.items() if uid not in brought) + error


def same_result(ours: Result, theirs: Result, error: float) -> None:
    """Assert that an item is the same result in both answers."""
    assert _comparable_fields(ours) == _comparable_fields(theirs)
    assert {hit.channel for hit in ours.channels} == {hit.channel for hit in theirs.channels}
    errors = {"dense": DENSE_ERROR, "bm25": BM25_ERROR, "graph": 0.0}
    other = {hit.channel: hit.score for hit in theirs.channels}
    for hit in ours.channels:
        handed_on = hit.depth is not None or hit.channel == "tags"  # of a score that both have counted
        assert hit.score == pytest.approx(other[hit.channel], abs=error if handed_on else errors[hit.channel])
    assert ours.score == pytest.approx(theirs.score, abs=error)
    mine, others = ({p.text: p.score for p in result.passages} for result in (ours, theirs))
    assert {ours.text, *mine} == {theirs.text, *others}
    if ours.text != theirs.text:  # of two best passages, a thousandth decides which has the item's score
        mine[ours.text], others[theirs.text] = others[ours.text], mine[theirs.text]
        assert others[ours.text] == pytest.approx(mine[theirs.text], abs=error)
    for text, score in mine.items():
        assert score == pytest.approx(others[text], abs=error)


def _scores(results: Sequence[Result], apart: Collection[str]) -> dict[str, float]:
    return {result.uid: result.score for result in results if result.uid not in apart}


def _boosted_apart(ours: Mapping[str, Mapping[str, float]], theirs: Mapping[str, Mapping[str, float]]) -> set[str]:
    """Return what only one store hands something on to: what is like a question begins at a cosine."""
    return {uid for uid in ours.keys() | theirs.keys() if ours.get(uid, {}).keys() != theirs.get(uid, {}).keys()}


def _comparable_fields(result: Result) -> dict[str, Any]:
    """Return what a result says beside its place; edges to passages and tags are of those that were found best."""
    said = result.model_dump(exclude=_COUNTED)
    said["via"] = sorted(str(via) for via in result.via if via.type not in {"EVIDENCED_BY", "TAGGED"})
    return said
