"""What a mail says: its text, the names of its attachments, its invitations."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from email.message import Message

from vicw_readers.mail.headers import decoded, first_of, header_text, people, shown
from vicw_shared.text import visible

_STUB = re.compile(
    r"\s*(?:this (?:message|e-?mail) (?:requires|is in|contains) html"
    r"|(?:your|this) (?:e-?mail )?(?:client|reader) (?:does not|cannot)"
    r"|diese e-?mail (?:ist im|enthält) html|view this (?:e-?mail|message) in (?:a|your) browser\s*$)",
    re.IGNORECASE,
)
_MAX_DEPTH = 50


@dataclass(slots=True)
class MailBody:
    """What the parts of a mail hold; ``texts`` are in order."""

    texts: list[str] = field(default_factory=list)
    attachments: list[str] = field(default_factory=list)
    calendars: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All texts, one below the other."""
        return "\n\n".join(part.strip("\n") for part in self.texts if visible(part))

    def take(self, other: MailBody) -> None:
        """Add what another part holds."""
        self.texts += other.texts
        self.attachments += other.attachments
        self.calendars += other.calendars


def body_of(message: Message, depth: int = 0) -> MailBody:
    """Return what a mail or a part says: of alternatives the plain text, or else the readable text of the HTML."""
    body = MailBody()
    kind = message.get_content_type()
    payload = message.get_payload()
    parts = [part for part in payload if isinstance(part, Message)] if isinstance(payload, list) else []
    if depth > _MAX_DEPTH:
        return body
    if kind == "message/rfc822" and parts:
        _take_mail(body, parts[0], depth)
    elif isinstance(payload, list):
        found = [body_of(part, depth + 1) for part in parts]
        if kind == "multipart/alternative":
            found = [_best(found, [part.get_content_type() for part in parts])]
        for one in found:
            body.take(one)
    elif kind in {"text/calendar", "application/ics"}:
        body.calendars.append(_text(message))
    elif _is_attached(message) or not kind.startswith("text/"):
        if name := _name(message, kind):
            body.attachments.append(name)
    elif kind == "text/html":
        from vicw_readers.documents.html.text import mail_text

        body.texts.append(mail_text(_text(message)))
    elif kind == "text/plain" or depth == 0:
        body.texts.append(_unflowed(_text(message), message))
    return body


def _best(found: list[MailBody], kinds: list[str]) -> MailBody:
    """Return the alternative to read, with the calendars and attachments of all."""
    best = MailBody()
    for one in found:
        best.calendars += one.calendars
        best.attachments += one.attachments
    by_kind = sorted(zip(kinds, found, strict=True), key=lambda pair: pair[0] != "text/plain")
    spoken = [one.texts for _, one in by_kind if visible(one.text)]
    whole = [texts for texts in spoken if not _STUB.match("\n".join(texts))]
    best.texts = next(iter(whole or spoken), [])
    return best


def _take_mail(body: MailBody, inner: Message, depth: int) -> None:
    """Add a mail that is forwarded as an attachment, under a line that says whose it is."""
    sender = next(iter(people(inner, "From")), ("", ""))
    subject = header_text(first_of(inner, "Subject"))
    held = body_of(inner, depth + 1)
    head = ", ".join(part for part in (subject, f"from {shown(sender)}" if any(sender) else "") if part)
    body.texts.append(f"[attached mail: {head}]\n{held.text}")
    body.attachments += held.attachments


def _is_attached(message: Message) -> bool:
    return first_of(message, "Content-Disposition").lower().lstrip().startswith("attachment")


def _name(message: Message, kind: str) -> str:
    """Return the name of an attachment; "" for a picture that stands in the text."""
    try:
        name = header_text(message.get_filename())
    except Exception:  # the module lets errors of broken parameters through
        name = ""
    if message.get("Content-ID") and kind.startswith("image/") and not _is_attached(message):
        return ""
    if name:
        return re.split(r"[/\\]", name)[-1]
    return "" if kind.startswith(("multipart/", "message/")) else kind


def _text(message: Message) -> str:
    try:
        data = message.get_payload(decode=True)
    except Exception:  # likewise of broken encodings
        data = None
    if not isinstance(data, bytes):
        return ""
    try:
        charset = message.get_content_charset()
    except Exception:
        charset = None
    return decoded(data, charset).replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")


def _unflowed(text: str, message: Message) -> str:
    """Return a text with the lines joined that were broken for the screen (RFC 3676)."""
    try:
        is_flowed = str(message.get_param("format", "")).lower() == "flowed"
        deletes = str(message.get_param("delsp", "")).lower() == "yes"
    except Exception:
        return text
    if not is_flowed:
        return text
    lines: list[str] = []
    goes_on = False
    for written in text.split("\n"):
        is_quote = written.startswith(">")
        line = written if is_quote else written.removeprefix(" ")
        if goes_on and not is_quote and not lines[-1].startswith(">"):
            lines[-1] = (lines[-1][:-1] if deletes else lines[-1]) + line
        else:
            lines.append(line)
        goes_on = line.endswith(" ") and line != "-- "
    return "\n".join(lines)
