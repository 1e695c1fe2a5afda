"""A JSON file of any size: lists and objects are entered, what is in them is decoded one value at a time."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from vicw_readers.intake.json_start import HEX_ESCAPE
from vicw_readers.intake.limits import limits
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.intake.text_decoder import encoding_of
from vicw_readers.records import UnreadableFileError

_CHUNK_BYTES = 256 * 1024
_TOKEN_CHARS = 16
"""Longest token that may be cut at the end of what was read: an escaped character, a literal."""
_SPACE = re.compile(r"[ \t\r\n]*")


def json_values(source: SourceFile) -> Iterator[object]:
    """Yield the elements of the lists that a file holds, or its values one after the other. Raises UnreadableFileError.

    Never more than one value and what is read at a time are held. An export that was appended to is a list after a
    list.
    """
    with source.open() as file:
        cursor = JsonCursor(file)
        has_lists = cursor.peek() == "["
        while mark := cursor.peek():
            if mark == ",":
                cursor.skip()
            elif mark == "[" and has_lists:
                for _ in cursor.elements():
                    yield cursor.value()
            else:
                yield cursor.value()


class JsonCursor:
    """A place in a JSON file. Bytes that are no text become lone surrogates, so that only their value is refused.

    All methods raise UnreadableFileError, with the line, where the file is no JSON or ends. What was read before is
    right.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        start = file.read(_CHUNK_BYTES)
        self._decoder = codecs.getincrementaldecoder(encoding_of(start))("surrogateescape")
        self._text = self._decoder.decode(start)
        self._at = 0
        self._ended = not start
        self._lines, self._counted = 1, 0
        # Strict would refuse tabs and line ends inside texts, which some exporters write as they are.
        self._json = json.JSONDecoder(strict=False)

    @property
    def line(self) -> int:
        """The line, from 1, of what comes next."""
        # Counted on from where it was asked for last: readers ask for each of many values.
        self._lines += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._lines

    def peek(self) -> str:
        """Return the next character that is not white space; "" at the end."""
        while True:
            self._at = _SPACE.match(self._text, self._at).end()  # type: ignore[union-attr]  # it matches ""
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def value(self) -> Any:
        """Return the next value as a whole."""
        self.peek()
        while True:
            try:
                value, end = self._json.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if error.msg.startswith("Invalid \\escape") and self._repair():
                    continue
                is_cut = error.msg.startswith("Unterminated") or error.pos >= len(self._text) - _TOKEN_CHARS
                if not is_cut or not self._more():
                    raise self._broken(error.msg, error.pos) from None
                continue
            except RecursionError:
                raise self._broken("is nested too deeply") from None
            except ValueError as error:  # a number of too many digits
                raise self._broken(str(error)) from None
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
                raise self._broken("a key is no text")
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
            if self.peek() == closing:  # some programs end a list with a comma
                self._at += 1
                return

    def skip(self) -> None:
        """Pass over the next character."""
        self._at += 1

    def _take(self, mark: str) -> None:
        if self.peek() != mark:
            raise self._broken(f"{mark!r} is missing" if self.peek() else "is cut off")
        self._at += 1

    def _more(self) -> bool:
        """Read on, and forget what was read before; return whether there was more."""
        if self._ended:
            return False
        kept = len(self._text) - self._at
        if kept > (most := limits().value_chars):  # such as a conversation: it is decoded as a whole
            raise self._broken(f"has a value of over {most} characters (VICW_READERS_VALUE_MB)")
        # A long value is decoded from its start each time: reading as much again keeps that linear.
        data = self._file.read(max(_CHUNK_BYTES, kept))
        self._ended = not data
        self._lines = self.line
        self._text = self._text[self._at :] + self._decoder.decode(data, final=self._ended)
        self._at = self._counted = 0
        return True

    def _repair(self) -> bool:
        r"""Replace escapes like ``\x1F``, which Telegram writes and JSON does not know; return whether any are."""
        rest, count = HEX_ESCAPE.subn(r"\1\\u00\2", self._text[self._at :])
        self._text = self._text[: self._at] + rest
        return bool(count)

    def _broken(self, reason: str, place: int | None = None) -> UnreadableFileError:
        line = self.line + self._text.count("\n", self._at, self._at if place is None else place)
        return UnreadableFileError(f"is not JSON: {reason}", line)
