"""Checks of the graph channel: contribution and time, by questions to a running server."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import median

from vicw_client import VicwClient
from vicw_retrieval.channels.graph.typed_spread import MIN_WEIGHT
from vicw_shared.wire.explanation import GraphChannel
from vicw_shared.wire.retrieve import Channel, ChannelHit, RetrieveResponse
from vicw_standalone.doctor.findings import Finding, Severity

TARGET_MS = 45.0
"""Target for the channel's time in a request."""


def examine(client: VicwClient, questions: Sequence[str], context: str | None) -> Iterator[Finding]:
    """Ask each question twice, first to warm up, and yield findings on the second answers. Raises VicwClientError.

    They are on weight, edges, spreads, results, agreement with other channels, and time.
    """
    answers = []
    for question in questions:
        for _ in range(2):
            answer = client.retrieve(query=question, context=context, explain=True)
        answers.append(answer)
    channels = [answer.explain.graph for answer in answers if answer.explain is not None]
    yield _weight(channels)
    yield _edges(answers)
    yield _reached(channels)
    yield from _results([result.channels for answer in answers for result in answer.results])
    yield _time([answer.took_ms["graph"] for answer in answers if "graph" in answer.took_ms], channels)


def _weight(channels: Sequence[GraphChannel]) -> Finding:
    weight = max((channel.weight for channel in channels), default=0.0)
    bias = channels[0].causal_bias if channels else 0.0
    if weight >= MIN_WEIGHT:
        return Finding("typed edges", Severity.FINE, f"weight {weight:g}, {bias:.0%} of it for causal edges")
    detail = f"weight {weight:g}: not followed; VICW_RETRIEVAL_GRAPH_WEIGHT=0.15 follows them"
    return Finding("typed edges", Severity.FINE, detail)


def _edges(answers: Sequence[RetrieveResponse]) -> Finding:
    types = Counter({edge.id: edge.type for answer in answers for edge in answer.graph.edges}.values())
    detail = ", ".join(f"{count} {name}" for name, count in types.most_common())
    if set(types) - {"EVIDENCED_BY", "BELONGS_TO"}:
        return Finding("edges", Severity.FINE, f"around the results: {detail}")
    fix = 'Ingest with "extract": "rules", or with your own relations; `vicw graph show` draws the graph'
    return Finding("edges", Severity.NOTE, "the results have no edges to other nodes", fix)


def _reached(channels: Sequence[GraphChannel]) -> Finding:
    spreads: Counter[str] = Counter()
    parts: Counter[str] = Counter()
    for channel in channels:
        spreads.update(channel.reached)
        parts.update(channel.sub_graphs)
    detail = ", ".join(f"{name} {count}" for name, count in spreads.items() if count)
    if detail:
        halves = ", ".join(f"{count} {name}" for name, count in parts.items())
        return Finding("spreads", Severity.FINE, f"reached items: {detail}; best paths: {halves}")
    return Finding("spreads", Severity.NOTE, "reached no item", "Ask about something stored: `--graph QUESTION`")


def _results(results: Sequence[Sequence[ChannelHit]]) -> Iterator[Finding]:
    """Yield the results that came through the graph, and how many of them another channel found, too."""
    hits = [(hit, found) for found in results for hit in found if hit.channel == "graph"]
    if not hits:
        yield Finding("results", Severity.NOTE, "no result came through the graph")
        return
    ways = Counter(f"{hit.edge_type} at depth {hit.depth}" if hit.edge_type else "a trigger phrase" for hit, _ in hits)
    detail = "; ".join(f"{count} by {path}" for path, count in ways.most_common(8))
    yield Finding("results", Severity.FINE, f"{len(hits)} came through the graph: {detail}")
    others = frozenset(channel.value for channel in Channel)
    agreed = sum(any(hit.channel in others for hit in found) for _, found in hits)
    severity = Severity.FINE if agreed else Severity.NOTE
    yield Finding("agreement", severity, f"{agreed} of these also found by another channel")


def _time(took: Sequence[float], channels: Sequence[GraphChannel]) -> Finding:
    if not took:
        return Finding("time", Severity.NOTE, "the answers have no timings")
    detail = f"median {median(took):.0f} ms, maximum {max(took):.0f} ms"
    late = sum(not channel.in_time for channel in channels)
    if late:
        fix = (
            "The answers used what was found until then. The emergency stop (VICW_RETRIEVAL_SPREAD_MS) ends spreads "
            "only if the machine or the graph is far too slow: reduce the load"
        )
        budget = channels[0].limit_ms
        return Finding("time", Severity.NOTE, f"{detail}; {late} of {len(took)} were cut off after {budget} ms", fix)
    if max(took) > TARGET_MS:
        return Finding("time", Severity.NOTE, f"{detail}; the target is {TARGET_MS:.0f} ms")
    return Finding("time", Severity.FINE, detail)
