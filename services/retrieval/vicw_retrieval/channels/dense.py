"""Dense channel: the wrapped query against the vectors of passages and statements.

A passage covers many facts, and a question asks for one of them. So a passage scores the mean of its own cosine and
that of its statement most similar to the question.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vicw_core.index.wrapper import wrap
from vicw_shared.errors import OverloadedError
from vicw_shared.model import Label
from vicw_shared.ports import (
    Direction,
    Embedder,
    GraphStore,
    ItemRef,
    Lane,
    Scope,
    ScoreQuery,
    VectorHit,
    VectorQuery,
    VectorStore,
    WeightedNeighbour,
)
from vicw_shared.uids import chunk_uid


@dataclass(frozen=True, slots=True)
class QueryVector:
    """The question in one wording: ``vector`` is its unit vector, (size,); None before anything was embedded.

    With ``bare`` it lies between that of ``wrapped`` and the plain question's.
    """

    wrapped: str = ""
    vector: NDArray[np.float32] | None = None
    bare: bool = False


class QueryEmbedder:
    """Embedder of one question: each wording is embedded once, however many domains are searched in turn.

    The wrapper pulls the vector away from the words of questions about code. So a question whose hits are code is
    searched again with a ``bare`` vector. Any other question would pay for the second wording and gain nothing
    (docs/retrieval.md).
    """

    def __init__(self, embedder: Embedder, prefix: str, query: str) -> None:
        """``prefix`` is the embedding model's."""
        self._embedder, self._prefix, self._query = embedder, prefix, query
        self._known: dict[str, NDArray[np.float32]] = {}
        self._ahead: dict[tuple[str, ...], asyncio.Task[NDArray[np.float32]]] = {}
        self._is_closed = False

    @property
    def has_answered(self) -> bool:
        """Whether any wording was embedded."""
        return bool(self._known)

    @contextlib.contextmanager
    def opened(self) -> Iterator[None]:
        """Cancel on leaving what was begun ahead and nobody has asked for."""
        try:
            yield
        finally:
            self._is_closed = True
            for task in self._ahead.values():
                task.cancel()

    def begin(self, domain: str | None) -> None:
        """Begin to embed the question for a domain, so that ``embed`` waits less. An error is that of ``embed``."""
        if self._is_closed:  # a look-up beside it has failed meanwhile
            return
        wordings = self._wordings(domain, bare=False)
        task = self._ahead[tuple(wordings)] = asyncio.create_task(self._rows(wordings))
        task.add_done_callback(lambda task: task.cancelled() or task.exception())  # nobody may ask for it

    def known(self, domain: str | None, *, bare: bool = False) -> QueryVector | None:
        """Return the vector of a domain, None if it was not embedded."""
        wordings = self._wordings(domain, bare=bare)
        return self._vector(wordings, bare=bare) if self._known.keys() >= set(wordings) else None

    async def embed(self, domain: str | None, *, bare: bool = False) -> QueryVector:
        """Return the vector of a domain. Raises the embedder's errors."""
        wordings = self._wordings(domain, bare=bare)
        if unknown := [wording for wording in wordings if wording not in self._known]:
            ahead = self._ahead.pop(tuple(unknown), None)  # another try asks anew
            rows = await (ahead or self._rows(unknown))
            self._known |= dict(zip(unknown, rows, strict=True))
        return self._vector(wordings, bare=bare)

    async def _rows(self, wordings: Sequence[str]) -> NDArray[np.float32]:
        return await self._embedder.embed(wordings, Lane.QUERY)

    def _vector(self, wordings: Sequence[str], *, bare: bool) -> QueryVector:
        return QueryVector(wordings[0], middle([self._known[wording] for wording in wordings]), bare)

    def _wordings(self, domain: str | None, *, bare: bool) -> list[str]:
        wrapped = self._prefix + wrap(self._query, domain=domain)
        return list(dict.fromkeys([wrapped, self._prefix + self._query] if bare else [wrapped]))


def middle(vectors: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Return the unit vector between unit vectors: its cosines rank as the mean of theirs."""
    if len(vectors) == 1:
        return vectors[0]
    mean = np.mean(vectors, axis=0, dtype=np.float32)
    length = float(np.linalg.norm(mean))
    return vectors[0] if length == 0 else (mean / length).astype(np.float32)


_MAX_PASSAGES = 4
"""Maximum passages of one statement: overlapping passages may contain the same sentence."""


_MAX_STATEMENTS = 20
"""Maximum statements read of a passage without a vector."""


_SUMMARY_PASSAGES = 4
"""Passages of a summary that are compared, the first."""


_SUMMARY_WEIGHT = 0.25
"""Weight of the summary's cosine: it makes up half of the passage's own, which is half of the score."""


@dataclass(frozen=True, slots=True)
class StatementScores:
    """The cosine of the best statement of each passage that a statement search reached.

    No other statement has a cosine above ``floor`` (None: there is no other).
    """

    best: Mapping[str, float] = field(default_factory=dict)
    floor: float | None = None

    def weigh(self, passage: str, cosine: float) -> float:
        """Return the mean of a passage's cosine and its best statement's; unknown: ``floor``, or the cosine if less.

        >>> StatementScores({"a": 0.8}, floor=0.5).weigh("a", 0.6)
        0.7
        """
        best = self.best.get(passage, cosine if self.floor is None else min(cosine, self.floor))
        return (cosine + best) / 2


@dataclass(frozen=True, slots=True)
class ChannelHits:
    """The passages that a channel found, best first; of the dense channel also the scores of statements."""

    hits: Sequence[VectorHit]
    statements: StatementScores = field(default_factory=StatementScores)


async def search_dense(vectors: VectorStore, query: VectorQuery, graph: GraphStore | None) -> ChannelHits:
    """Return passages by cosine in [-1, 1], best first, and the scores of their statements.

    ``query`` searches passages. Statements are searched the same way and carried to their passages by ``graph``; None
    leaves them out. Passages reached by a statement alone are only in the statement scores.
    """
    if graph is None:
        return ChannelHits(await vectors.search(query))
    statements = VectorQuery(
        scope=query.scope, limit=query.limit, dense=query.dense, without=query.without, label=Label.EVENT
    )
    passages, statement_hits = await asyncio.gather(vectors.search(query), vectors.search(statements))
    try:
        statement_scores = await _best_statements(
            statement_hits, graph, query.scope, full=len(statement_hits) >= query.limit
        )
    except OverloadedError:  # the passages do not need the graph
        return ChannelHits(passages)
    weighed = in_order({hit.id: statement_scores.weigh(hit.id, hit.score) for hit in passages})
    return ChannelHits(weighed, statement_scores)


def in_order(scores: Mapping[str, float]) -> list[VectorHit]:
    """Return passages, best first; ties in order of uid."""
    return sorted((VectorHit(*scored) for scored in scores.items()), key=lambda hit: (-hit.score, hit.id))


class UnfoundStatements(NamedTuple):
    """Owners of passages, and the statements of those passages that the statement search did not reach."""

    owners: Mapping[str, ItemRef]
    statements: Sequence[WeightedNeighbour]


async def unfound_statements(
    graph: GraphStore, tenant: str, scores: StatementScores, passages: Sequence[str], beside: Sequence[str] = ()
) -> UnfoundStatements:
    """Return the owners of ``passages`` and of those ``beside`` them, and the unfound statements of ``passages``.

    Without ``passages`` nothing is read.
    """
    if not passages:
        return UnfoundStatements({}, [])
    unreached = [passage for passage in passages if passage not in scores.best]
    owned = list(dict.fromkeys([*passages, *beside]))
    return UnfoundStatements(
        *await asyncio.gather(graph.owners(tenant, owned), extracted_nodes(graph, tenant, unreached, _MAX_STATEMENTS))
    )


async def estimate_scores(
    vectors: VectorStore,
    vector: NDArray[np.float32],
    scores: StatementScores,
    passages: Sequence[str],
    unfound: UnfoundStatements,
) -> dict[str, float]:
    """Return estimated scores of passages without a vector, from what remains of them (decision 0025).

    The cosine of such a passage is about the mean of its best statement's, which still has a vector, and its
    Macro-Event's summary's. If every passage has a vector, nothing is read.
    """
    owners = {uid: unfound.owners[uid] for uid in passages if uid in unfound.owners}
    if not owners:
        return {}
    summaries = {
        uid: [chunk_uid(owner.uid, ordinal) for ordinal in range(_SUMMARY_PASSAGES)] for uid, owner in owners.items()
    }
    statements = [lead for lead in unfound.statements if lead.origin in owners]
    requested = {*chain.from_iterable(summaries.values()), *(lead.uid for lead in statements)}
    (cosines,) = await vectors.score([ScoreQuery(ids=sorted(requested), dense=vector)])
    best = {passage: scores.best[passage] for passage in passages if passage in scores.best}
    for lead in statements:
        if lead.uid in cosines:
            best[lead.origin] = max(best.get(lead.origin, -1.0), cosines[lead.uid])
    summary_cosines = {
        uid: max((cosines[one] for one in of if one in cosines), default=None) for uid, of in summaries.items()
    }
    return {
        uid: _SUMMARY_WEIGHT * cosine + (1 - _SUMMARY_WEIGHT) * best.get(uid, cosine)
        for uid, cosine in summary_cosines.items()
        if cosine is not None
    }


async def extracted_nodes(
    graph: GraphStore, tenant: str, passages: Sequence[str], limit: int
) -> list[WeightedNeighbour]:
    """Return the nodes extracted from these passages, ``limit`` of each, statements among them."""
    neighbours = (
        await graph.weighted_neighbours(tenant, passages, ("EVIDENCED_BY", Direction.IN), limit) if passages else []
    )
    return [lead for lead in neighbours if not lead.is_item]


async def _best_statements(
    statements: Sequence[VectorHit], graph: GraphStore, scope: Scope, *, full: bool
) -> StatementScores:
    """Return the best statement of each passage; ``full``: the search reached its limit, so there may be more."""
    scores = {hit.id: hit.score for hit in statements}
    best: dict[str, float] = {}
    spread = ("EVIDENCED_BY", Direction.OUT)
    for proof in await graph.weighted_neighbours(scope.tenant, list(scores), spread, _MAX_PASSAGES) if scores else ():
        best[proof.uid] = max(best.get(proof.uid, -1.0), scores[proof.origin])
    return StatementScores(best, min(scores.values()) if full and scores else None)
