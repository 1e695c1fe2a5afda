"""Stack trace parsing: failures, their frames and their causes."""

from vicw_ingest.extraction.code.traces.detector import parse_traces
from vicw_ingest.extraction.code.traces.model import FailureLink, StackTrace, TracedFailure, TraceFrame

__all__ = ["FailureLink", "StackTrace", "TraceFrame", "TracedFailure", "parse_traces"]
