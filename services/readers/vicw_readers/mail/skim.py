"""A mail as it is read, line by line, without the bodies of its attachments: only what may be read as text is kept."""

from __future__ import annotations

import re

from vicw_readers.intake.limits import limits

_MAX_HEADER_BYTES = 1024 * 1024
_MAX_NESTING = 50
_TYPE = re.compile(rb"(?im)^content-type:[ \t]*([^\s;]+)((?:[^\r\n]|\r?\n[ \t])*)")
_BOUNDARY = re.compile(rb'boundary[ \t]*=[ \t\r\n]*(?:"([^"\r\n]*)"|([^\s";]+))', re.IGNORECASE)
_ATTACHED = re.compile(rb"(?im)^content-disposition:[ \t]*attachment")
_KEPT = (b"text/", b"message/", b"multipart/")


class MailSkimmer:
    """Takes the lines of a mail, in order, and keeps those of headers and texts."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0
        self._header: list[bytes] = []
        self._header_size = 0
        self._in_header = True
        self._is_kept = True
        self._boundaries: list[bytes] = []
        self.head = b""
        self.is_cut = False

    def feed(self, line: bytes) -> None:
        """Take the next line, with its end."""
        if line.startswith(b"--") and self._boundaries and self._at_boundary(line.rstrip()):
            self._keep(line)
        elif self._in_header:
            self._feed_header(line)
        elif self._is_kept:
            self._keep(line)

    @property
    def is_dropping(self) -> bool:
        """Whether it is in an attachment, and keeps nothing until the part ends."""
        return not (self._is_kept or self._in_header)

    def data(self) -> bytes:
        """Return what was kept."""
        if self._in_header:
            self._end_header(b"")
        return b"".join(self._parts)

    def _at_boundary(self, line: bytes) -> bool:
        for depth in range(len(self._boundaries) - 1, -1, -1):
            boundary = self._boundaries[depth]
            if line == boundary:
                del self._boundaries[depth + 1 :]
                self._header, self._header_size, self._in_header = [], 0, True
                return True
            if line == boundary + b"--":
                del self._boundaries[depth:]
                self._in_header, self._is_kept = False, False
                return True
        return False

    def _feed_header(self, line: bytes) -> None:
        if not line.strip():
            self._end_header(line)
            return
        self._header_size += len(line)
        if self._header_size <= _MAX_HEADER_BYTES:
            self._header.append(line)
        else:
            self.is_cut = True

    def _end_header(self, blank: bytes) -> None:
        header = b"".join(self._header)
        self.head = self.head or header
        self._keep(header)
        self._keep(blank)
        self._in_header = False
        self._is_kept = True
        match = _TYPE.search(header)
        kind = match[1].lower() if match else b"text/plain"
        if match and kind.startswith(b"multipart/"):
            found = _BOUNDARY.search(match[2])
            if found and len(self._boundaries) < _MAX_NESTING:
                self._boundaries.append(b"--" + (found[1] or found[2] or b"").rstrip())
        elif kind == b"message/rfc822":
            # What was forwarded as an attachment has headers of its own.
            self._header, self._header_size, self._in_header = [], 0, True
        elif not kind.startswith(_KEPT) or (_ATTACHED.search(header) and kind != b"text/calendar"):
            self._is_kept = kind in (b"application/ics",)

    def _keep(self, data: bytes) -> None:
        self._size += len(data)
        if self._size <= limits().mail_bytes:
            self._parts.append(data)
        elif data:
            self.is_cut = True
