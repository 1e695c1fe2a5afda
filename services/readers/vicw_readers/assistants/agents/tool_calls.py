"""Tool calls of agents' sessions: what was called, with what, and what came of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from vicw_readers.assistants.agents.transcript import TranscriptLine, without_memories

PART_CHARS = 2_000
"""Most characters of what a tool is given, and of what it gives: a file that it reads is no part of the talk."""
MAX_OPEN = 1_000
"""Most calls that wait for their results; the oldest goes without."""
_OWN_TOOLS = "vicw"
"""Part of the names of our own tools: what they recall is stored already."""
_CALL, _RESULT = "tool_use", "tool_result"
_CODEX_CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call", "web_search_call"})
_CODEX_RESULTS = frozenset({"function_call_output", "custom_tool_call_output"})


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call; ``id`` is the agent's own, or that of its place; ``line`` and ``timestamp`` are those of the call.

    ``turn`` is the id of what was said last before it. ``subagent`` is the id of the agent that the call started.
    """

    id: str
    tool: str
    given: str
    line: int
    timestamp: str | None
    flow: str = ""
    turn: str | None = None
    result: str = ""
    has_failed: bool = False
    subagent: str | None = None

    @property
    def text(self) -> str:
        """The tool, what it was given and what it gave."""
        head = f"{self.tool}: {self.given}" if self.given else self.tool
        return f"{head}\n\n{self.result}" if self.result else head


@dataclass(slots=True)
class ToolCalls:
    """Joins calls with their results, which come later in a session, or never; at most `MAX_OPEN` wait for theirs."""

    _open: dict[str, ToolCall] = field(default_factory=dict)

    def of_line(self, line: TranscriptLine, flow: str, turn: str | None) -> Iterator[ToolCall]:
        """Take the calls of a line into ``flow``, and yield those whose result it has."""
        for call in calls_of(line):
            if _OWN_TOOLS not in call.tool.lower() and not line.is_muted:
                self._open[call.id] = replace(call, flow=flow, turn=turn)
                if len(self._open) > MAX_OPEN:
                    yield self._open.pop(next(iter(self._open)))
        for given_id, result, has_failed, subagent in results_of(line.fields):
            answered = self._open.pop(given_id, None)
            if answered is not None:
                text = without_memories(result).strip()
                yield replace(answered, result=_cut(text), has_failed=has_failed, subagent=subagent)

    def without_result(self) -> Iterator[ToolCall]:
        """Yield the calls that nothing has answered."""
        yield from self._open.values()
        self._open.clear()


def calls_of(line: TranscriptLine) -> Iterator[ToolCall]:
    """Yield the calls that a line makes."""
    time = line.fields.get("timestamp")
    timestamp = time if isinstance(time, str) else None
    for place, block in enumerate(_blocks(line.fields), 1):
        if str(block.get("type", "")).endswith(_CALL):
            own = block.get("id") if isinstance(block.get("id"), str) else None
            here = f"{line.fields.get('sessionId')}:line-{line.number}-{place}"
            yield _call(own or here, block.get("name"), block.get("input"), line.number, timestamp)
    payload = line.fields.get("payload")
    if (
        line.fields.get("type") == "response_item"
        and isinstance(payload, dict)
        and str(payload.get("type")) in _CODEX_CALLS
    ):
        name = payload.get("name") or str(payload["type"]).removesuffix("_call")
        namespace = payload.get("namespace")
        tool = f"{namespace}.{name}" if isinstance(namespace, str) and namespace else name
        given = next((payload[key] for key in ("arguments", "input", "action") if payload.get(key)), "")
        yield _call(payload.get("call_id") or payload.get("id"), tool, _decoded(given), line.number, timestamp)


def _call(given_id: object, tool: object, given: object, line: int, timestamp: str | None) -> ToolCall:
    call_id = given_id if isinstance(given_id, str) and given_id else f"line-{line}"
    name = tool if isinstance(tool, str) and tool else "tool"
    return ToolCall(call_id, name, _cut(without_memories(_shown(given)).strip()), line, timestamp)


def results_of(fields: Mapping[str, Any]) -> Iterator[tuple[str, str, bool, str | None]]:
    """Yield the results of a line: the call's id, the text, whether it failed, the subagent that was started."""
    outcome = fields.get("toolUseResult")
    started = outcome.get("agentId") if isinstance(outcome, dict) else None
    for block in _blocks(fields):
        if str(block.get("type", "")).endswith(_RESULT) and isinstance(block.get("tool_use_id"), str):
            agent = started if isinstance(started, str) else None
            yield block["tool_use_id"], _words(block.get("content")), block.get("is_error") is True, agent
    payload = fields.get("payload")
    if (
        isinstance(payload, dict)
        and str(payload.get("type")) in _CODEX_RESULTS
        and isinstance(payload.get("call_id"), str)
    ):
        output = _decoded(payload.get("output"))
        known = output if isinstance(output, dict) else {}
        about = known.get("metadata")
        code = about.get("exit_code") if isinstance(about, dict) else None
        has_failed = known.get("success") is False or (isinstance(code, int) and code != 0)
        agent_id = known.get("agent_id")
        text = next((known[key] for key in ("output", "content") if key in known), output)
        yield payload["call_id"], _words(text), has_failed, agent_id if isinstance(agent_id, str) else None


def _blocks(fields: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    message = fields.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list):
        yield from (block for block in content if isinstance(block, dict))


def _decoded(value: object) -> object:
    """Return the JSON in a text, or the text itself: Codex writes most calls and some results that way."""
    if isinstance(value, str) and value[:1] in {"{", "["}:
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _shown(given: object) -> str:
    """Return what a tool was given, a line for each argument; a single one without its name."""
    if isinstance(given, dict):
        if len(given) == 1:
            return _plain(next(iter(given.values())))
        return "\n".join(f"{name}: {_plain(value)}" for name, value in given.items())
    return _plain(given)


def _plain(value: object) -> str:
    if isinstance(value, str) or value is None:
        return value or ""
    if isinstance(value, list) and value and all(isinstance(part, str) for part in value):
        return " ".join(value)  # a command
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return ""


def _words(content: object) -> str:
    """Return the text of a result. Pictures and the like are left out."""
    if isinstance(content, list):
        parts = (part.get("text") if isinstance(part, dict) else part for part in content)
        return "\n\n".join(part for part in parts if isinstance(part, str))
    return _shown(content)


def _cut(text: str) -> str:
    missing = len(text) - PART_CHARS
    return f"{text[:PART_CHARS].rstrip()} [and {missing} characters more]" if missing > 0 else text
