"""A JSON file of any size, value by value: the elements of a list, or the lines of JSON Lines."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import BinaryIO

from vicw_readers.intake.limits import limits
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.intake.text_decoder import encoding_of
from vicw_readers.records import UnreadableFileError

_CHUNK_BYTES = 1024 * 1024
_SPACE = re.compile(r"[\s,]*")
_NEAR_END = 64
"""A fault this near to the end of what is read may be one of what is missing."""


def json_values(source: SourceFile) -> Iterator[object]:
    """Yield the elements of the list that a file holds, or its values one after the other. Raises UnreadableFileError.

    Never more than one value and a megabyte are held.
    """
    with source.open() as file:
        yield from _Values(file)


class _Values:
    """The part of a file that is read, decoded and not yet used."""

    def __init__(self, file: BinaryIO) -> None:
        head = file.read(4)
        file.seek(0)
        self._file = file
        self._encoding = encoding_of(head)
        self._decoder = codecs.getincrementaldecoder(self._encoding)()
        # Strict would refuse tabs and line ends inside texts, which some exporters write as they are.
        self._scan = json.JSONDecoder(strict=False).raw_decode
        self._text = ""
        self._at = 0
        self._line = 1
        self._ended = False

    def __iter__(self) -> Iterator[object]:
        self._more()
        is_list = self._text[self._skip_space() :].startswith("[")
        if is_list:
            self._use(self._at + 1)
        while True:
            at = self._skip_space()
            if at == len(self._text):
                if is_list:
                    raise self._broken("ends in the middle of a list")
                return
            if is_list and self._text[at] == "]":
                return
            yield self._value()

    def _value(self) -> object:
        while True:
            try:
                value, end = self._scan(self._text, self._at)
            except RecursionError:
                raise self._broken("is nested too deeply") from None
            except json.JSONDecodeError as error:
                is_cut = error.msg.startswith("Unterminated string") or error.pos >= len(self._text) - _NEAR_END
                if self._ended or not is_cut:
                    self._line += self._text.count("\n", self._at, error.pos)
                    raise self._broken(error.msg) from None
            except ValueError as error:  # a number of too many digits
                raise self._broken(str(error)) from None
            else:
                if end < len(self._text) or self._ended:  # else a number may go on
                    self._use(end)
                    return value
            self._more()

    def _skip_space(self) -> int:
        while True:
            match = _SPACE.match(self._text, self._at)
            end = match.end() if match else self._at
            self._use(end)
            if end < len(self._text) or self._ended:
                return end
            self._more()

    def _use(self, end: int) -> None:
        self._line += self._text.count("\n", self._at, end)
        self._at = end

    def _more(self) -> None:
        """Read more: at least as much as there is, so that a long value is scanned a few times at most."""
        rest = self._text[self._at :]
        if len(rest) > (most := limits().value_chars):  # such as a conversation: it is held in memory
            raise self._broken(f"has a value of over {most} characters (VICW_READERS_VALUE_MB)")
        data = self._file.read(max(_CHUNK_BYTES, len(rest)))
        self._ended = not data
        try:
            self._text = rest + self._decoder.decode(data, final=self._ended)
        except UnicodeDecodeError:
            raise self._broken(f"invalid {self._encoding.removesuffix('-sig').upper()}") from None
        self._at = 0

    def _broken(self, reason: str) -> UnreadableFileError:
        return UnreadableFileError(f"is not JSON: {reason}", self._line)
