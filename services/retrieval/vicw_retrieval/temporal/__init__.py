"""When a question asks about: its times and events (``reading``), and what they make of items (``weighing``)."""

from vicw_retrieval.temporal.event_anchors import AnchorSide, EventAnchor
from vicw_retrieval.temporal.query_analyzer import TimeReading, read_time
from vicw_retrieval.temporal.spans import SpanRelation, TimeSpan
from vicw_retrieval.temporal.time_weights import Moment, Standing, Weight, weigh

__all__ = [
    "AnchorSide",
    "EventAnchor",
    "Moment",
    "SpanRelation",
    "Standing",
    "TimeReading",
    "TimeSpan",
    "Weight",
    "read_time",
    "weigh",
]
