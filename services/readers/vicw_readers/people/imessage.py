"""Reader of iMessage chats as text, by imessage-exporter. Checked against its versions 1.8 to 3."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePosixPath

from vicw_readers.intake.file_start import FileStart
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.people.message import ChatMessage, ChatRecord, MessageKind, MomentIds, Unread, with_attachments
from vicw_readers.records import Record
from vicw_shared.text import visible

_DATE = r"(?P<date>[A-Z][a-z]{2} \d{2}, \d{4} {1,2}\d{1,2}:\d{2}:\d{2} [AP]M)"
_HEAD = re.compile(rf"(?P<indent>(?: {{4}})?){_DATE}(?: \(Read by .*\))?[ ]*$")
_ANNOUNCED = re.compile(rf"{_DATE} (?P<text>\S.*)$")
_EDITED = re.compile(r"Edited .{1,60} later: (?P<text>.*)", re.DOTALL)
_GONE = re.compile(r"(?P<who>[^\n]{1,200}?) (?:deleted|unsent) (?:a message|this message part)\b[^\n]{0,60}")
_REACTION = re.compile(r"(?:Loved|Liked|Disliked|Laughed|Emphasized|Questioned|\S{1,8}) by .+|Sticker from .+")
_REACTIONS = {"Reactions:", "Tapbacks:"}
_EFFECT = re.compile(r"Sent with [A-Z]\w+(?: \w+)?")
_RESPONDED = "This message responded to an earlier message."
_FILE = re.compile(r"(?:(?:~|\.{0,2})/(?:[^/\n]+/)+|attachments/(?:[^/\n]+/)*)(?P<name>[^/\n]+\.\w{1,8})")
_TIME = "%b %d, %Y %I:%M:%S %p"
_LINES = 40


class IMessageReader:
    """A chat of Messages, exported as text by imessage-exporter."""

    name = "imessage"
    title = "iMessage chat (imessage-exporter)"
    files = ("*.txt",)
    keeps = (
        "speaker, time and text, replies, the last words of an edit, reactions, names of media; renamings as notices"
    )
    leaves = "media, unsent messages, earlier words of an edit; the HTML form of the export"
    is_personal = True

    def recognises(self, start: FileStart) -> bool:
        """Return whether a text begins with a time alone in its line, and a speaker below."""
        lines = [line for line in start.lines[:_LINES] if line.strip()]
        return (
            bool(lines) and any(map(_HEAD.match, lines)) and bool(_HEAD.match(lines[0]) or _ANNOUNCED.match(lines[0]))
        )

    def read(self, source: SourceFile) -> Iterator[Record]:
        """Yield the messages as items of one flow, the chat, which is named by its file."""
        from vicw_readers.people.records import records_of

        yield from records_of(source, imessages(source.lines(), PurePosixPath(source.name).stem), self.name, "iMessage")


@dataclass(slots=True)
class _Block:
    """A message as written: its time, its speaker below, then its lines."""

    line: int
    date: str
    is_reply_below: bool
    speaker: str | None = None
    lines: list[str] = field(default_factory=list)


def imessages(lines: Iterable[str], chat: str) -> Iterator[ChatRecord]:
    """Yield the messages of a chat. A reply stands below what it answers, indented, and again in its own place: there
    it is read, and the first one only says what it answers.
    """
    ids = MomentIds("imessage", chat)
    answers: dict[tuple[str, str, str], str] = {}
    answered = ""
    for block in _blocks(lines):
        if isinstance(block, ChatMessage | Unread):
            yield block
            continue
        if block.speaker is None:
            if block.lines:
                notice = _notice(block, chat, ids)
                yield notice
            continue
        text, attachments, reactions, edited = _parsed(block.lines, block.speaker)
        key = (block.date, block.speaker, text)
        if block.is_reply_below:
            answers[key] = answered
            continue
        try:
            moment = _moment(block.date)
        except ValueError as error:
            yield Unread(block.line, f"has no such date: {error}")
            continue
        answered = ids.next(moment, block.speaker)
        reply_to = answers.pop(key, None)
        text = with_attachments(text, attachments)
        if not visible(text):
            continue
        yield ChatMessage(
            id=answered,
            text=text,
            timestamp=moment,
            flow=f"imessage:{chat}",
            chat=chat,
            speaker=block.speaker,
            reply_to=reply_to,
            is_edited=edited,
            attachments=tuple(attachments),
            more={"reactions": reactions},
            line=block.line,
        )


def _notice(block: _Block, chat: str, ids: MomentIds) -> ChatRecord:
    try:
        moment = _moment(block.date)
    except ValueError as error:
        return Unread(block.line, f"has no such date: {error}")
    return ChatMessage(
        id=ids.next(moment, None),
        text=block.lines[0],
        timestamp=moment,
        flow=f"imessage:{chat}",
        chat=chat,
        kind=MessageKind.NOTICE,
        line=block.line,
    )


def _blocks(lines: Iterable[str]) -> Iterator[_Block]:
    block: _Block | None = None
    before_is_blank = True
    for number, raw in enumerate(lines, 1):
        line = raw.rstrip("\r\n")
        if head := _HEAD.match(line):
            if block is not None:
                yield block
            block = _Block(number, head["date"], bool(head["indent"]))
        elif (told := _ANNOUNCED.match(line)) and before_is_blank and (block is None or block.speaker is not None):
            if block is not None:
                yield block
            yield _Block(number, told["date"], False, None, [told["text"]])
            block = None
        elif block is not None:
            line = line.removeprefix("    ") if block.is_reply_below else line
            if block.speaker is None:
                block.speaker = line.strip()
            else:
                block.lines.append(line)
        before_is_blank = not line.strip()
    if block is not None:
        yield block


def _moment(date: str) -> datetime:
    return datetime.strptime(" ".join(date.split()), _TIME)


def _parsed(lines: list[str], speaker: str) -> tuple[str, list[str], list[str], bool]:
    """Return the text, the names of attachments, the reactions, and whether it was edited."""
    text: list[str] = []
    attachments: list[str] = []
    reactions: list[str] = []
    in_reactions = edited = False
    for line in lines:
        if line in _REACTIONS:
            in_reactions = True
        elif in_reactions and _REACTION.fullmatch(line):
            reactions.append(line)
        elif line == _RESPONDED or _EFFECT.fullmatch(line):
            continue
        elif match := _EDITED.match(line):
            text, edited = [match["text"]], True
        elif match := _FILE.fullmatch(line):
            attachments.append(match["name"])
        elif match := _ANNOUNCED.match(line) if not any(text) else None:  # the words before the edits
            text = [match["text"]]
        else:
            in_reactions = in_reactions and not line.strip()
            text.append(line)
    joined = "\n".join(text).strip("\n")
    gone = _GONE.fullmatch(joined)  # the exporter's line, not somebody's words about a message
    is_gone = gone is not None and gone["who"] in {"They", "You", speaker}
    return ("" if is_gone else joined), attachments, reactions, edited
