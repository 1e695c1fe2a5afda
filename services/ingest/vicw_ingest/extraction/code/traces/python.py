"""Parse Python tracebacks with their chained exceptions."""

from __future__ import annotations

import re
from collections.abc import Sequence

from vicw_ingest.extraction.code.traces.lines import FailureDraft, TraceLine, frame_of, trace_of
from vicw_ingest.extraction.code.traces.model import FailureLink, StackTrace

_HEAD = re.compile(r"(?:.*\s)?(?:Exception Group )?Traceback \(most recent call last\):$")
_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+)(?:, in (?P<function>.+))?$')
_REPEATED = re.compile(r"\[Previous line repeated \d{1,9} more times?\]$")
_ERROR = re.compile(r"(?P<error>[^\W\d][\w.<>]*)(?::(?:\s+(?P<message>.*))?)?$")
_CHAINED = {
    "The above exception was the direct cause of the following exception:": FailureLink.CAUSED,
    "During handling of the above exception, another exception occurred:": FailureLink.DURING,
}
_MESSAGE_LINES = 30
"""Maximum lines from an error to the sentence that chains it to the next traceback."""


def parse_python(lines: Sequence[TraceLine], at: int) -> tuple[StackTrace, int] | None:
    """Return the traceback that starts at this line, and the number of the line after it; else None."""
    drafts: list[FailureDraft] = []
    link: FailureLink | None = None
    start = at
    while start < len(lines) and _HEAD.match(lines[start].text):
        failure = _failure(lines, start)
        if failure is None:
            break
        draft, at = failure
        draft.link = link
        drafts.insert(0, draft)  # the last one printed ended the program
        chained = _chained(lines, at)
        if chained is None:
            break
        link, start = chained
    trace = trace_of("python", drafts)
    return (trace, at) if trace else None


def _failure(lines: Sequence[TraceLine], head: int) -> tuple[FailureDraft, int] | None:
    draft = FailureDraft("", "", lines[head].start, lines[head].end)
    margin: int | None = None
    for at in range(head + 1, len(lines)):
        line = lines[at]
        if frame := _FRAME.match(line.text):
            margin = min(line.indent, margin) if margin is not None else line.indent
            draft.frames.insert(0, frame_of("python", frame["function"], frame["file"], frame["line"]))
        elif margin is None or not line.text:
            return None  # a head without frames, or frames without an error
        elif _REPEATED.match(line.text):
            continue
        elif line.indent < margin or (margin == 0 and _ERROR.match(line.text)):
            error = _ERROR.match(line.text)
            if error is None:
                return None
            draft.error, draft.message, draft.end = error["error"], error["message"] or "", line.end
            return draft, at + 1
    return None


def _chained(lines: Sequence[TraceLine], at: int) -> tuple[FailureLink, int] | None:
    """Return the link from the error above to the next traceback, and the line where that starts."""
    for n in range(at, min(at + _MESSAGE_LINES, len(lines))):
        if link := _CHAINED.get(lines[n].text):
            return next(((link, m) for m in range(n + 1, min(n + 4, len(lines))) if lines[m].text), None)
        if _HEAD.match(lines[n].text):
            return None
    return None
