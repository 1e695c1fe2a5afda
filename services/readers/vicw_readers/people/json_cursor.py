"""A cursor over a JSON file of any size: lists and objects are entered, what is in them is decoded one at a time."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from vicw_readers.intake.json_start import HEX_ESCAPE
from vicw_readers.intake.limits import limits
from vicw_readers.intake.text_decoder import encoding_of

_CHUNK_BYTES = 256 * 1024
_TOKEN_CHARS = 16
"""Longest token that may be cut at the end of what was read: an escaped character, a literal."""
_SPACE = re.compile(r"[ \t\r\n]*")


class BrokenJsonError(Exception):
    """The file is no JSON from ``line`` on, or ends in the middle. What was read before is right."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


class JsonCursor:
    """A place in a JSON file. Bytes that are no text become lone surrogates, so that only their value is refused."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        start = file.read(_CHUNK_BYTES)
        self._decoder = codecs.getincrementaldecoder(encoding_of(start))("surrogateescape")
        self._text = self._decoder.decode(start)
        self._at = 0
        self._ended = not start
        self._lines = 1
        # Strict would refuse tabs and line ends inside texts, which some exporters write as they are.
        self._json = json.JSONDecoder(strict=False)

    @property
    def line(self) -> int:
        """The line, from 1, of what comes next."""
        return self._lines + self._text.count("\n", 0, self._at)

    def peek(self) -> str:
        """Return the next character that is not white space; "" at the end."""
        while True:
            self._at = _SPACE.match(self._text, self._at).end()  # type: ignore[union-attr]  # it matches ""
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def value(self) -> Any:
        """Return the next value as a whole. Raises BrokenJsonError."""
        self.peek()
        while True:
            try:
                value, end = self._json.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if error.msg.startswith("Invalid \\escape") and self._repair():
                    continue
                is_cut = error.msg.startswith("Unterminated") or error.pos >= len(self._text) - _TOKEN_CHARS
                if not is_cut or not self._more():
                    raise BrokenJsonError(f"is not JSON: {error.msg}", self.line) from None
                continue
            except (RecursionError, ValueError) as error:
                raise BrokenJsonError(f"is not JSON that can be read: {error}", self.line) from None
            # A number at the end of the text may go on.
            if end == len(self._text) and not isinstance(value, str | dict | list) and self._more():
                continue
            self._at = end
            return value

    def elements(self) -> Iterator[None]:
        """Enter a list, and stop before each element, which is to be read or entered."""
        self._take("[")
        yield from self._parts("]")

    def members(self) -> Iterator[str]:
        """Enter an object, and stop before the value of each key, which is to be read, entered or skipped."""
        self._take("{")
        for _ in self._parts("}"):
            key = self.value()
            if not isinstance(key, str):
                raise BrokenJsonError("is not JSON: a key is no text", self.line)
            self._take(":")
            yield key

    def _parts(self, closing: str) -> Iterator[None]:
        if self.peek() == closing:
            self._at += 1
            return
        while True:
            yield
            mark = self.peek()
            if mark == closing:
                self._at += 1
                return
            self._take(",")

    def _take(self, mark: str) -> None:
        if self.peek() != mark:
            raise BrokenJsonError("is cut off" if not self.peek() else f"is not JSON: {mark!r} is missing", self.line)
        self._at += 1

    def _more(self) -> bool:
        """Read on, and forget what was read before; return whether there was more."""
        if self._ended:
            return False
        kept = len(self._text) - self._at
        if kept > (most := limits().value_chars):  # it is decoded as a whole
            raise BrokenJsonError(f"holds a value of over {most} characters (VICW_READERS_VALUE_MB)", self.line)
        # A long value is decoded from its start each time: reading as much again keeps that linear.
        data = self._file.read(max(_CHUNK_BYTES, kept))
        self._ended = not data
        self._lines += self._text.count("\n", 0, self._at)
        self._text = self._text[self._at :] + self._decoder.decode(data, final=self._ended)
        self._at = 0
        return True

    def _repair(self) -> bool:
        r"""Replace escapes like ``\x1F``, which Telegram writes and JSON does not know; return whether any are."""
        rest, count = HEX_ESCAPE.subn(r"\1\\u00\2", self._text[self._at :])
        self._text = self._text[: self._at] + rest
        return bool(count)
