"""A mail, read from its bytes."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from email import message_from_bytes

from vicw_readers.mail.body import body_of
from vicw_readers.mail.calendar import CalendarEvent, events_of
from vicw_readers.mail.headers import first_of, header_text, own_id, people, references_of, shown, time_of, values_of
from vicw_readers.mail.own_words import folded
from vicw_shared.text import visible


class NoMailError(ValueError):
    """The bytes are no mail: there is nobody who sent it, and no time, id or subject."""


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail with its own words alone; ``text`` is "" if there are none.

    ``references`` are the ids of the mails before it in its thread, the oldest first. ``problems`` say what of it could
    not be read.
    """

    id: str
    subject: str
    sender: tuple[str, str]
    to: tuple[tuple[str, str], ...]
    copies: tuple[tuple[str, str], ...]
    sent_at: datetime | None
    text: str
    folded_lines: int
    attachments: tuple[str, ...]
    references: tuple[str, ...]
    labels: tuple[str, ...]
    events: tuple[CalendarEvent, ...]
    problems: tuple[str, ...]


def parsed_mail(data: bytes) -> Mail:
    """Return the mail of ``data``. Raises NoMailError."""
    message = message_from_bytes(data)
    sender = next(iter(people(message, "From", "Sender", "Return-Path")), ("", ""))
    subject = header_text(first_of(message, "Subject"))
    sent_at = time_of(message)
    known_id = own_id(message)
    if not (known_id or any(values_of(message, name) for name in ("From", "Date"))):
        raise NoMailError("is no mail: it has neither From nor Date nor Message-ID")
    references = references_of(message)
    body = body_of(message)
    own = folded(body.text, subject, is_answer=bool(references))
    events: list[CalendarEvent] = []
    problems: list[str] = []
    for calendar in body.calendars:
        found, wrong = events_of(calendar)
        events += found
        problems += wrong
    return Mail(
        id=known_id or _made_id(shown(sender), sent_at, subject, body.text),
        subject=subject,
        sender=sender,
        to=tuple(people(message, "To")),
        copies=tuple(people(message, "Cc")),
        sent_at=sent_at,
        text=own.text if visible(own.text) else "",
        folded_lines=own.folded_lines if visible(own.text) else 0,
        attachments=tuple(dict.fromkeys(body.attachments)),
        references=tuple(references),
        labels=tuple(filter(None, map(str.strip, header_text(first_of(message, "X-Gmail-Labels")).split(",")))),
        events=tuple(events),
        problems=tuple(problems),
    )


def _made_id(sender: str, sent_at: datetime | None, subject: str, text: str) -> str:
    """Return an id for a mail without one, the same each time it is read."""
    key = "\n".join([sender, sent_at.isoformat() if sent_at else "", subject, text])
    return f"{hashlib.sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}@mail.without.id"
