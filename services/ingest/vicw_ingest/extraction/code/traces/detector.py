"""Find the stack traces of a text."""

from __future__ import annotations

from vicw_ingest.extraction.code.traces.ats import parse_frames_below
from vicw_ingest.extraction.code.traces.lines import split_lines
from vicw_ingest.extraction.code.traces.model import StackTrace
from vicw_ingest.extraction.code.traces.python import parse_python
from vicw_ingest.extraction.code.traces.systems import parse_go, parse_ruby, parse_rust

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
