"""The headers of a mail: decoded whatever their charset, people, times, ids."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from email.header import decode_header
from email.message import Message
from email.utils import getaddresses, parsedate_to_datetime

_CHARSETS = {
    # What these names promise is often written in the wider set.
    "us-ascii": "utf-8",
    "ascii": "utf-8",
    "utf8mb4": "utf-8",
    "unicode-1-1-utf-7": "utf-7",
    "iso-8859-1": "cp1252",
    "iso8859-1": "cp1252",
    "latin1": "cp1252",
    "latin-1": "cp1252",
    "iso-8859-9": "cp1254",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "x-gbk": "gb18030",
    "ks_c_5601-1987": "cp949",
    "euc-kr": "cp949",
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "x-sjis": "cp932",
    "iso-8859-8-i": "iso-8859-8",
    "windows-874": "cp874",
    "tis-620": "cp874",
    "x-mac-roman": "mac-roman",
    "macintosh": "mac-roman",
}
_ID = re.compile(r"<([^<>\s]+)>")
_ADDRESS = re.compile(r"([^<>,;]*)<([^<>]*)>")
_SPACE = re.compile(r"\s+")
_UNWANTED = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def decoded(data: bytes, charset: str | None) -> str:
    """Return the text of bytes: in the charset that they claim, else in UTF-8, else in that of Windows in the West.

    >>> decoded("schönen".encode("latin-1"), "utf-8"), decoded("schön".encode(), "us-ascii"), decoded(b"a", "x-unknown")
    ('schönen', 'schön', 'a')
    """
    name = (charset or "utf-8").strip().strip("\"'").lower()
    for tried in (_CHARSETS.get(name, name), "utf-8"):
        try:
            return data.decode(tried)
        except (LookupError, ValueError):  # also a codec that is none of texts
            continue
    return data.decode("cp1252", "replace")


def header_text(value: str | None) -> str:
    """Return a header's words (RFC 2047), in one line; what is encoded wrongly stays as it is.

    >>> header_text("=?utf-8?q?Caf=C3=A9?= =?utf-8?q?_menu?="), header_text(None)
    ('Café menu', '')
    """
    if value is None:
        return ""
    text = decoded(value.encode("utf-8", "surrogateescape"), "utf-8")
    if "=?" in text:
        try:
            parts = decode_header(text)
        except Exception:  # the module lets errors of base64 and of charsets through
            parts = []
        if parts:
            text = "".join(one if isinstance(one, str) else decoded(one, charset) for one, charset in parts)
    return _UNWANTED.sub("", _SPACE.sub(" ", text)).strip()


def values_of(message: Message, name: str) -> list[str]:
    """Return the values of all headers of a name, undecoded; bytes that are no ASCII are lone surrogates."""
    wanted = name.lower()
    return [str(value) for key, value in message.raw_items() if key.lower() == wanted]


def first_of(message: Message, name: str) -> str:
    """Return the first value of a header, undecoded, or ""."""
    return next(iter(values_of(message, name)), "")


def people(message: Message, *names: str) -> list[tuple[str, str]]:
    """Return the people of headers, each as name and address; a name may be ""."""
    values = [_SPACE.sub(" ", value) for name in names for value in values_of(message, name)]
    found = getaddresses(values)
    if not any(map(any, found)):  # it refuses all of a list in which anything is wrong
        found = [(name, address) for value in values for name, address in _ADDRESS.findall(value)]
    return [(header_text(name).strip("'\" "), address.strip()) for name, address in found if name or address]


def shown(person: tuple[str, str]) -> str:
    """Return a person's name, else the address."""
    return person[0] or person[1]


def time_of(message: Message) -> datetime | None:
    """Return when a mail was sent: its Date, else when the last server received it; None if neither can be read.

    A date without a zone is UTC, as RFC 5322 has it for "-0000".
    """
    for value in (first_of(message, "Date"), first_of(message, "Received").rpartition(";")[2]):
        try:
            when = parsedate_to_datetime(header_text(value))
            when = when if when.tzinfo else when.replace(tzinfo=UTC)
            when.astimezone(UTC)  # far from year 1 and 9999
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
        return when
    return None


def ids_in(values: Iterable[str]) -> list[str]:
    """Return the message ids in headers, without their brackets.

    >>> ids_in(["<a@x> <b@x>", "junk"])
    ['a@x', 'b@x']
    """
    return [match for value in values for match in _ID.findall(value)]


def own_id(message: Message) -> str:
    """Return the id of a mail, or "" if it has none."""
    written = first_of(message, "Message-ID")
    return next(iter(ids_in([written])), "") or header_text(written).strip("<>")


def references_of(message: Message) -> list[str]:
    """Return the ids of the mails before it in its thread, the oldest first."""
    answered = ids_in(values_of(message, "In-Reply-To"))[:1]
    referred = dict.fromkeys([*ids_in(values_of(message, "References")), *answered])
    return [one for one in referred if one != own_id(message)]
