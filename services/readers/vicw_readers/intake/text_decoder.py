"""Decoder of files: UTF-8, UTF-16 by its mark or its bytes, what is named, and what alone can be meant."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from typing import BinaryIO

from vicw_readers.intake.guessed_encoding import guessed_encoding
from vicw_readers.intake.limits import limits
from vicw_readers.records import NothingToReadError, UnreadableFileError
from vicw_shared.text import visible

_SNIFF_BYTES = 8192
_UTF8 = "utf-8-sig"
_LEAST_PAIRS = 4
_MARKS = "\ufeff\u200b\u200c\u200d\u200e\u200f\xad"
"""What stands in texts and is not printed."""
UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_CODING = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", re.MULTILINE | re.ASCII)
SAVE_AS_UTF8 = "Save it as UTF-8, or say with --encoding what it is"
_LARGER = "Cut it into smaller files, or raise VICW_READERS_TEXT_MB"
_NEWLINE = re.compile(r"\r\n|\r|\n")


class TooLongTextError(UnreadableFileError):
    """The text is over the limit."""


def read_text(
    file: BinaryIO, size: int = 0, fallback: str | None = None, assume: Callable[[str], None] | None = None
) -> str:
    """Return a file's text, line ends untouched, without its byte order mark; ``size`` is what is known of its bytes.

    What is not UTF-8 is of the encoding that it names in its first two lines (PEP 263), else of ``fallback``, else of
    the only one that can be meant: ``assume`` is told its name.

    Raises NothingToReadError for an empty or binary file, UnreadableFileError for a file that is too large, in
    another encoding, or with a NUL in it, and OSError.
    """
    most = limits().text_bytes
    if size > most:
        raise TooLongTextError(f"is too large: {size} bytes, over {most}", fix=_LARGER)
    data = file.read(most + 1)
    if len(data) > most:  # packed, or it has grown
        raise TooLongTextError(f"is too large: over {most} bytes", fix=_LARGER)
    if looks_binary(data[:_SNIFF_BYTES], fallback):
        raise NothingToReadError("is binary")
    text = decode(data, _named(data) or fallback, assume)
    if (at := text.find("\x00")) >= 0:
        raise UnreadableFileError("contains the NUL character (U+0000)", line_at(text, at))
    if not visible(text):
        raise NothingToReadError("is empty")
    return text


def looks_binary(head: bytes, fallback: str | None = None) -> bool:
    """Return whether the first bytes of a file are binary: a NUL in what is not UTF-16, nor text in ``fallback``."""
    return b"\x00" in head and encoding_of(head, fallback) == _UTF8


def encoding_of(head: bytes, fallback: str | None = None) -> str:
    """Return the encoding of a text by its first bytes: their mark, or zeros in one half of the pairs.

    ``fallback``, an encoding that writes zeros, counts where these bytes are text in it. UTF-8 is what is left.
    """
    if head.startswith(UTF16_MARKS):
        return "utf-16"
    head = head[:_SNIFF_BYTES]
    if b"\x00" not in head:
        return _UTF8
    return unmarked_utf16(head) or (fallback if fallback and _is_text(head, fallback) else _UTF8)


def unmarked_utf16(head: bytes) -> str | None:
    """Return the kind of UTF-16 of a text without a mark, or None.

    In a text of European letters, digits or code, at least a quarter of the pairs have a zero, all in the same half.

    >>> unmarked_utf16("int x;".encode("utf-16-le")), unmarked_utf16(b"\\x00\\x01\\x02")
    ('utf-16-le', None)
    """
    pairs = len(head[:_SNIFF_BYTES]) // 2
    first, second = head[0 : 2 * pairs : 2].count(0), head[1 : 2 * pairs : 2].count(0)
    if pairs < _LEAST_PAIRS or min(first, second) or 4 * max(first, second) < pairs:
        return None
    encoding = "utf-16-be" if first else "utf-16-le"
    return encoding if _is_text(head, encoding) else None


def _is_text(head: bytes, encoding: str) -> bool:
    """Return whether bytes, which may be cut anywhere, are nothing but printable text."""
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(head[:_SNIFF_BYTES])
    except (UnicodeError, LookupError):
        return False
    return bool(text) and all(char.isprintable() or char.isspace() or char in _MARKS for char in text)


def decode(data: bytes, fallback: str | None = None, assume: Callable[[str], None] | None = None) -> str:
    """Return the text of ``data``, of the encoding ``fallback`` if it is not UTF-8.

    ``assume`` is told the name of an encoding that nobody has named; without it none is assumed but UTF-16.
    Raises UnreadableFileError naming the first invalid line.
    """
    encoding = encoding_of(data, fallback)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        if fallback is not None:
            return _decoded(data, fallback)
        if assume is not None and (guessed := guessed_encoding(data)) is not None:
            assume(guessed[1])
            return data.decode(guessed[0])
        line = line_at(data[: error.start].decode(encoding, "replace"), -1)
        raise UnreadableFileError(f"is not valid {encoding.removesuffix('-sig').upper()}", line, SAVE_AS_UTF8) from None
    if assume is not None and encoding not in {_UTF8, "utf-16", fallback}:
        assume(encoding)
    return text


def _decoded(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except (UnicodeError, LookupError):  # not every codec raises the error of decoding
        raise UnreadableFileError(f"is neither valid UTF-8 nor {encoding}", fix=SAVE_AS_UTF8) from None


def _named(data: bytes) -> str | None:
    """Return the encoding that a comment in the first two lines names, as PEP 263 says."""
    match = _CODING.search(b"\n".join(data[:_SNIFF_BYTES].splitlines()[:2]))
    return match[1].decode("ascii") if match else None


def line_at(text: str, offset: int) -> int:
    """Return the number, from 1, of the line at ``offset``; -1 is the end of the text."""
    return 1 + len(_NEWLINE.findall(text[:offset] if offset >= 0 else text))
