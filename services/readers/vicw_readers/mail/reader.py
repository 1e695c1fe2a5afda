"""Readers of mail: a file with one, or an archive of many."""

from __future__ import annotations

import gzip
import re
import sys
from collections.abc import Iterator
from itertools import chain

from vicw_readers.intake.file_start import FileStart
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.records import NothingToReadError, Record, UnreadableFileError

_HEADER = re.compile(rb"([A-Za-z][A-Za-z0-9-]{0,60}):")
_TYPICAL = {
    b"from",
    b"to",
    b"subject",
    b"date",
    b"message-id",
    b"received",
    b"return-path",
    b"mime-version",
    b"delivered-to",
}
_PROOF = {b"message-id", b"received", b"mime-version", b"return-path", b"date"}
_EMLX_COUNT = re.compile(rb"\d{1,10}[ \t]*\r?\n")
_MAX_LINE_BYTES = 1024 * 1024
_KEEPS = (
    "sender, time and text, plain or from HTML; a thread is a flow; invitations as items at their time; "
    "names of attachments"
)
_LEAVES = "attachments, what a mail quotes, signatures"


class MboxReader:
    """Mails one after another in a file, of any size."""

    name = "mbox"
    title = "Mail archive"
    files = ("*.mbox", "Inbox")
    keeps = _KEEPS
    leaves = f"{_LEAVES}, the second of equal mails"
    is_personal = True

    def recognises(self, start: FileStart) -> bool:
        """Return whether the first line is an envelope, and a header follows; a text that is called an archive is one.

        `read` refuses it if it has no mails: as any other text it would be public.
        """
        from vicw_readers.mail.mbox import begins_archive

        return begins_archive(start.head) or (start.suffix == ".mbox" and bool(start.text))

    def read(self, source: SourceFile) -> Iterator[Record]:
        """Yield a mail as an item, then the events of invitations."""
        from vicw_readers.mail.items import mail_items
        from vicw_readers.mail.mbox import mails_of
        from vicw_readers.mail.threads import Threads

        with source.open() as file:
            # In what is packed, to seek means to unpack it again.
            mails = mails_of(file, may_seek=source.archive is None and not isinstance(file, gzip.GzipFile))
            first = next(mails, None)
            if first is None:
                raise UnreadableFileError(
                    'is called a mail archive, but has no line "From …" that begins a mail',
                    fix="Rename it, and give --sensitivity personal to store it as text",
                )
            yield from mail_items(source, chain([first], mails), "mail", Threads().root_of)


class MailReader:
    """A mail alone, as mail programs save it."""

    name = "mail"
    title = "Mail"
    files = ("*.eml", "*.emlx")
    keeps = _KEEPS
    leaves = _LEAVES
    is_personal = True

    def recognises(self, start: FileStart) -> bool:
        """Return whether a file begins with headers of a mail that prove it, or is a text that is called a mail.

        `read` refuses it if it is none: as any other text it would be public.
        """
        head = _EMLX_COUNT.sub(b"", start.head, count=1) if start.suffix == ".emlx" else start.head
        names = _header_names(head)
        if start.suffix in {".eml", ".emlx"}:
            return bool(names & _TYPICAL) or bool(start.text)
        return len(names & _TYPICAL) >= 3 and b"from" in names and bool(names & _PROOF)

    def read(self, source: SourceFile) -> Iterator[Record]:
        """Yield the mail as an item, and the events of invitations in it."""
        from vicw_readers.mail.folder_threads import FolderThreads
        from vicw_readers.mail.items import mail_items
        from vicw_readers.mail.mbox import RawMail
        from vicw_readers.mail.skim import MailSkimmer

        skimmer = MailSkimmer()
        with source.open() as file:
            end = sys.maxsize
            first = file.readline(_MAX_LINE_BYTES)
            while (
                first and not first.removeprefix(b"\xef\xbb\xbf").strip()
            ):  # blank lines at the start would end the headers
                first = file.readline(_MAX_LINE_BYTES)
            if source.name.lower().endswith(".emlx") and _EMLX_COUNT.fullmatch(first):
                end = file.tell() + int(first)  # a property list of the mail program follows
            elif first:
                skimmer.feed(first.removeprefix(b"\xef\xbb\xbf"))
            else:
                raise NothingToReadError("is empty")
            while line := file.readline(min(_MAX_LINE_BYTES, max(0, end - file.tell()))):
                skimmer.feed(line)
        threads = FolderThreads.around(source)
        yield from mail_items(source, [RawMail(1, skimmer.data(), skimmer.is_cut)], "mail", threads.root_of)


def _header_names(head: bytes) -> set[bytes]:
    """Return the names of the headers at the start, in small letters; empty if something else stands there."""
    names: set[bytes] = set()
    for line in head.removeprefix(b"\xef\xbb\xbf").split(b"\n")[:200]:
        if not line.strip():
            break
        if line[:1] in b" \t" and names:
            continue
        match = _HEADER.match(line)
        if match is None:
            return set()
        names.add(match[1].lower())
    return names
