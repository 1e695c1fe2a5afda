"""QdrantVectorStore: a collection of a Qdrant server, over gRPC.

Any number of processes may use one collection: only counts of domains are cached, which may be some minutes old.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import batched

import numpy as np
from numpy.typing import NDArray
from qdrant_client import AsyncQdrantClient, grpc
from qdrant_client.conversions.conversion import RestToGrpc
from qdrant_client.models import (
    AcornSearchParams,
    OverwritePayloadOperation,
    PointIdsList,
    PointStruct,
    PointVectors,
    QuantizationSearchParams,
    QueryRequest,
    Record,
    ScoredPoint,
    SearchParams,
    SetPayload,
)
from qdrant_client.models import SparseVector as QdrantSparseVector

from vicw_shared.errors import UnavailableError
from vicw_shared.ports import Point, ScoreQuery, SparseVector, VectorHit, VectorQuery
from vicw_shared.telemetry.engines import measured
from vicw_stores.conditions import DOMAIN
from vicw_stores.qdrant.errors import DEPENDENCY, require_applied, translated
from vicw_stores.qdrant.filters import filter_of, filter_of_ids, filter_of_passages
from vicw_stores.qdrant.layout import DENSE, MAX_BATCH, MAX_LIMIT, OVERSAMPLING, SPARSE


class TtlCache[K, V]:
    """Cache of at most ``size`` values, each for ``seconds``."""

    def __init__(self, seconds: float, size: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._size = size
        self._clock = clock
        self._values: dict[K, tuple[float, V]] = {}

    def get(self, key: K) -> V | None:
        """Return a value that has not expired, or None."""
        at, value = self._values.get(key, (None, None))
        return value if at is not None and self._clock() - at < self._seconds else None

    def put(self, key: K, value: V) -> None:
        """Store a value. A full cache is emptied first."""
        if len(self._values) >= self._size:
            self._values.clear()
        self._values[key] = (self._clock(), value)


_SEARCH = SearchParams(
    quantization=QuantizationSearchParams(rescore=True, oversampling=OVERSAMPLING),
    acorn=AcornSearchParams(enable=True),  # takes effect only if a filter lets few points pass; see layout.py
)
_EXACT = SearchParams(exact=True, quantization=QuantizationSearchParams(ignore=True))
_PART = 1000
_DOMAINS = 1000
_CACHED_TENANTS = 10_000


@measured("qdrant")
class QdrantVectorStore:
    """VectorStore in a collection that QdrantCollections created."""

    def __init__(
        self, client: AsyncQdrantClient, collection: str, *, timeout_seconds: int = 10, recent_seconds: float = 120.0
    ) -> None:
        """Use ``collection``, a name or an alias.

        A read may take ``timeout_seconds``, a write what the client allows. Counts of domains may be
        ``recent_seconds`` old. The client is closed with the store.
        """
        self._client = client
        self._collection = collection
        self._timeout = timeout_seconds
        self._domains: TtlCache[tuple[str, bool], dict[str, int]] = TtlCache(recent_seconds, _CACHED_TENANTS)
        self._closed = False

    async def upsert(self, points: Sequence[Point]) -> None:
        for part in batched(points, MAX_BATCH):
            structs = [_struct(point) for point in part]
            with translated():
                require_applied(await self._open.upsert(self._collection, structs, wait=True))

    async def set_payload(self, payloads: Mapping[str, Mapping[str, object]]) -> None:
        for part in batched(payloads.items(), MAX_BATCH):
            # By filter, since the server refuses to overwrite missing points by id.
            operations = [
                OverwritePayloadOperation(
                    overwrite_payload=SetPayload(payload=dict(payload), filter=filter_of_ids([point]))
                )
                for point, payload in part
            ]
            with translated():
                results = await self._open.batch_update_points(self._collection, operations, wait=True)
            for result in results:
                require_applied(result)

    async def set_sparse(self, vectors: Mapping[str, SparseVector]) -> None:
        for part in batched(vectors.items(), MAX_BATCH):
            # Those that exist, since the server refuses the vectors of missing points.
            present = await self.present([point for point, _ in part])
            changes = [PointVectors(id=uid, vector={SPARSE: _sparse(one)}) for uid, one in part if uid in present]
            if changes:
                with translated():
                    require_applied(await self._open.update_vectors(self._collection, changes, wait=True))

    async def delete(self, ids: Sequence[str]) -> None:
        for part in batched(ids, _PART):
            with translated():
                require_applied(await self._open.delete(self._collection, PointIdsList(points=list(part)), wait=True))

    async def search(self, query: VectorQuery) -> list[VectorHit]:
        nearest = _nearest(query)
        if nearest is None or () in {query.scope.contexts, query.scope.domains, query.scope.items}:
            return []
        vector, using = nearest
        request = QueryRequest(
            query=vector,
            using=using,
            filter=filter_of(query.scope, query.label, query.without),
            params=_SEARCH if using == DENSE else None,
            limit=min(query.limit, MAX_LIMIT),
            with_payload=False,
        )
        (hits,) = await self._rank([request])
        return hits

    async def score(self, queries: Sequence[ScoreQuery]) -> list[dict[str, float]]:
        scorings = [(at, request) for at, query in enumerate(queries) for request in _score_requests(query)]
        answers = await self._rank([request for _, request in scorings])
        scores: list[dict[str, float]] = [{} for _ in queries]
        for (at, _), hits in zip(scorings, answers, strict=True):
            scores[at].update({hit.id: hit.score for hit in hits})
        return scores

    async def dense(self, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        vectors: dict[str, NDArray[np.float32]] = {}
        for part in batched(ids, _PART):
            with translated():
                records = await self._open.retrieve(
                    self._collection, list(part), with_payload=False, with_vectors=[DENSE], timeout=self._timeout
                )
            for record in records:
                if isinstance(record.vector, dict) and DENSE in record.vector:
                    vectors[str(record.id)] = np.asarray(record.vector[DENSE], np.float32)
        return vectors

    async def terms(self, ids: Sequence[str]) -> dict[str, frozenset[int]]:
        terms: dict[str, frozenset[int]] = {}
        for part in batched(ids, _PART):
            with translated():
                records = await self._open.retrieve(
                    self._collection, list(part), with_payload=False, with_vectors=[SPARSE], timeout=self._timeout
                )
            for record in records:
                words = record.vector.get(SPARSE) if isinstance(record.vector, dict) else None
                if isinstance(words, QdrantSparseVector):
                    terms[str(record.id)] = frozenset(words.indices)
        return terms

    async def domains(self, tenant: str, *, public: bool = False) -> dict[str, int]:
        counts = self._domains.get((tenant, public))
        if counts is None:
            with translated():
                scope = filter_of_passages(tenant, public=public)
                response = await self._open.facet(
                    self._collection, DOMAIN, scope, limit=_DOMAINS, timeout=self._timeout
                )
            counts = {str(hit.value): hit.count for hit in response.hits}
            if counts:  # an empty result would hide a tenant's first items for minutes
                self._domains.put((tenant, public), counts)
        return dict(counts)

    async def payloads(self, ids: Sequence[str]) -> dict[str, Mapping[str, object]]:
        return {str(record.id): record.payload or {} for record in await self._retrieve(ids, with_payload=True)}

    async def present(self, ids: Sequence[str]) -> set[str]:
        return {str(record.id) for record in await self._retrieve(ids, with_payload=False)}

    async def _retrieve(self, ids: Sequence[str], *, with_payload: bool) -> list[Record]:
        records: list[Record] = []
        for part in batched(ids, _PART):
            with translated():
                records += await self._open.retrieve(
                    self._collection, list(part), with_payload=with_payload, timeout=self._timeout
                )
        return records

    async def ids(self, *, after: str | None, limit: int) -> list[str]:
        # The offset is the first id returned: skip it, since the caller has it already.
        with translated():
            records, _ = await self._open.scroll(
                self._collection,
                limit=min(limit + 1, MAX_LIMIT),
                offset=after,
                with_payload=False,
                timeout=self._timeout,
            )
        return [str(record.id) for record in records if str(record.id) != after][:limit]

    async def close(self) -> None:
        if not self._closed:
            self._closed = True
            await self._client.close()

    @property
    def _open(self) -> AsyncQdrantClient:
        if self._closed:
            raise UnavailableError(DEPENDENCY, "the store is closed")
        return self._client

    async def _rank(self, requests: Sequence[QueryRequest]) -> list[list[VectorHit]]:
        """Return only the ids and scores of the hits of each request, past the client's own models.

        The client would copy each request and build a model of each of some hundred hits: a tenth of a question's work.
        """
        try:
            points = self._open.grpc_points
        except NotImplementedError:  # the client's local mode has no wire
            rankings = await self._ask(requests)
            return [[VectorHit(str(hit.id), hit.score) for hit in hits] for hits in rankings]
        answers: list[list[VectorHit]] = []
        for part in batched(requests, MAX_BATCH):
            queries = [RestToGrpc.convert_query_request(request, self._collection) for request in part]
            batch = grpc.QueryBatchPoints(collection_name=self._collection, query_points=queries, timeout=self._timeout)
            with translated():
                response = await points.QueryBatch(batch, timeout=self._timeout)
            answers += [[VectorHit(hit.id.uuid, hit.score) for hit in ranking.result] for ranking in response.result]
        return answers

    async def _ask(self, requests: Sequence[QueryRequest]) -> list[list[ScoredPoint]]:
        """Return the hits of each request, up to MAX_BATCH requests per round trip."""
        answers: list[list[ScoredPoint]] = []
        for part in batched(requests, MAX_BATCH):
            with translated():
                responses = await self._open.query_batch_points(self._collection, part, timeout=self._timeout)
            answers += [response.points for response in responses]
        return answers


def _struct(point: Point) -> PointStruct:
    vectors: dict[str, list[float] | QdrantSparseVector] = {}
    if point.dense is not None:
        vectors[DENSE] = point.dense.tolist()
    if point.sparse is not None:
        vectors[SPARSE] = _sparse(point.sparse)
    return PointStruct(id=point.id, vector=vectors, payload=dict(point.payload))


def _sparse(vector: SparseVector) -> QdrantSparseVector:
    return QdrantSparseVector(indices=list(vector.indices), values=list(vector.values))


def _nearest(query: VectorQuery | ScoreQuery) -> tuple[list[float] | QdrantSparseVector, str] | None:
    """Return the vector to search by and the name of the stored vectors; None for a sparse vector without terms."""
    if query.dense is not None:
        return query.dense.tolist(), DENSE
    if query.sparse is None or not query.sparse.indices:
        return None
    return _sparse(query.sparse), SPARSE


def _score_requests(query: ScoreQuery) -> Iterator[QueryRequest]:
    nearest = _nearest(query)
    if nearest is None:
        return
    vector, using = nearest
    for part in batched(query.ids, _PART):
        yield QueryRequest(
            query=vector,
            using=using,
            filter=filter_of_ids(part),
            params=_EXACT,
            limit=len(part),
            with_payload=False,
        )
