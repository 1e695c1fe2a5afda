"""Find the stack traces of a text, and map them to a TextExtraction: failures, their causes and places in the code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from vicw_ingest.extraction.code.traces.go_rust_ruby import parse_go, parse_ruby, parse_rust
from vicw_ingest.extraction.code.traces.jvm_javascript_dotnet import parse_frames_below
from vicw_ingest.extraction.code.traces.lines import split_lines
from vicw_ingest.extraction.code.traces.model import FailureLink, StackTrace, TracedFailure, TraceFrame
from vicw_ingest.extraction.code.traces.python import parse_python
from vicw_shared.model import Label
from vicw_shared.model.extraction import ExtractedEntity, ExtractedEvent, ExtractedRelation, TextExtraction

MAX_TRACES = 200
_PARSERS = (parse_python, parse_go, parse_rust, parse_ruby)


def parse_traces(text: str) -> list[StackTrace]:
    """Return the stack traces in a text, in order, none inside another; at most ``MAX_TRACES``.

    They may be surrounded by prose or log lines, indented or quoted. Frames without a header are no trace, nor is a
    header without frames, except in Rust and Ruby, whose headers have a place. Raises nothing.
    """
    lines = split_lines(text)
    traces: list[StackTrace] = []
    at = floor = 0
    while at < len(lines) and len(traces) < MAX_TRACES:
        parsed = next((result for reader in _PARSERS if (result := reader(lines, at))), None)
        parsed = parsed or parse_frames_below(lines, at, floor)
        if parsed:
            trace, following = parsed
            traces.append(trace)
            at = floor = max(following, at + 1)
        else:
            at += 1
    return traces


_RULE = "rules:trace"
_CERTAINTY = {FailureLink.CAUSED: 0.95, FailureLink.DURING: 0.6}
_TRACE_SIGN = re.compile(r"Traceback|^\s+at \S|goroutine \d|panicked at|:in [`']", re.MULTILINE)
_MAX_NAME = 300


def traces_in(text: str) -> list[StackTrace]:
    """Return the stack traces of a text; a quick test skips most texts without one."""
    return parse_traces(text) if _TRACE_SIGN.search(text) else []


def map_traces(traces: Sequence[StackTrace]) -> TextExtraction:
    """Return ``error`` events, with CAUSED relations between them, RELATED_TO the places where they occurred."""
    extraction = TextExtraction()
    for number, trace in enumerate(traces):
        keys = [f"trace {number} failure {place}" for place in range(len(trace.failures))]
        for key, failure in zip(keys, trace.failures, strict=True):
            name = f"{failure.error}: {failure.message}".removesuffix(": ")[:_MAX_NAME]
            extraction.events.append(ExtractedEvent(key, name, "error", failure.span))
            extraction.relations += _frame_relations(key, failure, extraction)
        for (key, cause_key), failure in zip(pairwise(keys), trace.failures, strict=False):
            if failure.link is not None:
                extraction.relations.append(
                    ExtractedRelation(cause_key, "CAUSED", key, _RULE, certainty=_CERTAINTY[failure.link])
                )
    return extraction


def _frame_relations(key: str, failure: TracedFailure, extraction: TextExtraction) -> Iterator[ExtractedRelation]:
    for place, frame in enumerate(frame for frame in failure.frames if not frame.library):
        function = _add_entity(f"{key} function {place}", frame.function, "symbol", failure, extraction)
        file = _add_entity(f"{key} file {place}", _path(frame), "file", failure, extraction)
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


def _add_entity(
    key: str, name: str | None, kind: str, failure: TracedFailure, extraction: TextExtraction
) -> str | None:
    """Add an entity named in a frame. ``<module>`` and other names in angle brackets are ignored."""
    if name is None or not name.strip() or name.startswith("<"):
        return None
    extraction.entities.append(ExtractedEntity(key, name[:_MAX_NAME], Label.ENTITY, kind, kind, failure.span))
    return key
