"""Tool calls of a session's lines: their ids, and how much of them is held."""

from __future__ import annotations

import io
import json
from typing import Any

from vicw_readers.assistants.agents.tool_calls import MAX_OPEN, PART_CHARS, ToolCall, ToolCalls
from vicw_readers.assistants.agents.transcript import TranscriptReader


def calls(session: str, *lines: list[dict[str, Any]]) -> tuple[list[ToolCall], list[ToolCall]]:
    """Return the calls as lines give them, and those that are left at the end."""
    written = (
        {"type": "assistant", "sessionId": session, "message": {"role": "assistant", "content": blocks}}
        for blocks in lines
    )
    data = "".join(json.dumps(line) + "\n" for line in written).encode()
    found = ToolCalls()
    read = TranscriptReader(session).lines(io.BytesIO(data))
    given = [call for line in read for call in found.of_line(line, session, None)]
    return given, list(found.without_result())


def used(command: str, **own: str) -> dict[str, Any]:
    return {"type": "tool_use", "name": "Bash", "input": {"command": command}, **own}


def test_calls_without_an_id_are_told_apart_within_a_line_and_across_sessions() -> None:
    blocks = [used("one"), used("two")]
    ids = [call.id for session in ("s1", "s2") for call in calls(session, blocks)[1]]
    assert ids == ["s1:line-1-1", "s1:line-1-2", "s2:line-1-1", "s2:line-1-2"]


def test_what_waits_for_results_is_bounded() -> None:
    lines = [[used("x" * 3 * PART_CHARS if number == 0 else "ls", id=f"t{number}")] for number in range(MAX_OPEN + 1)]
    given, left = calls("s1", *lines)
    assert [call.id for call in given] == ["t0"], "the oldest goes without a result"
    assert given[0].given == f"{'x' * PART_CHARS} [and {2 * PART_CHARS} characters more]"
    assert len(left) == MAX_OPEN
