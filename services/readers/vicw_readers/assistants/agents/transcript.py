"""Reader of agents' session transcripts: the JSON Lines of Claude Code and of Codex.

Only what people and the assistant said is a turn: no tool calls, no thinking, nothing that the agent wrote for itself,
and no recalled memories. Hooks read the turns of the session alone; the import of a file also asks each line for its
tool calls, and for the turns of subagents. Neither format is published, so a line of an unknown kind is passed over,
and only a line that looks like a turn and cannot be read as one is reported. Imports the standard library alone: the
command that hooks run starts with it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO

USER, ASSISTANT = "user", "assistant"
CLAUDE_CODE, CODEX = "claude-code", "codex"
OFF_MARKER = "#vicw-off"
"""A prompt with this word is not answered with memories, and neither it nor its answer is stored."""
FENCE_TAG = "vicw-memory"
"""The tag around recalled memories."""
MAX_LINE_BYTES = 16 * 1024 * 1024
_OF_AGENT = ("system-reminder", "local-command-caveat", "local-command-stdout", "local-command-stderr")
"""Tags around what Claude Code writes into a user's message."""
_NO_PROMPT = ("<command-name>", "<command-message>", "<bash-input>", "<bash-stdout>", "<task-notification>")
"""Beginnings of user lines of Claude Code that no user has written."""
_HIDDEN = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage")
_CODEX_LINES = frozenset({"session_meta", "turn_context", "response_item", "event_msg", "compacted"})
_TAG = re.compile(rf"<(/?)({'|'.join((FENCE_TAG, *_OF_AGENT))})\b[^<>]*>", re.IGNORECASE)


class UnreadableLineError(Exception):
    """A line that cannot be read as what it looks like."""


@dataclass(frozen=True, slots=True)
class TranscriptTurn:
    """What somebody said. ``id`` is the same each time the line is read; ``timestamp`` is ISO 8601, or None."""

    id: str
    speaker: str
    text: str
    timestamp: str | None


@dataclass(frozen=True, slots=True)
class TranscriptLine:
    """A line of a known form: its number from 1, its ``fields``, and the turn that it is, if it is one.

    ``is_muted``: it belongs to a prompt that is not to be stored. ``is_of_subagent``: it is of a subagent of Claude
    Code.
    """

    number: int
    fields: dict[str, Any]
    turn: TranscriptTurn | None
    is_muted: bool
    is_of_subagent: bool = False


@dataclass(slots=True)
class TranscriptReader:
    """Reads a transcript that grows: each ``read`` goes on where the last one has ended.

    ``offset`` is the byte, and ``line`` the number of lines, up to which all is read; ``unread`` are the lines of the
    last ``read`` that could not be, each with the reason. ``agent``, ``folder`` and ``own_session`` are what the lines
    say of the agent, its folder and its session; None until one does.
    """

    session: str
    offset: int = 0
    line: int = 0
    unread: list[tuple[int, str]] = field(default_factory=list)
    is_known: bool = False
    agent: str | None = None
    folder: str | None = None
    own_session: str | None = None
    _is_muted: bool = False

    def read(self, file: BinaryIO) -> Iterator[TranscriptTurn]:
        """Yield the session's own turns from ``offset`` on, as `lines` reads them."""
        for line in self.lines(file):
            if line.turn is not None and not line.is_of_subagent:
                yield line.turn

    def lines(self, file: BinaryIO) -> Iterator[TranscriptLine]:
        """Yield the lines of a known form from ``offset`` on. A last one without an end is read once it is complete."""
        self.unread = []
        file.seek(self.offset)
        while raw := file.readline(MAX_LINE_BYTES):
            is_whole = raw.endswith(b"\n")
            if not is_whole and len(raw) == MAX_LINE_BYTES:
                while not is_whole and (rest := file.readline(MAX_LINE_BYTES)):
                    is_whole = rest.endswith(b"\n")
                self._next(file.tell(), f"is longer than {MAX_LINE_BYTES} bytes")
                continue
            try:
                line = self._line(raw)
            except UnreadableLineError as error:
                if not is_whole:  # still being written, or cut off
                    self.unread.append((self.line + 1, "is cut off"))
                    return
                self._next(file.tell(), str(error))
                continue
            self._next(file.tell())
            if line is not None:
                yield line

    def summary(self) -> str:
        """Return what could not be read as a sentence; empty if all was."""
        if self.line and not self.is_known:
            return "the transcript has no line of a known form"
        if not self.unread:
            return ""
        number, reason = self.unread[0]
        return f"{len(self.unread)} lines of the transcript could not be read: line {number} {reason}"

    def _identify(self, agent: str, folder: object, session: object) -> None:
        self.agent = agent
        self.folder = self.folder or (folder if isinstance(folder, str) else None)
        self.own_session = self.own_session or (session if isinstance(session, str) else None)

    def _next(self, offset: int, reason: str = "") -> None:
        self.offset = offset
        self.line += 1
        if reason:
            self.unread.append((self.line, reason))

    def _line(self, raw: bytes) -> TranscriptLine | None:
        """Return a line, or None if it is of no known form. Raises UnreadableLineError."""
        if not raw.strip():
            return None
        try:
            line = json.loads(raw)
        except (ValueError, RecursionError):
            raise UnreadableLineError("is not JSON") from None
        if not isinstance(line, dict):
            raise UnreadableLineError("is not a JSON object")
        kind = line.get("type")
        is_of_subagent = False
        if isinstance(kind, str) and kind in _CODEX_LINES and isinstance(line.get("payload"), dict):
            self.is_known = True
            payload = line["payload"]
            if kind == "session_meta":
                self._identify(CODEX, payload.get("cwd"), payload.get("id"))
            said = _codex(payload, kind)
        elif kind in (USER, ASSISTANT):
            is_of_subagent = line.get("isSidechain") is True
            said = _claude_code(line, kind)
            self.is_known = True
            self._identify(CLAUDE_CODE, line.get("cwd"), line.get("sessionId"))
        else:
            return None
        if said is not None and said[0] == USER and not is_of_subagent:
            self._is_muted = OFF_MARKER in said[1] or (self._is_muted and not _is_prompt(line, said[1]))
        turn = None if said is None or self._is_muted else self._turn(line, *said)
        return TranscriptLine(self.line + 1, line, turn, self._is_muted, is_of_subagent)

    def _turn(self, line: dict[str, object], speaker: str, words: str) -> TranscriptTurn | None:
        text = without_memories(words).strip()
        if not text:
            return None
        own, time = line.get("uuid"), line.get("timestamp")
        return TranscriptTurn(
            id=own if isinstance(own, str) and own else f"{self.own_session or self.session}:{self.line + 1}",
            speaker=speaker,
            text=text,
            timestamp=time if isinstance(time, str) else None,
        )


def summarize(problems: Sequence[str]) -> str:
    """Return the first problem and how many more there are: an agent shows it in a line."""
    return f"{problems[0]} (and {len(problems) - 1} more)" if len(problems) > 1 else "".join(problems)


def without_memories(text: str) -> str:
    """Return a text without what stands between tags of the agent, and without recalled memories.

    A tag that nothing closes is what somebody wrote, and stays. Memories are cut out even if their end is missing: what
    was recalled must not be stored anew. One pass over the tags, so that a hostile line takes no more than its length.
    """
    tags = list(_TAG.finditer(text))
    last_closing = {tag[2].lower(): tag.start() for tag in tags if tag[1]}
    kept, position, opened = list[str](), 0, ""
    for tag in tags:
        is_closing, name = bool(tag[1]), tag[2].lower()
        if opened:
            if is_closing and name == opened:
                position, opened = tag.end(), ""
        elif not is_closing and (name == FENCE_TAG or last_closing.get(name, -1) > tag.start()):
            kept.append(text[position : tag.start()])
            opened = name
    if not opened:
        kept.append(text[position:])
    return "".join(kept)


def _claude_code(line: dict[str, object], kind: str) -> tuple[str, str] | None:
    """Return the speaker and the text of a message of Claude Code, or None if nobody said it."""
    if any(line.get(mark) is True for mark in _HIDDEN):
        return None
    message = line.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        text = content
    elif isinstance(content, list):
        text = _texts(content, "text")
    else:
        raise UnreadableLineError(f"is a line of the {kind} without a message")
    return None if text.lstrip().startswith(_NO_PROMPT) else (kind, text)


def _is_prompt(line: dict[str, Any], words: str) -> bool:
    """Return whether a user line is what somebody asked: results of tools come as lines of the user, too."""
    message = line.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    blocks = content if isinstance(content, list) else []
    kinds = {str(block.get("type")) for block in blocks if isinstance(block, dict)}
    return "tool_result" not in kinds and bool(without_memories(words).strip() or kinds - {"text"})


def _codex(payload: dict[str, object], kind: str) -> tuple[str, str] | None:
    """Return the speaker and the text of a line of Codex, or None if nobody said it.

    The user's words are those of the event: the message to the model has the environment and instructions, too.
    """
    if kind == "event_msg" and payload.get("type") == "user_message":
        text = payload.get("message")
        if not isinstance(text, str):
            raise UnreadableLineError("is a user's message without text")
        return USER, text
    if kind == "response_item" and payload.get("type") == "message" and payload.get("role") == ASSISTANT:
        content = payload.get("content")
        if not isinstance(content, list):
            raise UnreadableLineError("is an assistant's message without content")
        return ASSISTANT, _texts(content, "output_text")
    return None


def _texts(blocks: list[object], kind: str) -> str:
    texts = (block.get("text") for block in blocks if isinstance(block, dict) and block.get("type") == kind)
    return "\n\n".join(text for text in texts if isinstance(text, str))
