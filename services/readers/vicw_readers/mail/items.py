"""From mails to items: one a mail, and one for each event that mails invite to, as the latest of them has it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from vicw_readers.intake.source_file import SourceFile
from vicw_readers.mail.calendar import CalendarEvent, event_text
from vicw_readers.mail.headers import shown
from vicw_readers.mail.mbox import RawMail
from vicw_readers.mail.message import Mail, NoMailError, parsed_mail
from vicw_readers.mail.skim import MAX_MAIL_BYTES
from vicw_readers.mail.threads import Threads
from vicw_readers.records import Record, bounded_id, bounded_name
from vicw_shared.text import counted

_MAX_EVENTS = 20_000
"""Events that wait for later news of them until the file ends."""


def mail_items(source: SourceFile, mails: Iterable[RawMail], product: str) -> Iterator[Record]:
    """Yield the items of mails, then those of events. A mail that is in the file again is passed over."""
    threads = Threads()
    seen: set[int] = set()
    copies = 0
    events: dict[str, tuple[CalendarEvent, Mail, str, int]] = {}
    for raw in mails:
        try:
            mail = parsed_mail(raw.data)
        except NoMailError as error:
            yield source.refuse(str(error), raw.line)
            continue
        except Exception as error:  # a module of many errors on what nobody writes; the next mail is another
            yield source.refuse(f"is a mail that cannot be read: {error!r}", raw.line)
            continue
        thread = threads.root_of(mail.id, mail.references)
        if hash(mail.id) in seen:
            copies += 1
            continue
        seen.add(hash(mail.id))
        if raw.is_cut:
            yield source.refuse(f"is a mail with over {MAX_MAIL_BYTES} bytes of text; its start is read", raw.line)
        for problem in mail.problems:
            yield source.refuse(f"is a mail with an invitation, of which {problem}", raw.line)
        yield source.item(_fields(mail, thread, product), line=raw.line, usual_context="Mail")
        for event in mail.events:
            known = events.get(event.uid)
            if not event.is_answer and (known is None or event.sequence >= known[0].sequence):
                events[event.uid] = (event, mail, thread, raw.line)
        if len(events) > _MAX_EVENTS:
            yield _event_item(source, *events.pop(next(iter(events))), product)
    for entry in events.values():
        yield _event_item(source, *entry, product)
    if copies:
        yield source.skip(f"has {counted(copies, 'mail')} twice; each is read once")


def _fields(mail: Mail, thread: str, product: str) -> dict[str, Any]:
    words = [mail.text or mail.subject or "(no text)", *(f"[attachment: {name}]" for name in mail.attachments)]
    metadata = {
        "from": mail.sender[1],
        "to": [_full(one) for one in mail.to],
        "cc": [_full(one) for one in mail.copies],
        "attachments": list(mail.attachments),
        "reply_to": bounded_id(mail.references[-1]) if mail.references else None,
        "labels": list(mail.labels),
        "folded_lines": mail.folded_lines,
    }
    return {
        "id": bounded_id(mail.id),
        "text": "\n".join(words),
        "subtype": "mail",
        "name": bounded_name(mail.subject),
        "speaker": shown(mail.sender) or None,
        "timestamp": mail.sent_at,
        "flow_id": bounded_id(thread),
        "source": product,
        "metadata": {key: value for key, value in metadata.items() if value},
    }


def _event_item(source: SourceFile, event: CalendarEvent, mail: Mail, thread: str, line: int, product: str) -> Record:
    def zoned(moment: datetime) -> datetime:
        return moment if moment.tzinfo else moment.replace(tzinfo=source.options.timezone)

    metadata = {
        "ends_at": zoned(event.ends_at).isoformat() if event.ends_at else None,
        "location": event.location,
        "organizer": event.organizer,
        "attendees": list(event.attendees),
        "repeats": event.repeats,
        "cancelled": event.is_cancelled,
        "mail": bounded_id(mail.id),
    }
    return source.item(
        {
            "id": bounded_id(f"event:{event.uid}"),
            "text": event_text(event),
            "subtype": "invitation",
            "name": bounded_name(event.summary),
            "speaker": event.organizer or shown(mail.sender) or None,
            "timestamp": zoned(event.starts_at),
            "flow_id": bounded_id(thread),
            "source": product,
            "metadata": {key: value for key, value in metadata.items() if value},
        },
        line=line,
        usual_context="Mail",
    )


def _full(person: tuple[str, str]) -> str:
    name, address = person
    return f"{name} <{address}>" if name and address else name or address
