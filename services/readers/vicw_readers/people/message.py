"""Model of people's chats: a message, whatever the product, before it becomes an item."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from typing import Any

_REMEMBERED_MOMENTS = 50_000
"""Clocks of phones go back an hour at most; no chat has more (time, speaker) pairs in an hour."""


class MessageKind(StrEnum):
    """What a line of a chat is. A notice is the app's own: somebody joined, a subject changed."""

    MESSAGE = "message"
    NOTICE = "notice"


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """A message or a notice, which has no speaker.

    ``id`` is the same in every export of the chat. A ``timestamp`` without a zone is in the exporting machine's.
    ``text`` is never blank: attachments are named in it, and in ``attachments``. ``reply_to`` is the id of a message.
    """

    id: str
    text: str
    timestamp: datetime | None
    flow: str
    chat: str | None = None
    speaker: str | None = None
    kind: MessageKind = MessageKind.MESSAGE
    reply_to: str | None = None
    edited_at: datetime | None = None
    is_edited: bool = False
    attachments: tuple[str, ...] = ()
    more: dict[str, Any] = field(default_factory=dict)
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Unread:
    """A part of a file that could not be read, and why; ``line`` counts from 1."""

    line: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class Assumed:
    """Something that a file leaves open, and how it was read."""

    what: str


type ChatRecord = ChatMessage | Unread | Assumed


def with_attachments(text: str, attachments: Iterable[str]) -> str:
    r"""Return a text with the names of what was attached below it.

    >>> with_attachments("see", ["plan.pdf"]), with_attachments("", ["image"])
    ('see\n[attachment: plan.pdf]', '[attachment: image]')
    """
    return "\n".join(part for part in (text.strip("\n"), *(f"[attachment: {name}]" for name in attachments)) if part)


class MomentIds:
    """Ids for messages of formats without any: chat, time, speaker, and a count of those who share the three.

    An edited message keeps its id, since the words are no part of it, and so do all messages of a longer export.
    """

    def __init__(self, product: str, chat: str) -> None:
        self._prefix = f"{product}:{digest_of(chat)}"
        self._counts: OrderedDict[tuple[str, str], int] = OrderedDict()

    def next(self, moment: datetime, speaker: str | None) -> str:
        """Return the id of the next message of this moment and speaker."""
        key = (moment.isoformat(), speaker or "")
        count = self._counts.pop(key, 0) + 1
        self._counts[key] = count
        if len(self._counts) > _REMEMBERED_MOMENTS:
            self._counts.popitem(last=False)
        return f"{self._prefix}:{key[0]}:{digest_of(key[1], 8)}:{count}"


@lru_cache(maxsize=1024)
def digest_of(text: str, digits: int = 12) -> str:
    """Return the start of a digest in hex digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:digits]
