"""EdgeVectorStore: Qdrant's engine in this process, as the embedded default's rebuildable index.

Edge is beta and holds the GIL in every call (design: "What was tried"), so calls are kept short: updates go
in small parts, conditions that match nothing are left out of searches, ``optimize`` is never called online.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from qdrant_edge import (
    CountRequest,
    Distance,
    EdgeConfig,
    EdgeShard,
    EdgeSparseVectorParams,
    EdgeVectorParams,
    FacetRequest,
    FieldCondition,
    Filter,
    HasIdCondition,
    HnswIndexConfig,
    IntegerIndexParams,
    KeywordIndexParams,
    Modifier,
    Query,
    QueryBatchRequest,
    QueryRequest,
    ScrollRequest,
    UpdateOperation,
    VectorStorageDatatype,
)
from qdrant_edge import Point as EdgePoint
from qdrant_edge import SparseVector as EdgeSparseVector

from vicw_shared.adapters.conditions import (
    DOMAIN,
    FLAGS,
    INSTANTS,
    KEYWORDS,
    LABEL,
    TENANT,
    of_items,
    of_label,
    of_tenant,
    within,
)
from vicw_shared.adapters.edge_filters import EdgeCondition, edge_conditions
from vicw_shared.errors import DataDirError, UnavailableError
from vicw_shared.model import Label
from vicw_shared.ports import Point, ScoreQuery, VectorHit, VectorQuery
from vicw_shared.telemetry.engines import measured

_DENSE, _SPARSE = "dense", "bm25"
_PART = 64
_CLEAN = "clean"


@measured("edge")
class EdgeVectorStore:
    """VectorStore in a folder of the data directory."""

    def __init__(self, path: Path, size: int) -> None:
        """Open the index at ``path`` for vectors of ``size`` dimensions, creating it if it is not there.

        ``unclean`` then tells whether it was not closed in order, so that it has to be compared with the graph.
        It stays so, over closing and opening, until ``agreed`` is called.
        """
        self._path = path
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="edge")
        self._created = not self.exists(path)
        self.unclean = not self._created and not self.closed_in_order(path)
        self._shard: EdgeShard | None = self._open(size)
        (path / _CLEAN).unlink(missing_ok=True)
        self._tenants = {str(hit.value) for hit in self._shard.facet(FacetRequest(TENANT, 10_000, True)).hits}
        self._labels = {str(hit.value) for hit in self._shard.facet(FacetRequest(LABEL, 100, True)).hits}
        self._idf: dict[int, float] = {}
        self._domains: dict[str, dict[str, int]] = {}
        self._counted_points = 0

    def agreed(self) -> None:
        """Note that the index has been compared with the graph."""
        self.unclean = False

    @staticmethod
    def exists(path: Path) -> bool:
        """Tell whether there is an index at ``path``."""
        return (path / "segments").exists()

    @staticmethod
    def closed_in_order(path: Path) -> bool:
        """Tell whether opening the index at ``path`` has nothing to create and nothing to replay."""
        return (path / _CLEAN).exists()

    @staticmethod
    def destroy(path: Path) -> None:
        """Remove an index that no process has open."""
        shutil.rmtree(path, ignore_errors=True)

    def _open(self, size: int) -> EdgeShard:
        try:
            if not self._created:
                return EdgeShard.load(str(self._path))
            # Made aside and moved: a kill in the middle leaves no index that lacks half of its own.
            aside = self._path.with_name(f"{self._path.name}.new")
            shutil.rmtree(aside, ignore_errors=True)
            aside.mkdir(mode=0o700, parents=True)
            shard = EdgeShard.create(str(aside), _config(size))
            _create_indexes(shard)
            shard.close()
            shutil.rmtree(self._path, ignore_errors=True)
            aside.rename(self._path)
            return EdgeShard.load(str(self._path))
        except Exception as error:
            raise DataDirError(
                f"The vector index {self._path} cannot be opened ({error}). `vicw reindex` builds it anew"
            ) from error

    async def upsert(self, points: Sequence[Point]) -> None:
        for start in range(0, len(points), _PART):
            part = points[start : start + _PART]
            self._tenants.update(str(point.payload[TENANT]) for point in part)
            self._labels.update(str(point.payload[LABEL]) for point in part)
            operation = UpdateOperation.upsert_points([_edge_point(point) for point in part])
            await self._update(operation)

    async def set_payload(self, payloads: Mapping[str, Mapping[str, object]]) -> None:
        def work(shard: EdgeShard) -> None:
            known = {str(record.id) for record in shard.retrieve(list(payloads), False, False)}
            for point, payload in payloads.items():
                if point in known:
                    shard.update(UpdateOperation.overwrite_payload([point], dict(payload)))

        await self._do(work)

    async def delete(self, ids: Sequence[str]) -> None:
        await self._update(UpdateOperation.delete_points(list(ids)))

    async def search(self, query: VectorQuery) -> list[VectorHit]:
        nearest = _nearest(query)
        if nearest is None or query.scope.contexts == () or query.scope.domains == ():
            return []

        def work(shard: EdgeShard) -> list[VectorHit]:
            chosen = self._filter(shard, query)
            request = QueryRequest(query.limit, query=nearest, filter=chosen, with_payload=False)
            return [VectorHit(str(hit.id), hit.score) for hit in shard.query(request)]

        return await self._do(work)

    async def score(self, queries: Sequence[ScoreQuery]) -> list[dict[str, float]]:
        def work(shard: EdgeShard) -> list[dict[str, float]]:
            return [_scores(shard, query) for query in queries]

        return await self._do(work)

    def _filter(self, shard: EdgeShard, query: VectorQuery) -> Filter | None:
        """Build the filter, leaving out what holds for every point: each condition costs a pass over all."""
        scope = query.scope
        if scope.tenant not in self._tenants or query.label not in self._labels:
            return Filter(must=[HasIdCondition(set())])
        wanted = within(scope)
        must = edge_conditions(wanted.must) + self._of(scope.tenant, query.label)
        must_not = [condition for condition in edge_conditions(wanted.must_not) if _matches_any(shard, condition)]
        if query.without:
            must_not += edge_conditions([of_items(query.without)])
        return Filter(must=must, must_not=must_not) if must or must_not else None

    def _of(self, tenant: str, label: Label) -> list[EdgeCondition]:
        """Return what tells a tenant's points of a label from others; nothing while there are no others."""
        of_whom = [] if self._tenants == {tenant} else [of_tenant(tenant)]
        of_what = [] if self._labels == {label} else [of_label(label)]
        return edge_conditions([*of_whom, *of_what])

    async def idf(self, terms: Sequence[int]) -> list[float]:
        """Read each term's IDF off the engine: the score of a one-term query is idf × the hit's weight."""

        def work(shard: EdgeShard) -> list[float]:
            missing = [term for term in terms if term not in self._idf]
            self._idf.update(zip(missing, _probe_idf(shard, missing), strict=True))
            return [self._idf[term] for term in terms]

        return await self._do(work)

    async def domains(self, tenant: str) -> dict[str, int]:
        def work(shard: EdgeShard) -> dict[str, int]:
            mine = self._of(tenant, Label.CHUNK)
            request = FacetRequest(DOMAIN, 1000, False, Filter(must=mine) if mine else None)
            return {str(hit.value): hit.count for hit in shard.facet(request).hits}

        known = self._domains.get(tenant)
        if known is None:
            known = self._domains[tenant] = await self._do(work)
        return dict(known)

    def _forget_old_counts(self, points: int) -> None:
        """Keep counts until the collection has changed by a hundredth, which moves an IDF by about 0.01."""
        if abs(points - self._counted_points) > self._counted_points // 100:
            self._idf.clear()
            self._domains.clear()
            self._counted_points = points

    async def payloads(self, ids: Sequence[str]) -> dict[str, Mapping[str, object]]:
        records = await self._do(lambda shard: shard.retrieve(list(ids), True, False))
        return {str(record.id): record.payload or {} for record in records}

    async def present(self, ids: Sequence[str]) -> set[str]:
        return {str(r.id) for r in await self._do(lambda shard: shard.retrieve(list(ids), False, False))}

    async def ids(self, *, after: str | None, limit: int) -> list[str]:
        # The offset is the first id to return, so the one that the caller has already is skipped here.
        request = ScrollRequest(after, limit + 1, with_payload=False, with_vector=False)
        records, _ = await self._do(lambda shard: shard.scroll(request))
        return [str(record.id) for record in records if str(record.id) != after][:limit]

    async def close(self) -> None:
        if self._shard is not None:
            await self._do(lambda shard: shard.close())
            self._shard = None
            if not self.unclean:
                (self._path / _CLEAN).touch()
        self._thread.shutdown()

    async def _update(self, operation: UpdateOperation) -> None:
        def work(shard: EdgeShard) -> None:
            shard.update(operation)
            self._forget_old_counts(shard.count(CountRequest(exact=False)))

        await self._do(work)

    async def _do[T](self, work: Callable[[EdgeShard], T]) -> T:
        shard = self._shard
        if shard is None:
            raise UnavailableError("vectors", "the store is closed")
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, work, shard)
        except Exception as error:
            raise UnavailableError("vectors", f"Qdrant Edge: {error}") from error


def _config(size: int) -> EdgeConfig:
    # m = 0: no HNSW graph. An exact scan takes milliseconds at this store's sizes, and filters stay exact.
    # Turbo8 is a byte a dimension: scores are right to .001, and it is scanned five times as fast as Float16.
    flat = HnswIndexConfig(m=0, ef_construct=4, full_scan_threshold=10_000)
    dense = EdgeVectorParams(size, Distance.Dot, datatype=VectorStorageDatatype.Turbo8, hnsw_config=flat)
    return EdgeConfig(vectors={_DENSE: dense}, sparse_vectors={_SPARSE: EdgeSparseVectorParams(modifier=Modifier.Idf)})


def _create_indexes(shard: EdgeShard) -> None:
    create = UpdateOperation.create_field_index
    for field in KEYWORDS:
        shard.update(create(field, KeywordIndexParams(is_tenant=field == TENANT)))
    for field in INSTANTS:
        shard.update(create(field, IntegerIndexParams(lookup=False, range=True)))
    for field in FLAGS:
        shard.update(create(field, IntegerIndexParams(lookup=True, range=False)))


def _edge_point(point: Point) -> EdgePoint:
    vectors: dict[str, list[float] | EdgeSparseVector] = {_DENSE: point.dense.tolist()}
    if point.sparse is not None:
        vectors[_SPARSE] = EdgeSparseVector(list(point.sparse.indices), list(point.sparse.values))
    return EdgePoint(point.id, vectors, dict(point.payload))  # type: ignore[arg-type]


def _nearest(query: VectorQuery | ScoreQuery) -> Query | None:
    """Return what the engine searches by; None for a sparse vector without a term."""
    if query.dense is not None:
        return Query.Nearest(query.dense.tolist(), using=_DENSE)
    if query.sparse is None or not query.sparse.indices:
        return None
    return Query.Nearest(EdgeSparseVector(list(query.sparse.indices), list(query.sparse.values)), using=_SPARSE)


def _scores(shard: EdgeShard, query: ScoreQuery) -> dict[str, float]:
    nearest = _nearest(query)
    if nearest is None or not query.ids:
        return {}
    chosen = Filter(must=[HasIdCondition(set(query.ids))])
    request = QueryRequest(len(query.ids), query=nearest, filter=chosen, with_payload=False)
    return {str(hit.id): hit.score for hit in shard.query(request)}


def _matches_any(shard: EdgeShard, condition: EdgeCondition) -> bool:
    """Tell whether any point matches. Counting by an index that holds nothing takes microseconds."""
    if not isinstance(condition, FieldCondition) or condition.range is None:
        return True
    return shard.count(CountRequest(filter=Filter(must=[condition]), exact=True)) > 0


def _probe_idf(shard: EdgeShard, terms: Sequence[int]) -> list[float]:
    if not terms:
        return []
    requests = [
        QueryRequest(1, query=Query.Nearest(EdgeSparseVector([term], [1.0]), using=_SPARSE), with_vector=[_SPARSE])
        for term in terms
    ]
    values: list[float] = []
    for term, hits in zip(terms, shard.query_batch(QueryBatchRequest(requests)), strict=True):
        if not hits:
            values.append(0.0)
            continue
        vector = hits[0].vector[_SPARSE]  # type: ignore[index, call-overload]
        weight = dict(zip(vector.indices, vector.values, strict=True))[term]  # type: ignore[union-attr]
        values.append(hits[0].score / weight)
    return values
