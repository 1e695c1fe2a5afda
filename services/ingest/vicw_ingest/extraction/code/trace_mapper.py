"""Map stack traces to a TextExtraction: failures, their causes and their places in the code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from vicw_ingest.extraction.code.traces.detector import read_trace
from vicw_ingest.extraction.code.traces.model import FailureLink as Brought
from vicw_ingest.extraction.code.traces.model import StackTrace, TracedFailure, TraceFrame
from vicw_ingest.extraction.model import ExtractedEntity, ExtractedEvent, ExtractedRelation, TextExtraction
from vicw_shared.model import Label

_RULE = "rules:trace"
_CERTAINTY = {Brought.CAUSED: 0.95, Brought.DURING: 0.6}
_MAY_HOLD_ONE = re.compile(r"Traceback|^\s+at \S|goroutine \d|panicked at|:in [`']", re.MULTILINE)
_MOST_NAME = 300


def traces_in(text: str) -> list[StackTrace]:
    """Return the stack traces of a text; a quick test skips most texts without one."""
    return read_trace(text) if _MAY_HOLD_ONE.search(text) else []


def map_traces(traces: Sequence[StackTrace]) -> TextExtraction:
    """Return ``error`` events, with CAUSED relations between them, RELATED_TO the places where they occurred."""
    reading = TextExtraction()
    for number, trace in enumerate(traces):
        keys = [f"trace {number} failure {place}" for place in range(len(trace.failures))]
        for key, failure in zip(keys, trace.failures, strict=True):
            name = f"{failure.error}: {failure.message}".removesuffix(": ")[:_MOST_NAME]
            reading.happenings.append(ExtractedEvent(key, name, "error", failure.span))
            reading.links += _where(key, failure, reading)
        for (key, before), failure in zip(pairwise(keys), trace.failures, strict=False):
            if failure.link is not None:
                reading.links.append(
                    ExtractedRelation(before, "CAUSED", key, _RULE, certainty=_CERTAINTY[failure.link])
                )
    return reading


def _where(key: str, failure: TracedFailure, reading: TextExtraction) -> Iterator[ExtractedRelation]:
    for place, frame in enumerate(frame for frame in failure.frames if not frame.library):
        function = _thing(f"{key} function {place}", frame.function, "symbol", failure, reading)
        file = _thing(f"{key} file {place}", _path(frame), "file", failure, reading)
        end = function or file
        if end is not None:
            own = place == 0
            yield ExtractedRelation(
                key, "RELATED_TO" if own else "MENTIONS", end, _RULE, desc="failed in" if own else None
            )
        if function is not None and file is not None:
            yield ExtractedRelation(file, "CONTAINS", function, _RULE)


def _path(frame: TraceFrame) -> str | None:
    return frame.file.replace("\\", "/") if frame.file is not None else None


def _thing(key: str, name: str | None, kind: str, failure: TracedFailure, reading: TextExtraction) -> str | None:
    """Add an entity named in a frame. ``<module>`` and other names in angle brackets are ignored."""
    if name is None or not name.strip() or name.startswith("<"):
        return None
    reading.things.append(ExtractedEntity(key, name[:_MOST_NAME], Label.ENTITY, kind, kind, failure.span))
    return key
