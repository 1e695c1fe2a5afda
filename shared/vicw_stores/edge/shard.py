"""One shard of Qdrant Edge: the points of one node label. All calls block and hold the GIL."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray
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
    HasVectorCondition,
    HnswIndexConfig,
    IntegerIndexParams,
    IsEmptyCondition,
    IsNullCondition,
    KeywordIndexParams,
    MatchAny,
    MatchValue,
    NestedCondition,
    PointVectors,
    Query,
    QueryRequest,
    RangeFloat,
    ScoredPoint,
    ScrollRequest,
    UpdateOperation,
    VectorStorageDatatype,
)
from qdrant_edge import Point as EdgePoint
from qdrant_edge import SparseVector as EdgeSparseVector

from vicw_shared.ports import Point, ScoreQuery, SparseVector, VectorHit, VectorQuery
from vicw_stores.conditions import (
    DOMAIN,
    FLAGS,
    INSTANTS,
    KEYWORDS,
    LABEL,
    TENANT,
    After,
    AnyOf,
    Condition,
    Group,
    Is,
    Until,
    items_condition,
    public_conditions,
    scope_conditions,
    tenant_condition,
)

_DENSE, _SPARSE = "dense", "bm25"
_NOT_ASKED = {LABEL, "node_id", "flow_id", "bucket"}
"""Fields that no search here has a condition on, since labels have a shard each: an index costs 4 MB and a write."""
_BEFORE_ALL = -1e18
"""Milliseconds since 1970: before every instant."""


class Shard:
    """Points in a folder, with cached statistics over all of them."""

    def __init__(self, edge: EdgeShard, *, weighs_terms: bool = False) -> None:
        self._edge = edge
        _create_indexes(edge)  # an earlier program had fewer fields
        self._tenants = {str(hit.value) for hit in edge.facet(FacetRequest(TENANT, 10_000, True)).hits}
        self.weighs_terms = weighs_terms
        """Whether the engine multiplies by an IDF of its own, as earlier programs had it."""
        self._domains: dict[tuple[str, bool], dict[str, int]] = {}
        self._empty: dict[str, bool] = {}
        self._counted_points = 0

    @staticmethod
    def exists(path: Path) -> bool:
        """Return whether there is a shard at ``path``."""
        return (path / "segments").exists()

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open the shard at ``path``."""
        return cls(EdgeShard.load(str(path)), weighs_terms=_weighs_terms(path))

    @classmethod
    def create(cls, path: Path, size: int) -> Self:
        """Create an empty shard for vectors of ``size`` dimensions in a new folder, and return it open."""
        path.mkdir(mode=0o700)
        return cls(EdgeShard.create(str(path), _config(size)))

    def upsert(self, points: Sequence[Point]) -> None:
        self._tenants.update(str(point.payload[TENANT]) for point in points)
        self._update(UpdateOperation.upsert_points([_edge_point(point) for point in points]))

    def set_payload(self, payloads: Mapping[str, Mapping[str, object]]) -> None:
        for point in self.present(list(payloads)):
            self._edge.update(UpdateOperation.overwrite_payload([point], dict(payloads[point])))
        self._empty.clear()

    def set_sparse(self, vectors: Mapping[str, SparseVector]) -> None:
        changes = [PointVectors(uid, {_SPARSE: _edge_sparse(vectors[uid])}) for uid in self.present(list(vectors))]
        if changes:
            self._edge.update(UpdateOperation.update_vectors(changes))

    def delete(self, ids: Sequence[str]) -> None:
        self._update(UpdateOperation.delete_points(list(ids)))

    def search(self, query: VectorQuery) -> list[VectorHit]:
        nearest = self._nearest(query)
        if nearest is None or query.scope.tenant not in self._tenants:
            return []
        request = QueryRequest(query.limit, query=nearest, filter=self._filter(query), with_payload=False)
        return [VectorHit(_id_of(hit), hit.score) for hit in self._edge.query(request)]

    def score(self, query: ScoreQuery) -> dict[str, float]:
        nearest = self._nearest(query)
        if nearest is None or not query.ids:
            return {}
        chosen = Filter(must=[HasIdCondition(set(query.ids))])
        request = QueryRequest(len(query.ids), query=nearest, filter=chosen, with_payload=False)
        return {_id_of(hit): hit.score for hit in self._edge.query(request)}

    def domains(self, tenant: str, *, public: bool) -> dict[str, int]:
        if (tenant, public) not in self._domains:
            conditions = edge_conditions([*self._tenant_conditions(tenant), *(public_conditions() if public else ())])
            request = FacetRequest(DOMAIN, 1000, False, Filter(must=conditions) if conditions else None)
            self._domains[tenant, public] = {str(hit.value): hit.count for hit in self._edge.facet(request).hits}
        return dict(self._domains[tenant, public])

    def payloads(self, ids: Sequence[str]) -> dict[str, Mapping[str, object]]:
        return {str(record.id): record.payload or {} for record in self._edge.retrieve(list(ids), True, False)}

    def dense(self, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        dense: dict[str, NDArray[np.float32]] = {}
        for record in self._edge.retrieve(list(ids), False, True):
            vectors = record.vector
            if isinstance(vectors, dict) and _DENSE in vectors:
                dense[str(record.id)] = np.asarray(vectors[_DENSE], np.float32)
        return dense

    def terms(self, ids: Sequence[str]) -> dict[str, frozenset[int]]:
        terms: dict[str, frozenset[int]] = {}
        for record in self._edge.retrieve(list(ids), False, [_SPARSE]):
            vectors = record.vector
            if isinstance(vectors, dict) and isinstance(words := vectors.get(_SPARSE), EdgeSparseVector):
                terms[str(record.id)] = frozenset(words.indices)
        return terms

    def points(self, ids: Sequence[str]) -> list[Point]:
        """Return the existing points among these, as stored."""
        return [
            _point(record.id, record.vector, record.payload) for record in self._edge.retrieve(list(ids), True, True)
        ]

    def present(self, ids: Sequence[str]) -> set[str]:
        return {str(record.id) for record in self._edge.retrieve(list(ids), False, False)}

    def ids(self, after: str | None, limit: int) -> list[str]:
        """Return ids in ascending order, without ``after``, with which the engine begins."""
        request = ScrollRequest(after, limit + 1, with_payload=False, with_vector=False)
        records, _ = self._edge.scroll(request)
        return [str(record.id) for record in records if str(record.id) != after][:limit]

    def close(self) -> None:
        self._edge.close()

    def _update(self, operation: UpdateOperation) -> None:
        self._edge.update(operation)
        self._empty.clear()
        # Counts are cached until the shard has changed by one percent.
        points = self._edge.count(CountRequest(exact=False))
        if abs(points - self._counted_points) > self._counted_points // 100:
            self._domains.clear()
            self._counted_points = points

    def _nearest(self, query: VectorQuery | ScoreQuery) -> Query | None:
        """Return the vector to search by; None for a sparse vector without terms."""
        if query.dense is not None:
            return Query.Nearest(query.dense.tolist(), using=_DENSE)
        if query.sparse is None or not query.sparse.indices:
            return None
        terms = query.sparse.indices
        values = (1.0,) * len(terms) if self.weighs_terms else query.sparse.values
        return Query.Nearest(_edge_sparse(SparseVector(terms, values)), using=_SPARSE)

    def _filter(self, query: VectorQuery) -> Filter | None:
        """Build the filter; omit conditions that every point meets, since each costs a pass over all points."""
        group = scope_conditions(query.scope)
        must = edge_conditions([*group.must, *self._tenant_conditions(query.scope.tenant)])
        must_not = [condition for condition in edge_conditions(group.must_not) if not self._matches_no_point(condition)]
        if query.without:
            must_not += edge_conditions([items_condition(query.without)])
        return Filter(must=must, must_not=must_not) if must or must_not else None

    def _tenant_conditions(self, tenant: str) -> list[Condition]:
        """Return the conditions that separate the tenant's points from other tenants'; none if there is only one."""
        return [] if self._tenants == {tenant} else [tenant_condition(tenant)]

    def _matches_no_point(self, condition: EdgeCondition) -> bool:
        """Return whether a condition on an instant can match no point, since no point has the field."""
        if not isinstance(condition, FieldCondition) or condition.range is None:
            return False
        field = condition.key
        if field not in self._empty:
            has_instant = Filter(must=[FieldCondition(field, range=RangeFloat(gte=_BEFORE_ALL))])
            self._empty[field] = self._edge.count(CountRequest(filter=has_instant, exact=True)) == 0
        return self._empty[field]


def _weighs_terms(path: Path) -> bool:
    config = json.loads((path / "edge_config.json").read_text())
    sparse = (config.get("sparse_vectors") or {}).get(_SPARSE) or {}
    return sparse.get("modifier") == "idf"


def _config(size: int) -> EdgeConfig:
    # m = 0: no HNSW graph. An exact scan takes milliseconds at this store's sizes, and filters stay exact.
    # Turbo8 takes one byte per dimension: scores are exact to .001, and a scan is five times as fast as with Float16.
    flat = HnswIndexConfig(m=0, ef_construct=4, full_scan_threshold=10_000)
    dense = EdgeVectorParams(size, Distance.Dot, datatype=VectorStorageDatatype.Turbo8, hnsw_config=flat)
    return EdgeConfig(vectors={_DENSE: dense}, sparse_vectors={_SPARSE: EdgeSparseVectorParams()})


def _create_indexes(shard: EdgeShard) -> None:
    create, known = UpdateOperation.create_field_index, shard.info().payload_schema
    params: dict[str, KeywordIndexParams | IntegerIndexParams]
    params = {field: KeywordIndexParams(is_tenant=field == TENANT) for field in KEYWORDS if field not in _NOT_ASKED}
    params |= {field: IntegerIndexParams(lookup=False, range=True) for field in INSTANTS}
    params |= {field: IntegerIndexParams(lookup=True, range=False) for field in FLAGS}
    for field in params.keys() - known.keys():
        shard.update(create(field, params[field]))


def _id_of(hit: ScoredPoint) -> str:
    """Parse a hit's id from its text form, ``ScoredPoint(id="…", …)``.

    ``hit.id`` builds a UUID that then has to be formatted: this takes four times as long, for 600 hits a question.
    """
    return repr(hit).split('"', 2)[1]


def _edge_point(point: Point) -> EdgePoint:
    vectors: dict[str, list[float] | EdgeSparseVector] = {}
    if point.dense is not None:
        vectors[_DENSE] = point.dense.tolist()
    if point.sparse is not None:
        vectors[_SPARSE] = _edge_sparse(point.sparse)
    return EdgePoint(point.id, vectors, dict(point.payload))  # type: ignore[arg-type]


def _edge_sparse(vector: SparseVector) -> EdgeSparseVector:
    return EdgeSparseVector(list(vector.indices), list(vector.values))


def _point(uid: object, vectors: object, payload: Mapping[str, object] | None) -> Point:
    named_vectors = vectors if isinstance(vectors, dict) else {}
    dense, sparse = named_vectors.get(_DENSE), named_vectors.get(_SPARSE)
    return Point(
        str(uid),
        np.asarray(dense, np.float32) if dense is not None else None,
        SparseVector(tuple(sparse.indices), tuple(sparse.values)) if sparse is not None else None,
        payload or {},
    )


EdgeCondition = (
    FieldCondition | IsEmptyCondition | IsNullCondition | HasIdCondition | HasVectorCondition | NestedCondition | Filter
)


def edge_conditions(conditions: Sequence[Condition]) -> list[EdgeCondition]:
    """Translate the conditions for the engine, in the same order."""
    return [_edge_condition(condition) for condition in conditions]


def _edge_condition(condition: Condition) -> EdgeCondition:
    match condition:
        case Is(field, value):
            return FieldCondition(field, match=MatchValue(value))
        case AnyOf(field, values):
            return FieldCondition(field, match=MatchAny(list(values)))
        case Until(field, instant):
            return FieldCondition(field, range=RangeFloat(lte=float(instant)))
        case After(field, instant):
            return FieldCondition(field, range=RangeFloat(gt=float(instant)))
        case Group(must, must_not, should):
            return Filter(
                must=edge_conditions(must) or None,
                must_not=edge_conditions(must_not) or None,
                should=edge_conditions(should) or None,
            )
