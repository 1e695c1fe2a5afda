"""The mails of an mbox file, one at a time, without their attachments: a file of any size in little memory.

The dialects are told apart by what a file shows: a line "From " in a body is quoted by ">" (mboxo, mboxrd), or the mail
says its length (mboxcl, mboxcl2), or neither, and then the lines around it decide.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from vicw_readers.mail.skim import MailSkimmer

_MAX_LINE_BYTES = 1024 * 1024
ENVELOPE = re.compile(
    # From ana@example.org Tue Apr 29 08:11:12 2025; Thunderbird writes "From - ", others a zone or seconds less
    rb"From (?:\S+|.{1,200}?) {1,2}(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? .{8,60}?\d{2}:\d{2}.{0,40}$"
)
_BARE = re.compile(rb"From (?:-|\S+@\S+|MAILER-DAEMON|\d+@xxx)[ \t]*(?:.*\d{4}.*)?$")
_PATCH = re.compile(rb"From [0-9a-f]{40,64} Mon Sep 17 00:00:00 2001")
_HEADER = re.compile(rb"[!-9;-~]{1,100}:(?:[ \t]|$)|>From ")
_QUOTED = re.compile(rb">+From ")
_MARKED = (b"F", b"-", b"\n", b"\r", b" ", b"\t")
"""What a line of an attachment begins with if it may be more: a mail, the end of its part, a blank line."""
_LENGTH = re.compile(rb"(?im)^content-length:[ \t]*(\d{1,12})[ \t]*\r?$")


@dataclass(frozen=True, slots=True)
class RawMail:
    """The bytes of a mail whose attachments are cut out; ``line`` is that of its envelope.

    ``is_cut`` says that it had more text than is kept.
    """

    line: int
    data: bytes
    is_cut: bool


def mails_of(file: BinaryIO, *, may_seek: bool = True) -> Iterator[RawMail]:
    """Yield the mails of an mbox. Lines before the first are of none.

    ``may_seek`` says that to seek is cheap. In what is packed it is not: there the stated lengths, which are looked at
    by seeking, are not used, since each would unpack the file to its end.
    """
    lines = _Lines(file)
    envelope = lines.next()
    while envelope and not envelope.startswith(b"From "):
        envelope = lines.next()
    while envelope:
        first = lines.number
        skimmer = MailSkimmer()
        headers = 0
        envelope = b""
        is_after_blank = False
        in_headers = True
        while line := lines.next():
            if in_headers:
                if headers == 0 and line.startswith(b">From "):  # mboxrd of mails in mails: an envelope kept as header
                    continue
                headers += 1
                skimmer.feed(line)
                if not line.strip():
                    in_headers = False
                    is_after_blank = True
                    if may_seek and (length := _length(skimmer.head)):
                        _take_stated(lines, skimmer, length)
                elif line.startswith(b"From ") and headers == 1:  # an envelope alone: a mail without anything
                    envelope = line
                    break
                continue
            if skimmer.is_dropping and line[:1] not in _MARKED:
                is_after_blank = False
                continue
            if is_after_blank and line.startswith(b"From ") and _begins_mail(line, lines.peek()):
                envelope = line
                break
            is_after_blank = not line.strip()
            skimmer.feed(line[1:] if _QUOTED.match(line) else line)
        if headers:
            yield RawMail(first, skimmer.data(), skimmer.is_cut)


def begins_archive(head: bytes) -> bool:
    """Return whether the first bytes of a file are of an mbox: an envelope, and a header in the next line.

    Patches that git writes in the form of mails are none.
    """
    first, _, rest = head.lstrip(b"\r\n").partition(b"\n")
    return first.startswith(b"From ") and not _PATCH.match(first) and _begins_mail(first, rest[:_MAX_LINE_BYTES])


def _begins_mail(line: bytes, next_line: bytes) -> bool:
    """Return whether a line "From " after a blank one begins a mail: it looks like an envelope, a header follows."""
    line = line.rstrip()
    return bool(_HEADER.match(next_line)) and bool(ENVELOPE.match(line) or _BARE.match(line))


def _length(head: bytes) -> int:
    match = _LENGTH.search(head)
    return int(match[1]) if match else 0


def _take_stated(lines: _Lines, skimmer: MailSkimmer, length: int) -> None:
    """Feed a body of the length that its header says, if there a mail begins or the file ends."""
    start = lines.tell()
    if not lines.is_end_of_mail(start + length):
        return
    while (missing := start + length - lines.tell()) > 0 and (line := lines.next(missing)):
        skimmer.feed(line)


class _Lines:
    """The lines of a file with one to look ahead. A line longer than the limit comes in pieces."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._ahead: bytes | None = None
        self._was_whole = True
        self.number = 0

    def next(self, most: int = _MAX_LINE_BYTES) -> bytes:
        """Return the next line, or b"" at the end."""
        line, self._ahead = self._ahead, None
        if line is None:
            line = self._file.readline(min(most, _MAX_LINE_BYTES))
        self.number += self._was_whole and bool(line)
        self._was_whole = line.endswith(b"\n")
        return line

    def peek(self) -> bytes:
        """Return the next line without taking it."""
        if self._ahead is None:
            self._ahead = self._file.readline(_MAX_LINE_BYTES)
        return self._ahead

    def tell(self) -> int:
        return self._file.tell() - len(self._ahead or b"")

    def is_end_of_mail(self, place: int) -> bool:
        """Return whether at ``place``, after blank lines, a mail begins or the file ends."""
        here = self._file.tell()
        try:
            end = self._file.seek(0, 2)
            if place > end:
                return False
            self._file.seek(max(place - 1, 0))
            before, after = self._file.read(1), self._file.read(64).lstrip(b"\r\n")
            return (before == b"\n" or place == end) and (not after or after.startswith(b"From "))
        finally:
            self._file.seek(here)
