"""What a file is, by its first bytes, if no reader is for it: so that a report can name it."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

from vicw_readers.intake.file_start import FileStart


@dataclass(frozen=True, slots=True)
class FileKind:
    """A kind of file that is not read. ``has_words``: its owner would miss it, so it is refused, not passed over."""

    title: str
    has_words: bool = False
    fix: str = ""


_AS_TEXT = "Save it as Markdown or text, and import that"
_UNPACK = "Unpack it, and name the folder"
_PICTURE, _SOUND, _FILM = FileKind("picture"), FileKind("sound"), FileKind("film")
_PROGRAM, _FONT = FileKind("program"), FileKind("font")
_ARCHIVE = FileKind("archive", True, _UNPACK)
_STARTS: tuple[tuple[bytes, FileKind], ...] = (
    (b"{\\rtf", FileKind("RTF document", True, _AS_TEXT)),
    (b"BEGIN:VCARD", FileKind("vCard of contacts", True, _AS_TEXT)),
    (b"BEGIN:VCALENDAR", FileKind("calendar", True, _AS_TEXT)),
    (b"window.YTD.", FileKind("part of an archive of X (Twitter)", True, _AS_TEXT)),
    (b"!BDN", FileKind("Outlook mailbox", True, "Export its mail as .mbox or .eml, and import that")),
    (b"SQLite format 3\x00", FileKind("SQLite database", True, "Export what it holds, and import that")),
    (b"7z\xbc\xaf\x27\x1c", _ARCHIVE),
    (b"Rar!\x1a\x07", _ARCHIVE),
    (b"\xfd7zXZ\x00", _ARCHIVE),
    (b"BZh", _ARCHIVE),
    (b"\x28\xb5\x2f\xfd", _ARCHIVE),
    (b"\x89PNG\r\n", _PICTURE),
    (b"\xff\xd8\xff", _PICTURE),
    (b"GIF8", _PICTURE),
    (b"BM", _PICTURE),
    (b"II*\x00", _PICTURE),
    (b"MM\x00*", _PICTURE),
    (b"ID3", _SOUND),
    (b"OggS", _SOUND),
    (b"fLaC", _SOUND),
    (b"\xff\xfb", _SOUND),
    (b"\x1aE\xdf\xa3", _FILM),
    (b"\x7fELF", _PROGRAM),
    (b"MZ\x90", _PROGRAM),
    (b"\xca\xfe\xba\xbe", _PROGRAM),
    (b"\x00asm", _PROGRAM),
    (b"wOFF", _FONT),
    (b"wOF2", _FONT),
    (b"\x00\x01\x00\x00\x00", _FONT),
    (b"OTTO", _FONT),
)
_RIFF = {b"WEBP": _PICTURE, b"WAVE": _SOUND, b"AVI ": _FILM}
_PICTURE_BRANDS = {b"heic", b"heix", b"mif1", b"avif"}
_SOUND_BRANDS = {b"M4A ", b"M4B "}
_MEMBERS: tuple[tuple[str, FileKind], ...] = (
    ("content.xml", FileKind("OpenDocument file", True, _AS_TEXT)),
    ("META-INF/MANIFEST.MF", _PROGRAM),
)
"""By a file that such a .zip has inside."""
OTHER = FileKind("binary file")


def kind_of(start: FileStart) -> FileKind | None:
    """Return what a file is that is no plain text; None for text, an empty file, and a .zip of files."""
    head = start.head.removeprefix(codecs.BOM_UTF8)
    if start.is_zip:
        return next((kind for member, kind in _MEMBERS if member in start.members), None)
    if head[:4] == b"RIFF":
        return _RIFF.get(head[8:12], OTHER)
    if head[4:8] == b"ftyp":
        brand = head[8:12]
        return _PICTURE if brand in _PICTURE_BRANDS else _SOUND if brand in _SOUND_BRANDS else _FILM
    found = next((kind for start_bytes, kind in _STARTS if head.startswith(start_bytes)), None)
    if found is not None and (found.has_words or start.text is None):  # "BM" begins a picture, and many a text
        return found
    if head[257:262] == b"ustar":
        return _ARCHIVE
    return OTHER if head and start.text is None else None
