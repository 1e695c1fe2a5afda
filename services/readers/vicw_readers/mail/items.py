"""From mails to items: one a mail, and one for each event that mails invite to, as the latest of them has it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from vicw_readers.intake.limits import limits
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.mail.calendar import CalendarEvent, event_text
from vicw_readers.mail.headers import shown
from vicw_readers.mail.mbox import RawMail
from vicw_readers.mail.message import Mail, NoMailError, parsed_mail
from vicw_readers.records import Record, bounded_id, bounded_name, some_of
from vicw_shared.text import counted, visible

_MAX_TEXT_CHARS = 1_000_000
"""As many as a server takes in an item."""
_MAX_EVENTS = 20_000
"""Events that wait for later news of them until the file ends."""


type ThreadOf = Callable[[str, Sequence[str]], str]
"""From a mail's id and those that it refers to, the oldest first, to its thread."""


def mail_items(source: SourceFile, mails: Iterable[RawMail], product: str, thread_of: ThreadOf) -> Iterator[Record]:
    """Yield the items of mails, then those of events. A mail that is in the file again is passed over."""
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
        thread = thread_of(mail.id, mail.references)
        if hash(mail.id) in seen:
            copies += 1
            continue
        seen.add(hash(mail.id))
        if raw.is_cut:
            yield source.refuse(
                f"is a mail with over {limits().mail_bytes} bytes of text; its start is read",
                raw.line,
                fix="Raise VICW_READERS_MAIL_MB",
            )
        for problem in mail.problems:
            yield source.refuse(f"is a mail with an invitation, of which {problem}", raw.line)
        fields = _fields(mail, thread, product)
        if len(fields["text"]) > _MAX_TEXT_CHARS:
            fields["text"] = fields["text"][:_MAX_TEXT_CHARS]
            yield source.refuse(
                f"is a mail with over {_MAX_TEXT_CHARS} characters of text; its start is read", raw.line
            )
        yield source.item(fields, line=raw.line, usual_context="Mail")
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
        "from": bounded_id(mail.sender[1]),
        "to": some_of(map(_full, mail.to)),
        "cc": some_of(map(_full, mail.copies)),
        "attachments": some_of(mail.attachments),
        "reply_to": bounded_id(mail.references[-1]) if mail.references else None,
        "labels": some_of(mail.labels),
        "folded_lines": mail.folded_lines,
    }
    return {
        "id": bounded_id(mail.id),
        "text": "\n".join(words),
        "subtype": "mail",
        "name": _name(mail.subject),
        "speaker": _name(shown(mail.sender)),
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
        "attendees": some_of(event.attendees),
        "repeats": event.repeats,
        "cancelled": event.is_cancelled,
        "mail": bounded_id(mail.id),
    }
    return source.item(
        {
            "id": bounded_id(f"event:{event.uid}"),
            "text": event_text(event),
            "subtype": "invitation",
            "name": _name(event.summary),
            "speaker": _name(event.organizer or "") or _name(shown(mail.sender)),
            "timestamp": zoned(event.starts_at),
            "flow_id": bounded_id(thread),
            "source": product,
            "metadata": {key: value for key, value in metadata.items() if value},
        },
        line=line,
        usual_context="Mail",
    )


def _name(text: str) -> str | None:
    """Return a name within the limits of an item; None if nothing of it is to be seen."""
    return bounded_name(text) if visible(text) else None


def _full(person: tuple[str, str]) -> str:
    name, address = person
    return f"{name} <{address}>" if name and address else name or address
