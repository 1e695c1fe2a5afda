"""Stack traces as programs print them: what failed, where, and what brought it about."""

from vicw_ingest.extraction.code.traces.detector import read_trace
from vicw_ingest.extraction.code.traces.model import Failure, Link, StackTrace, TraceFrame

__all__ = ["Failure", "Link", "StackTrace", "TraceFrame", "read_trace"]
