"""Stack traces as programs print them: what failed, where, and what brought it about."""

from vicw_ingest.extraction.code.traces.model import Failure, Link, StackTrace, TraceFrame
from vicw_ingest.extraction.code.traces.reading import read_trace

__all__ = ["Failure", "Link", "StackTrace", "TraceFrame", "read_trace"]
