"""Shared parts of the trace parsers: the lines of a text, and drafts of failures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from vicw_ingest.extraction.code.traces.model import FailureLink, StackTrace, TracedFailure, TraceFrame
from vicw_shared.text import Span, lines_of

MAX_LINE = 2_000
"""Maximum characters of a line; the rest is ignored."""
MAX_MESSAGE = 1_000
MAX_FRAMES = 500
MAX_FAILURES = 50
_QUOTED = re.compile(r"[\s>|+]*")
_NO_MARK = re.compile(r"[>|+]")
_LIBRARY_FILE = re.compile(
    r"(?:^|[/\\])(?:site-packages|dist-packages|node_modules|gems|\.cargo[/\\]registry|rustc[/\\][0-9a-f]+|pkg[/\\]mod"
    r"|lib[/\\]python3?\.?\d*|lib[/\\]ruby|Python\d+[/\\]Lib|go[/\\]src|golang|vendor|rustlib)[/\\]"
    r"|^(?:<frozen |<internal:|node:|internal/|\[native|usr/lib/|/usr/lib/|/rustc/|library/(?:std|core|alloc)/)"
)
_LIBRARY_FUNCTION = {
    "java": re.compile(
        r"(?:java|javax|jdk|sun|com\.sun|kotlin|kotlinx|scala|groovy|jakarta|reactor|io\.netty"
        r"|org\.(?:springframework|apache|junit|hibernate|eclipse|gradle|mockito|testng|jetbrains))\."
    ),
    "csharp": re.compile(r"(?:System|Microsoft|Xunit|NUnit|Newtonsoft)\."),
    "go": re.compile(r"(?:runtime|net|testing|reflect|sync|os|io|fmt|encoding|database)(?:/\w+)*\.|panic$"),
    "rust": re.compile(r"<?(?:std|core|alloc|tokio|test)::|_?_rust|rust_begin|__libc|_start|main$"),
    "javascript": re.compile(
        r"(?:Module\._|Object\.Module\.|Function\.executeUserEntryPoint|processTicksAndRejections|Promise\.)"
    ),
}


@dataclass(frozen=True, slots=True)
class TraceLine:
    """A line without line break and quotation marks (``>``), its character range in the text, and its indentation."""

    text: str
    start: int
    end: int
    indent: int


@dataclass(slots=True)
class FailureDraft:
    """A failure while it is parsed."""

    error: str
    message: str
    start: int
    end: int
    frames: list[TraceFrame] = field(default_factory=list)
    link: FailureLink | None = None


def split_lines(text: str) -> list[TraceLine]:
    """Return the lines of a text."""
    lines = []
    start = 0
    for raw in lines_of(text):
        line = raw.rstrip("\r\n")[:MAX_LINE]
        margin = _QUOTED.match(line)
        blank = _NO_MARK.sub(" ", margin[0]).expandtabs(4) if margin else ""
        bare = line[margin.end() :] if margin else line
        lines.append(TraceLine(bare.rstrip(), start, start + len(line), len(blank)))
        start += len(raw)
    return lines


def frame_of(language: str, function: str | None, file: str | None, line: str | None) -> TraceFrame:
    """Return a frame, marked as library code if its file or function looks like it; ``line`` is as printed."""
    by_name = _LIBRARY_FUNCTION.get(language)
    library = bool(
        (file and _LIBRARY_FILE.search(file)) or (function and by_name and by_name.match(function.lstrip("*(")))
    )
    return TraceFrame(function or None, file or None, int(line) if line and len(line) < 10 else None, library)


def trace_of(language: str, drafts: Sequence[FailureDraft]) -> StackTrace | None:
    """Return the trace of these failures, outermost first, with their frames innermost first; None if there is none."""
    used = list(drafts[:MAX_FAILURES])
    if not used:
        return None
    failures = tuple(
        TracedFailure(
            draft.error,
            draft.message[:MAX_MESSAGE].strip(),
            tuple(draft.frames[:MAX_FRAMES]),
            (draft.link or FailureLink.CAUSED) if number + 1 < len(used) else None,
            Span(draft.start, draft.end),
        )
        for number, draft in enumerate(used)
    )
    return StackTrace(
        language, failures, Span(min(one.span.start for one in failures), max(one.span.end for one in failures))
    )
