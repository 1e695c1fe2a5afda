"""Prometheus metrics of the lanes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from prometheus_client import Counter, Gauge, Histogram

from vicw_shared.ports.embedder import Lane
from vicw_shared.telemetry.stages import SECONDS as BOUNDS

if TYPE_CHECKING:
    from vicw_embedding.engine.engine import Engine

TEXTS = Counter("vicw_embedding_texts_total", "Texts embedded", ["lane"])
TOKENS = Counter("vicw_embedding_tokens_total", "Tokens read by the model, special ones included", ["lane"])
COMPUTING = Counter("vicw_embedding_compute_seconds_total", "Time spent inside the model", ["lane"])
SECONDS = Histogram(
    "vicw_embedding_request_seconds", "Time to embed the texts of a request, waiting included", ["lane"], buckets=BOUNDS
)
REJECTED = Counter("vicw_embedding_rejected_total", "Requests refused since too many texts wait", ["lane"])
BATCH = Histogram(
    "vicw_embedding_batch_sequences",
    "Texts, or windows of long ones, in a batch",
    ["lane"],
    buckets=(1, 2, 4, 8, 16, 32, 64),
)
QUEUE = Gauge("vicw_embedding_queue_texts", "Texts accepted and not yet answered", ["lane"])


def observe_batch(lane: Lane, sequences: int, tokens: int, seconds: float) -> None:
    """Count a computed batch. Called on the lane's thread."""
    BATCH.labels(lane.value).observe(sequences)
    TOKENS.labels(lane.value).inc(tokens)
    COMPUTING.labels(lane.value).inc(seconds)


def watch(engine: Engine) -> None:
    """Connect the queue gauges to the engine."""
    for lane in Lane:
        QUEUE.labels(lane.value).set_function(partial(engine.waiting, lane))
