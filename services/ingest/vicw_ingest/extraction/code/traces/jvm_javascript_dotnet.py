"""Parse traces whose frames follow the error, one per line: JVM, JavaScript and .NET."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from vicw_ingest.extraction.code.traces.lines import FailureDraft, TraceLine, frame_of, trace_of
from vicw_ingest.extraction.code.traces.model import StackTrace

_AT = r"(?:at|bei|à|в|en|in|em|w|場所|在|위치:)"
"""*at* before a .NET frame, which is localised; the other platforms do not translate it."""


@dataclass(frozen=True, slots=True)
class _TraceFormat:
    language: str
    frames: tuple[re.Pattern[str], ...]
    cause: re.Pattern[str]
    """Start of the causing error, printed below the frames."""


_JVM = _TraceFormat(
    "java",
    (
        re.compile(
            r"at (?:[\w.@-]*/)*(?P<function>[\w.$<>-]+)"
            r"\((?:(?P<file>[\w$-]+\.\w+)(?::(?P<line>\d+))?|Native Method|Unknown Source|<generated>)\)"
        ),
    ),
    re.compile(r"Caused by: (?P<head>.*)$"),
)
_JAVASCRIPT = _TraceFormat(
    "javascript",
    (
        re.compile(
            r"at (?:async )?(?:new )?(?P<function>[^()]{1,300}?)(?: \[as [^\]]*\])? "
            r"\((?:(?P<file>[^()]+?):(?P<line>\d+)(?::\d+)?|<anonymous>|native|index \d+)\)"
        ),
        re.compile(r"at (?:async )?(?P<function>)(?P<file>\S[^()]*?):(?P<line>\d+):\d+"),
        re.compile(r"(?P<function>[\w$.</*]*)@(?P<file>\S+?):(?P<line>\d+):\d+$"),
    ),
    re.compile(r"\[cause\]: (?P<head>.*)$"),
)
_DOTNET = _TraceFormat(
    "csharp",
    (
        re.compile(
            _AT + r" (?P<function>[^\s()]+\.[^\s()]+)\((?P<arguments>[^()]*)\)"
            r"(?: \S{1,4} (?P<file>\S.*):\S+ (?P<line>\d+))?$"
        ),
    ),
    re.compile(r"(?!)"),
)
_FORMATS = (_JVM, _JAVASCRIPT, _DOTNET)
_NAMED = (
    r"(?P<error>(?:[^\W\d][\w.$+]*?)?(?:Exception|Error|Throwable|Failure|Fault|Warning)\w*+"
    r"|(?:[a-z]\w*\.){2,}[A-Z][\w$]*+)"
)
_ERROR = re.compile(
    r"(?:Exception in thread \"[^\"]*\" |Unhandled [Ee]xception[.:] |Uncaught (?:\(in promise\) )?|\[?cause\]?: )?"
    + _NAMED
    + r"(?: \[\w+\])?(?: \(0x\w+\))?(?::\s*(?P<message>.*))?$"
)
_ERROR_INSIDE = re.compile(r"(?<![\w.$+])" + _NAMED + r"(?: \[\w+\])?(?::\s+(?P<message>.*))?$")
_MORE = re.compile(r"\.\.\. \d{1,9} (?:more|common frames omitted)")
_SUPPRESSED = re.compile(r"Suppressed: ")
_INNER = re.compile(r"\s*--->\s*(?:\(Inner Exception #\d+\) )?")
_RULE = re.compile(r"---.*---$")
_SAME_FAILURE = re.compile(r"previous location|thrown ---")
_MAX_HEAD = 500
_MESSAGE_LINES = 12
_SKIPPED_LINES = 12
"""Lines of an error's properties that Node prints between its frames and its cause."""


def parse_frames_below(lines: Sequence[TraceLine], at: int, floor: int) -> tuple[StackTrace, int] | None:
    """Return the trace whose first frame is this line, and the number of the line after it; else None.

    The header is searched above, but not above the line ``floor``.
    """
    trace_format = next((one for one in _FORMATS if _frame(one, lines[at])), None)
    if trace_format is None:
        return None
    drafts = _heads_above(lines, at, floor, trace_format)
    if not drafts:
        return None
    open_drafts = list(range(len(drafts)))
    suppressed = False
    n = at
    while n < len(lines):
        line = lines[n]
        current = drafts[open_drafts[-1]]
        if frame := _frame(trace_format, line):
            if not suppressed:
                current.frames.append(
                    frame_of(trace_format.language, *(frame[part] for part in ("function", "file", "line")))
                )
                current.end = line.end
        elif _MORE.match(line.text):
            pass
        elif caused := trace_format.cause.match(line.text):
            suppressed = False
            drafts.append(_draft(caused["head"], line) or FailureDraft(caused["head"], "", line.start, line.end))
            open_drafts.append(len(drafts) - 1)
            n = _message_below(lines, n, trace_format, drafts[-1])
        elif _SUPPRESSED.match(line.text):
            suppressed = True
        elif trace_format is _DOTNET and _RULE.match(line.text):
            if len(open_drafts) > 1 and not _SAME_FAILURE.search(line.text):
                open_drafts.pop()
        else:
            further = _further(lines, n, trace_format)
            if further is None:
                break
            n = further
            continue
        n += 1
    trace = trace_of(trace_format.language, drafts)
    return (trace, n) if trace else None


def _frame(trace_format: _TraceFormat, line: TraceLine) -> re.Match[str] | None:
    return next((match for pattern in trace_format.frames if (match := pattern.match(line.text))), None)


def _further(lines: Sequence[TraceLine], n: int, trace_format: _TraceFormat) -> int | None:
    """Return the line of the cause after the error properties that Node prints, or None."""
    if trace_format is not _JAVASCRIPT or not lines[n - 1].text.endswith("{"):
        return None
    return next(
        (m for m in range(n, min(n + _SKIPPED_LINES, len(lines))) if trace_format.cause.match(lines[m].text)),
        None,
    )


def _message_below(lines: Sequence[TraceLine], n: int, trace_format: _TraceFormat, draft: FailureDraft) -> int:
    """Append the lines between a cause and its first frame to its message; return the number of the last one."""
    for m in range(n + 1, min(n + _MESSAGE_LINES, len(lines))):
        if _frame(trace_format, lines[m]):
            draft.message = "\n".join([draft.message, *(line.text for line in lines[n + 1 : m])])
            return m - 1
    return n


def _heads_above(lines: Sequence[TraceLine], at: int, floor: int, trace_format: _TraceFormat) -> list[FailureDraft]:
    """Return the errors printed above the first frame, the outermost first; .NET prints all of them there."""
    inner: list[FailureDraft] = []
    for n in range(at - 1, max(at - 1 - _MESSAGE_LINES, floor - 1), -1):
        line = lines[n]
        if trace_format is _DOTNET and (mark := _INNER.match(line.text)):
            if draft := _draft(line.text[mark.end() :], line):
                inner.insert(0, draft)
            continue
        first, *rest = _INNER.split(line.text) if trace_format is _DOTNET else [line.text]
        draft = _draft(first, line)
        if draft:
            below = lines[n + 1 : at - len(inner)]
            draft.message = "\n".join([draft.message, *(one.text for one in below)])
            return [draft, *(one for part in rest if (one := _draft(part, line))), *inner]
        if not line.text and n < at - 1:
            break
    return []


def _draft(head: str, line: TraceLine) -> FailureDraft | None:
    match = _ERROR.match(head) or _ERROR_INSIDE.search(head[:_MAX_HEAD])
    return match and FailureDraft(match["error"], (match["message"] or "").removesuffix("{"), line.start, line.end)
