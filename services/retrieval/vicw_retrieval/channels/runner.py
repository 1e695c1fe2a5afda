"""Channels of the first wave, which run concurrently under one time limit; each may fail alone.

Beside them run the trigger phrases: entry into the graph by the phrases that callers gave their items.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Mapping, Sequence

import structlog
from prometheus_client import Counter, Histogram

from vicw_retrieval.access.visibility import MAX_READ, Visibility, filter_results
from vicw_retrieval.channels.dense import ChannelHits
from vicw_shared.errors import FieldProblem, InvalidInputError, UnavailableError, VicwError
from vicw_shared.model import Node
from vicw_shared.model.triggers import phrases_in
from vicw_shared.ports import GraphStore, Scope, SparseVector, VectorHit, VectorQuery, VectorStore
from vicw_shared.settings import RetrievalSettings
from vicw_shared.telemetry.spans import span
from vicw_shared.telemetry.stages import SECONDS as BOUNDS
from vicw_shared.uids import is_uid
from vicw_shared.wire.retrieve import Channel

_log = structlog.get_logger()


FAILED = Counter("vicw_retrieve_channel_failures_total", "Channels left out of an answer", ["channel", "reason"])


SECONDS = Histogram("vicw_retrieve_channel_seconds", "Time of a channel", ["channel"], buckets=BOUNDS)


async def run_channels(
    channels: Mapping[str, Awaitable[ChannelHits]], seconds: float
) -> tuple[dict[str, ChannelHits], dict[str, VicwError | None]]:
    """Await all channels; return the hits of each, and the failed ones with their error (None: out of time)."""
    results: dict[str, ChannelHits] = {}
    failed: dict[str, VicwError | None] = {}

    async def run(name: str, channel: Awaitable[ChannelHits]) -> None:
        try:
            with span(f"channel.{name}"), SECONDS.labels(name).time():
                async with asyncio.timeout(seconds):
                    results[name] = await channel
        except TimeoutError:
            failed[name] = None
            FAILED.labels(name, "timeout").inc()
        except VicwError as error:
            failed[name] = error
            FAILED.labels(name, "error").inc()
            _log.warning("channel failed", channel=name, error=str(error))
        except Exception as error:  # a bug in one channel must not fail the answer
            failed[name] = UnavailableError(name, "failed")
            FAILED.labels(name, "error").inc()
            _log.exception("channel failed", channel=name, error=type(error).__name__)

    await asyncio.gather(*(run(name, channel) for name, channel in channels.items()))
    return {name: results[name] for name in channels if name in results}, failed


def valid_hits(hits: Sequence[VectorHit]) -> list[VectorHit]:
    """Return the valid hits: those whose ids are uids and whose scores are finite.

    >>> valid_hits([VectorHit("nobody", 1.0)])
    []
    """
    return [hit for hit in hits if is_uid(hit.id) and math.isfinite(hit.score)]


def select_channels(
    named: Sequence[Channel] | None, settings: RetrievalSettings, *, vectors: bool
) -> tuple[Channel, ...]:
    """Return the channels that a caller has ``named``, by default all that have a weight; without vectors full text.

    Raises InvalidInputError if there are no vectors and only vector channels are named.
    """
    if vectors:
        weights = {Channel.FULLTEXT: settings.fulltext_weight}
        return tuple(named or (channel for channel in Channel if weights.get(channel, 1.0) > 0))
    if named and Channel.FULLTEXT not in named:
        problem = FieldProblem(
            "channels",
            f"{', '.join(named)}: there are no vectors here (VICW_EMBEDDER=none)",
            "Name fulltext, or no channel",
        )
        raise InvalidInputError(problem)
    return (Channel.FULLTEXT,)


async def search_bm25(
    vectors: VectorStore,
    terms: SparseVector,
    scope: Scope,
    limit: int,
    without: tuple[str, ...] = (),
) -> ChannelHits:
    """Return passages by BM25, > 0, best first; no terms find nothing."""
    return ChannelHits(await vectors.search(VectorQuery(scope=scope, limit=limit, sparse=terms, without=without)))


async def search_fulltext(graph: GraphStore, query: str, scope: Scope, limit: int) -> ChannelHits:
    """Return passages by full-text score (> 0), best first; scores compare within one answer only.

    ``query`` is searched as plain words; nothing in it is query syntax.
    """
    return ChannelHits([VectorHit(hit.uid, hit.score) for hit in await graph.find(scope, query, limit)])


_FIRST_LOOK = 20


_WIDER = 8


async def seeds_of(question: str, scope: Scope, graph: GraphStore, settings: RetrievalSettings) -> list[Node]:
    """Return the items with a trigger phrase in ``question``, visible and in ``scope``.

    Protected items come first, then the most important; ``settings.trigger_seeds`` at most. Per phrase at most
    ``MAX_READ`` items are read to find visible ones.
    """
    phrases = phrases_in(question) if settings.trigger_seeds else []
    visibility, limit = Visibility(graph, scope), _FIRST_LOOK
    while phrases:
        items = await graph.triggered(scope.tenant, phrases, contexts=scope.contexts, limit=limit)
        results = await filter_results(graph, scope, await visibility.nodes(items))
        if len(results) >= settings.trigger_seeds or len(items) < limit or limit >= MAX_READ:
            return results[: settings.trigger_seeds]
        limit = min(limit * _WIDER, MAX_READ)
    return []
