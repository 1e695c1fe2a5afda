"""Reader of signal-export's chats: `data.json`, a message a line, or `chat.md`. Checked against its version 3.8."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

from vicw_readers.intake.file_start import FileStart
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.people.message import ChatMessage, ChatRecord, MessageKind, MomentIds, Unread, with_attachments
from vicw_readers.records import Record
from vicw_shared.text import visible

_HEAD = re.compile(r"\[(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\] (?P<speaker>[^:\n]{1,120}): ?(?P<text>.*)", re.DOTALL)
_REACTIONS = re.compile(r"\n\(- (.+) -\)[ ]*$", re.MULTILINE)
_STICKER = re.compile(r"\n\(\( (.+) \)\)")
_FILE = re.compile(r"!?\[([^\[\]\n]*)\]\(\.{1,2}/(?:media|exported_stickers)/[^()\n]*\)[ ]*")
_NOT_EXPORTED = re.compile(r"\((media|attachment) not exported\)[ ]*")
_DELETED = "(This message was deleted)"
_KEYS = {"date", "sender", "body"}


class SignalReader:
    """A chat of Signal, as signal-export writes it."""

    name = "signal"
    title = "Signal chat (signal-export)"
    files = ("data.json", "chat.md")
    keeps = "speaker, time and text, what a reply quotes, reactions, names of media; calls as notices"
    leaves = "media, deleted messages; `chat.md` where `data.json` stands beside it"
    is_personal = True

    def recognises(self, start: FileStart) -> bool:
        """Return whether the first line is a message, as JSON or as Markdown."""
        if start.base == "chat.md":
            return any(_HEAD.match(line) for line in start.lines[:5])
        return any(one.keys() >= _KEYS and "reactions" in one for one in start.objects[:1])

    def read(self, source: SourceFile) -> Iterator[Record]:
        """Yield the messages as items of one flow, the chat, which is named by its folder."""
        from vicw_readers.people.records import records_of

        chat = PurePosixPath(source.member or source.name).parent.name or source.path.resolve().parent.name
        is_markdown = source.name.lower().endswith(".md")
        if is_markdown and source.beside("data.json"):
            yield source.skip("has the messages of data.json, which stands beside it")
            return
        read = signal_markdown if is_markdown else signal_lines
        yield from records_of(source, read(source.lines(), chat), self.name, "Signal")


def signal_lines(lines: Iterable[str], chat: str) -> Iterator[ChatRecord]:
    """Yield the messages of `data.json`."""
    ids = MomentIds("signal", chat)
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
            message = _message(value, chat, ids, number)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            yield Unread(number, f"is no message of Signal: {error}")
            continue
        if message is not None:
            yield message


def signal_markdown(lines: Iterable[str], chat: str) -> Iterator[ChatRecord]:
    """Yield the messages of `chat.md`."""
    ids = MomentIds("signal", chat)
    begun: tuple[int, re.Match[str]] | None = None
    rest: list[str] = []
    for number, line in enumerate((*lines, ""), 1):
        head = _HEAD.match(line)
        if head is None and line:
            rest.append(line)
            continue
        if begun is not None:
            try:
                message = _of_markdown(begun[1], "".join(rest), chat, ids, begun[0])
            except ValueError as error:
                yield Unread(begun[0], f"has no such date: {error}")
            else:
                if message is not None:
                    yield message
        if head is not None:
            begun, rest = (number, head), []


def _message(value: dict[str, Any], chat: str, ids: MomentIds, line: int) -> ChatMessage | None:
    moment = datetime.fromisoformat(value["date"])
    speaker = str(value["sender"])
    key = ids.next(moment.replace(microsecond=0, tzinfo=None), speaker)
    if value.get("deleted"):
        return None
    attachments = [str(one.get("name") or one.get("missing_kind") or "file") for one in value.get("attachments") or []]
    if sticker := value.get("sticker"):
        attachments.append(f"sticker {sticker.get('emoji') or ''}".strip())
    reactions = [f"{name}: {emoji}" for name, emoji in value.get("reactions") or []]
    return _made(
        key, moment, speaker, str(value["body"]), str(value.get("quote") or ""), attachments, reactions,
        chat, line, is_call=value.get("call") is True,
    )  # fmt: skip


def _of_markdown(head: re.Match[str], rest: str, chat: str, ids: MomentIds, line: int) -> ChatMessage | None:
    moment = datetime.fromisoformat(head["time"])
    key = ids.next(moment, head["speaker"])
    body = head["text"] + rest
    if body.strip() == _DELETED:
        return None
    quote = ""
    if match := re.match(r"\s*\n((?:> .*\n)+)\n", body):
        quote, body = match[1], body[match.end() :]
    attachments = _FILE.findall(body) + _NOT_EXPORTED.findall(body)
    attachments += [f"sticker {emoji}" for emoji in _STICKER.findall(body)]
    reactions = [one for found in _REACTIONS.findall(body) for one in found.split(", ")]
    for pattern in (_FILE, _NOT_EXPORTED, _STICKER, _REACTIONS):
        body = pattern.sub("", body)
    return _made(key, moment, head["speaker"], body, quote, attachments, reactions, chat, line)


def _made(
    key: str,
    moment: datetime,
    speaker: str,
    body: str,
    quote: str,
    attachments: list[str],
    reactions: list[str],
    chat: str,
    line: int,
    *,
    is_call: bool = False,
) -> ChatMessage | None:
    text = with_attachments(body.strip(), attachments)
    if not visible(text):
        return None
    quoted = " ".join(part.removeprefix(">").strip() for part in quote.splitlines()).strip()
    return ChatMessage(
        id=key,
        text=f"{speaker}: {text}" if is_call else text,
        timestamp=moment,
        flow=f"signal:{chat}",
        chat=chat,
        speaker=None if is_call else speaker,
        kind=MessageKind.NOTICE if is_call else MessageKind.MESSAGE,
        attachments=tuple(attachments),
        more={"quotes": quoted, "reactions": reactions},
        line=line,
    )
