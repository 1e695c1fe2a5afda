"""Layout of a collection: vectors, indexes, limits. Changes here apply to new collections."""

from __future__ import annotations

from qdrant_client.models import (
    Distance,
    HnswConfigDiff,
    IntegerIndexParams,
    IntegerIndexType,
    KeywordIndexParams,
    KeywordIndexType,
    Modifier,
    ScalarQuantization,
    ScalarQuantizationConfig,
    ScalarType,
    SparseVectorParams,
    StrictModeConfig,
    VectorParams,
)

from vicw_stores.conditions import CONTEXT, FLAGS, INSTANTS, ITEM, KEYWORDS, TENANT

DENSE, SPARSE = "dense", "bm25"
OVERSAMPLING = 2.0
"""A search fetches this multiple of its limit by the quantized vectors in RAM, then rescores with the originals."""
MAX_LIMIT = 10_000
"""Maximum number of hits, ids or values in one request."""
MAX_BATCH = 64
"""Maximum number of searches or points in one request."""

_SCANNED = 20_000
"""If fewer vectors of a segment pass a filter, all of them are compared instead of following the HNSW graph."""
_BYTES = 4
"""Bytes per dimension of the originals; the server measures the scan threshold in KiB of them."""

# Fields with almost as many values as points, on which few searches filter: their index need not be in RAM.
_RARELY_ASKED = ("node_id", ITEM, "flow_id")


def dense_params(size: int) -> VectorParams:
    """Return the parameters of dense vectors of ``size`` dimensions.

    One byte per dimension stays in RAM; the originals are read from disk for the few best. Vectors have unit length, so
    the dot product is the cosine.
    """
    # Every search is filtered, by tenant at least. A filter that lets a tenth of an HNSW graph's points pass cuts the
    # graph to pieces, and hits are lost silently. So up to a size all points that pass are compared, which is exact
    # and, with a byte per dimension, as fast as the graph; above it the search crosses gaps (`acorn`, see store.py).
    # `acorn` needs a graph of all points, which the usual advice for many tenants excludes (m=0 and a graph for each).
    # A tenant or a context that is large, but a small part of the collection, has links of its own, too (`payload_m`).
    graph = HnswConfigDiff(m=16, payload_m=16, full_scan_threshold=_SCANNED * size * _BYTES // 1024)
    return VectorParams(
        size=size,
        distance=Distance.DOT,
        on_disk=True,
        quantization_config=ScalarQuantization(
            scalar=ScalarQuantizationConfig(type=ScalarType.INT8, quantile=0.99, always_ram=True)
        ),
        hnsw_config=graph,
    )


def sparse_params() -> SparseVectorParams:
    """Return the parameters of the BM25 vectors: the query brings the weights of its terms along."""
    return SparseVectorParams(modifier=Modifier.NONE)


def indexes() -> dict[str, KeywordIndexParams | IntegerIndexParams]:
    """Return the index of every field that filters use."""
    keywords = {
        field: KeywordIndexParams(
            type=KeywordIndexType.KEYWORD,
            is_tenant=field == TENANT,
            enable_hnsw=field in {TENANT, CONTEXT},
            on_disk=field in _RARELY_ASKED,
        )
        for field in KEYWORDS
    }
    instants = {
        field: IntegerIndexParams(type=IntegerIndexType.INTEGER, lookup=False, range=True, enable_hnsw=False)
        for field in INSTANTS
    }
    flags = {
        field: IntegerIndexParams(type=IntegerIndexType.INTEGER, lookup=True, range=False, enable_hnsw=False)
        for field in FLAGS
    }
    return {**keywords, **instants, **flags}


def strict_mode() -> StrictModeConfig:
    """Return limits that stop a faulty request of VICW before it harms the server.

    A filter on a field without an index would read every payload from disk. The ingest API limits the size of one
    payload: the server can only limit that of a whole collection.
    """
    return StrictModeConfig(
        enabled=True,
        unindexed_filtering_retrieve=False,
        unindexed_filtering_update=False,
        max_query_limit=MAX_LIMIT,
        condition_max_size=MAX_LIMIT,
        filter_max_conditions=256,
        search_max_oversampling=2 * OVERSAMPLING,
        search_max_batchsize=2 * MAX_BATCH,
        upsert_max_batchsize=2 * MAX_BATCH,
    )
