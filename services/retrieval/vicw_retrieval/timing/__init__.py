"""When a question asks about: its times and events (``reading``), and what they make of items (``weighing``)."""

from vicw_retrieval.timing.anchors import Anchor, Direction
from vicw_retrieval.timing.reading import TimeReading, read_time
from vicw_retrieval.timing.spans import Kind, TimeSpan
from vicw_retrieval.timing.weighing import Moment, Standing, Weight, weigh

__all__ = [
    "Anchor",
    "Direction",
    "Kind",
    "Moment",
    "Standing",
    "TimeReading",
    "TimeSpan",
    "Weight",
    "read_time",
    "weigh",
]
