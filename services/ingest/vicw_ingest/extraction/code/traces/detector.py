"""Find the stack traces of a text."""

from __future__ import annotations

from vicw_ingest.extraction.code.traces.ats import read_frames_below
from vicw_ingest.extraction.code.traces.lines import cut
from vicw_ingest.extraction.code.traces.model import StackTrace
from vicw_ingest.extraction.code.traces.python import read_python
from vicw_ingest.extraction.code.traces.systems import read_go, read_ruby, read_rust

MAX_TRACES = 200
_READERS = (read_python, read_go, read_rust, read_ruby)


def read_trace(text: str) -> list[StackTrace]:
    """Return the stack traces in a text, in order, none inside another; at most ``MAX_TRACES``.

    They may be surrounded by prose or log lines, indented or quoted. Frames without a header are no trace, nor is a
    header without frames, except in Rust and Ruby, whose headers have a place. Raises nothing.
    """
    lines = cut(text)
    found: list[StackTrace] = []
    at = behind = 0
    while at < len(lines) and len(found) < MAX_TRACES:
        read = next((got for reader in _READERS if (got := reader(lines, at))), None)
        read = read or read_frames_below(lines, at, behind)
        if read:
            trace, following = read
            found.append(trace)
            at = behind = max(following, at + 1)
        else:
            at += 1
    return found
