"""The messages of a WhatsApp export: speaker, text, attachments, edits; the app's own lines as notices."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from vicw_readers.people.message import (
    Assumed,
    ChatMessage,
    ChatRecord,
    MessageKind,
    MomentIds,
    Unread,
    digest_of,
    with_attachments,
)
from vicw_readers.people.whatsapp.dates import DateSurvey, WrongDateError
from vicw_readers.people.whatsapp.lines import (
    MAX_MESSAGE_CHARS,
    RawMessage,
    form_of,
    raw_messages,
)
from vicw_readers.people.whatsapp.phrases import cut_attachments, cut_edited, is_deleted, is_sealed, unmarked
from vicw_shared.text import visible

_COPY = re.compile(r"(?: ?\(\d+\)| - copy)$", re.IGNORECASE)
_CHAT = r"(?:chat|conversa(?:tion)?|discussion|czat|sohbeti?|чат|obrolan|percakapan|keskustelu)"
_WITH = r"(?:de|do|da|di|del|dell|w|с|з|mit|met|med|with|avec|con|com|z|s|ile|dengan|kanssa|uživatelem|контактом)"
_TITLE = re.compile(
    rf"^(?:whatsapp\W+{_CHAT}|{_CHAT}\W+(?:{_WITH}\W+)?whatsapp)\W+(?:{_WITH}\W+)*(?P<name>\S.*)$", re.IGNORECASE
)
_OWN_WORDS = re.compile(r"https?://|^[\u200e\u200f]*(?:POLL|ANKETA|ENCUESTA|ENQUETE|UMFRAGE|SONDAGE|SONDAGGIO)\b")
_CREATED = re.compile(
    r'(?:group|grupo|gruppe|groupe|gruppo|groep|groupp?e)\b[^"“«]{0,20}["“«](?P<name>[^"”»]+)["”»]', re.IGNORECASE
)


_FEW = 3
"""Speakers whose names together name a chat."""


@dataclass(frozen=True, slots=True)
class ChatName:
    """What a chat is called, and whether that is sure to be the same in its next export."""

    shown: str
    is_sure: bool


def title_of(file_name: str) -> str | None:
    """Return the name of a chat from that of its file, or None if it is not in it.

    >>> title_of("WhatsApp Chat with Ana Vale.txt"), title_of("WhatsApp Chat - Knitting (2).zip"), title_of("_chat.txt")
    ('Ana Vale', 'Knitting', None)
    """
    stem = re.sub(r"\.(?:txt|zip)$", "", file_name.strip(), flags=re.IGNORECASE)
    if "whatsapp" not in stem.casefold().replace("\u00a0", " "):
        return None
    match = _TITLE.match(_COPY.sub("", stem.replace("\u00a0", " ").replace("_", " ")))
    return match["name"].strip() if match else None


def whatsapp_chat(lines: Callable[[], Iterable[str]], file_name: str) -> Iterator[ChatRecord]:
    """Yield the messages of an export; ``lines`` gives its lines anew at each call, since they are read twice.

    Messages that were deleted, and the notice that the chat is encrypted, are left out. A message with a date that
    does not exist is unread.
    """
    form = form_of(lines())
    if form is None:
        yield Unread(1, "is no export of a WhatsApp chat")
        return
    survey = DateSurvey()
    said: str | None = None
    speakers: set[str] = set()
    for raw in raw_messages(lines(), form):
        survey.add(raw.time)
        said = said or _name_said(raw)
        if raw.speaker and len(speakers) <= _FEW and not is_sealed_line(raw):
            speakers.add(raw.speaker)
    decision = survey.decide()
    if decision.assumed:
        yield Assumed(decision.assumed)
    name = _name_of(said, speakers, file_name)
    ids = MomentIds("whatsapp", name.shown if name.is_sure else "")
    for raw in raw_messages(lines(), form):
        yield from _message(raw, decision.order, name, ids)


def _name_of(said: str | None, speakers: set[str], file_name: str) -> ChatName:
    """Return the name of a chat: as its lines say it, else the file, else of the two who speak.

    A third may speak in the next export, so that the speakers name only what has no other name.
    """
    together = ", ".join(sorted(speakers))
    if name := said or title_of(file_name) or (together if len(speakers) == 2 else ""):
        return ChatName(name, is_sure=True)
    stem = re.sub(r"\.\w+$", "", file_name)
    return ChatName(together if len(speakers) <= _FEW else stem, is_sure=False)


def _name_said(raw: RawMessage) -> str | None:
    """Return the name of the chat if a notice says it: on iOS the first one is "said" by the chat."""
    if len(raw.text) > 400:
        return None
    if raw.speaker is not None:
        return raw.speaker if raw.text[:1] in "\u200e\u200f" and is_sealed(raw.text) else None
    match = _CREATED.search(raw.text)
    return match["name"] if match else None


def _message(raw: RawMessage, order: str, name: ChatName, ids: MomentIds) -> Iterator[ChatRecord]:
    try:
        moment = raw.time.at(order)
    except WrongDateError as error:
        yield Unread(raw.line, str(error))
        return
    if raw.is_too_long:
        yield Unread(raw.line, f"is longer than {MAX_MESSAGE_CHARS} characters")
        return
    key = ids.next(moment, raw.speaker)
    text, attachments = cut_attachments(raw.text)
    text, is_edited = cut_edited(text)
    if is_deleted(text) or is_sealed_line(raw):
        return
    is_notice = raw.speaker is None or (not attachments and _is_said_by_app(raw))
    spoken = unmarked(text).strip()
    if is_notice and raw.speaker not in {None, name.shown} and raw.speaker not in spoken:
        spoken = f"{raw.speaker}: {spoken}"
    spoken = with_attachments(spoken, attachments)
    if not visible(spoken):
        return
    if not name.is_sure:
        key = f"{key}:{digest_of(spoken, 8)}"
    yield ChatMessage(
        id=key,
        text=spoken,
        timestamp=moment,
        flow=f"whatsapp:{name.shown}",
        chat=name.shown,
        speaker=None if is_notice else raw.speaker,
        kind=MessageKind.NOTICE if is_notice else MessageKind.MESSAGE,
        is_edited=is_edited,
        attachments=tuple(attachments),
        line=raw.line,
    )


def is_sealed_line(raw: RawMessage) -> bool:
    """Return whether a line is the app's notice that the chat is encrypted."""
    return (raw.speaker is None or raw.text[:1] in "\u200e\u200f") and len(raw.text) < 400 and is_sealed(raw.text)


def _is_said_by_app(raw: RawMessage) -> bool:
    """Return whether a line under somebody's name is the app's: iOS marks those, and also links, polls and places."""
    return raw.text[:1] in {"\u200e", "\u200f"} and not _OWN_WORDS.search(raw.text)
