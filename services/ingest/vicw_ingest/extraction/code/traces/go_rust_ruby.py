"""Parse panics of Go and Rust, and Ruby traces."""

from __future__ import annotations

import re
from collections.abc import Sequence

from vicw_ingest.extraction.code.traces.lines import FailureDraft, TraceLine, frame_of, trace_of
from vicw_ingest.extraction.code.traces.model import StackTrace

ParsedTrace = tuple[StackTrace, int] | None

_GO_HEAD = re.compile(r"(?:.*\s)?(?P<error>panic|fatal error): (?P<message>.*)$")
_GO_ROUTINE = re.compile(r"goroutine \d+ (?:gp=\S+ m=\S+ (?:mp=\S+ )?)?\[[^\]]*\]:$")
_GO_FUNCTION = re.compile(r"(?:created by )?(?P<function>[\w./*()\[\]-]+?)(?:\([^()]*\)| in goroutine \d+)?$")
_GO_PLACE = re.compile(r"(?P<file>\S.*?\.(?:go|s)):(?P<line>\d+)(?: \+0x[0-9a-f]+)?$")
_GO_RUNTIME = re.compile(r"(?P<error>runtime error): (?P<message>.*)")
_GO_ABOVE = 8
"""Limit on the lines between a panic and its goroutine: further panics, the signal, a blank line."""

_RUST_HEAD = re.compile(
    r"(?:[^']*\s)?thread '[^']*'(?: \(\d+\))? panicked at (?:'(?P<message>.*)', )?"
    r"(?P<file>[^\s':]\S*?):(?P<line>\d+):\d+:?$"
)
_RUST_FRAME = re.compile(r"\d+:\s+(?:0x[0-9a-f]+ - )?(?P<function>\S.*)$")
_RUST_PLACE = re.compile(r"at (?P<file>\S.*?):(?P<line>\d+)(?::\d+)?$")
_RUST_HASH = re.compile(r"::h[0-9a-f]{16}$")
_RUST_BACKTRACE = "stack backtrace:"
_RUST_MESSAGE_LINES = 20

_RUBY_PLACE = r"(?P<file>[^\s:][^:\n]*|[A-Za-z]:[^:\n]+):(?P<line>\d+):in [`'](?P<function>[^']*)'"
_RUBY_HEAD = re.compile(_RUBY_PLACE + r": (?P<message>.*?) ?\((?P<error>[A-Z]\w*(?:::\w+)*)\)$")
_RUBY_FRAME = re.compile(r"(?:\d+: )?from " + _RUBY_PLACE + "$")
_RUBY_MORE = re.compile(r"\s*\.\.\. \d{1,9} levels\.\.\.")


def parse_go(lines: Sequence[TraceLine], at: int) -> ParsedTrace:
    """Return the panic that starts at this line, and the number of the line after its goroutine; else None."""
    head = _GO_HEAD.match(lines[at].text)
    if not head:
        return None
    routine = next(
        (n for n in range(at + 1, min(at + _GO_ABOVE, len(lines))) if _GO_ROUTINE.match(lines[n].text)), None
    )
    if routine is None:
        return None
    draft = FailureDraft(head["error"], head["message"], lines[at].start, lines[routine].end)
    if runtime_error := _GO_RUNTIME.match(draft.message):
        draft.error, draft.message = runtime_error["error"], runtime_error["message"]
    n = routine + 1
    while n + 1 < len(lines):
        function, place = _GO_FUNCTION.match(lines[n].text), _GO_PLACE.match(lines[n + 1].text)
        if not function or not place:
            break
        draft.frames.append(frame_of("go", function["function"], place["file"], place["line"]))
        draft.end = lines[n + 1].end
        n += 2
    trace = trace_of("go", [draft])
    return (trace, n) if trace else None


def parse_rust(lines: Sequence[TraceLine], at: int) -> ParsedTrace:
    """Return the panic that starts at this line, and the number of the line after its backtrace; else None."""
    head = _RUST_HEAD.match(lines[at].text)
    if not head:
        return None
    draft = FailureDraft("panic", head["message"] or "", lines[at].start, lines[at].end)
    n = at + 1
    if head["message"] is None:
        n = _rust_message(lines, n, draft)
    if n < len(lines) and lines[n].text == _RUST_BACKTRACE:
        n = _rust_frames(lines, n + 1, draft)
    if not any(frame.file and frame.file.removeprefix("./") == head["file"] for frame in draft.frames):
        draft.frames.insert(0, frame_of("rust", None, head["file"], head["line"]))
    trace = trace_of("rust", [draft])
    return (trace, n) if trace else None


def _rust_message(lines: Sequence[TraceLine], n: int, draft: FailureDraft) -> int:
    """Set the message from the lines below the header, up to the backtrace, else from one; return the line after it."""
    last = min(n + _RUST_MESSAGE_LINES, len(lines))
    stop = next((m for m in range(n, last) if lines[m].text == _RUST_BACKTRACE), min(n + 1, len(lines)))
    draft.message = "\n".join(line.text for line in lines[n:stop])
    draft.end = lines[stop - 1].end
    return stop


def _rust_frames(lines: Sequence[TraceLine], n: int, draft: FailureDraft) -> int:
    while n < len(lines) and (frame := _RUST_FRAME.match(lines[n].text)):
        place = _RUST_PLACE.match(lines[n + 1].text) if n + 1 < len(lines) else None
        file, line = (place["file"], place["line"]) if place else (None, None)
        draft.frames.append(frame_of("rust", _RUST_HASH.sub("", frame["function"]), file, line))
        n += 2 if place else 1
        draft.end = lines[n - 1].end
    return n


def parse_ruby(lines: Sequence[TraceLine], at: int) -> ParsedTrace:
    """Return the trace that starts at this line, and the number of the line after it; else None. Causes follow it."""
    drafts = []
    n = at
    while n < len(lines) and (head := _RUBY_HEAD.match(lines[n].text)):
        draft = FailureDraft(head["error"], head["message"], lines[n].start, lines[n].end)
        draft.frames.append(frame_of("ruby", head["function"], head["file"], head["line"]))
        n += 1
        while n < len(lines):
            if frame := _RUBY_FRAME.match(lines[n].text):
                draft.frames.append(frame_of("ruby", frame["function"], frame["file"], frame["line"]))
            elif not _RUBY_MORE.match(lines[n].text):
                break
            draft.end = lines[n].end
            n += 1
        drafts.append(draft)
    trace = trace_of("ruby", drafts)
    return (trace, n) if trace else None
