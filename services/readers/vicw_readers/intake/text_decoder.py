"""Decoder of files: UTF-8, or UTF-16 with a byte order mark; other encodings are refused, not guessed."""

from __future__ import annotations

import codecs
import re
from typing import BinaryIO

from vicw_readers.intake.limits import limits
from vicw_readers.records import NothingToReadError, UnreadableFileError
from vicw_shared.text import visible

_SNIFF_BYTES = 8192
UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_CODING = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", re.MULTILINE | re.ASCII)
SAVE_AS_UTF8 = "Save it as UTF-8, or say with --encoding what it is"
_LARGER = "Cut it into smaller files, or raise VICW_READERS_TEXT_MB"
_NEWLINE = re.compile(r"\r\n|\r|\n")


class TooLongTextError(UnreadableFileError):
    """The text is over the limit."""


def read_text(file: BinaryIO, size: int = 0, fallback: str | None = None) -> str:
    """Return a file's text, line ends untouched, without its byte order mark; ``size`` is what is known of its bytes.

    What is not UTF-8 is of the encoding that it names in its first two lines (PEP 263), else of ``fallback``.

    Raises NothingToReadError for an empty or binary file, UnreadableFileError for a file that is too large, in
    another encoding, or with a NUL in it, and OSError.
    """
    most = limits().text_bytes
    if size > most:
        raise TooLongTextError(f"is too large: {size} bytes, over {most}", fix=_LARGER)
    data = file.read(most + 1)
    if len(data) > most:  # packed, or it has grown
        raise TooLongTextError(f"is too large: over {most} bytes", fix=_LARGER)
    if looks_binary(data[:_SNIFF_BYTES]):
        raise NothingToReadError("is binary")
    text = decode(data, _named(data) or fallback)
    if (at := text.find("\x00")) >= 0:
        raise UnreadableFileError("contains the NUL character (U+0000)", line_at(text, at))
    if not visible(text):
        raise NothingToReadError("is empty")
    return text


def looks_binary(head: bytes) -> bool:
    """Return whether the first bytes of a file are binary: a NUL without a UTF-16 mark."""
    return b"\x00" in head and not head.startswith(UTF16_MARKS)


def encoding_of(head: bytes) -> str:
    """Return the encoding that the first bytes of a text name."""
    return "utf-16" if head.startswith(UTF16_MARKS) else "utf-8-sig"


def decode(data: bytes, fallback: str | None = None) -> str:
    """Return the text of ``data``, of the encoding ``fallback`` if it is not UTF-8.

    Raises UnreadableFileError naming the first invalid line.
    """
    encoding = encoding_of(data)
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        if fallback is not None:
            return _decoded(data, fallback)
        line = line_at(data[: error.start].decode(encoding, "replace"), -1)
        raise UnreadableFileError(f"is not valid {encoding.removesuffix('-sig').upper()}", line, SAVE_AS_UTF8) from None


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
