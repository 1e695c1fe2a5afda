"""Reader of Evernote exports: a note is an item, a long one cut at its headings."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from xml.parsers import expat

from vicw_readers.documents.html.text import readable_text
from vicw_readers.documents.xml_tree import forbid_entities
from vicw_readers.intake.file_start import FileStart
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.plain.text import sections as pieces_of
from vicw_readers.records import NothingToReadError, Record, UnreadableFileError, bounded_id, bounded_name

_CHUNK_BYTES = 256 * 1024
_FIELDS = {
    "title", "content", "created", "updated", "tag", "author", "source-url", "file-name", "mime", "data", "task-title",
}  # fmt: skip
_MEDIA = re.compile(r'<en-media\b[^>]*?\bhash="([0-9a-f]+)"[^>]*?/?>(?:\s*</en-media>)?', re.IGNORECASE)
_TODO = re.compile(r"<en-todo\b([^>]*?)/?>(?:\s*</en-todo>)?", re.IGNORECASE)
_CRYPT = re.compile(r"<en-crypt\b.*?</en-crypt>", re.IGNORECASE | re.DOTALL)


@dataclass(slots=True)
class _Note:
    line: int
    said: dict[str, str] = field(default_factory=dict)
    tags: list[str] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)


class EvernoteReader:
    """Notes of an export."""

    name = "evernote"
    title = "Evernote export"
    files = ("*.enex",)
    keeps = "title, text, tags, author, address, time of creation; attachments by name"
    leaves = "attachments themselves, encrypted passages (named in the text), formats"
    is_personal = False

    def recognises(self, start: FileStart) -> bool:
        """Return whether it begins as an export."""
        return start.text is not None and "<en-export" in start.text[:2048]

    def read(self, source: SourceFile) -> Iterator[Record]:
        """Yield the notes of an export of any size."""
        count = 0
        seen: dict[str, int] = {}
        for note in _notes(source):
            count += 1
            title = note.said.get("title", "").strip()
            created = note.said.get("created", "")
            digest = hashlib.sha256(f"{title}\0{created}".encode()).hexdigest()[:16]
            seen[digest] = seen.get(digest, 0) + 1
            place = digest if seen[digest] == 1 else f"{digest}-{seen[digest]}"
            yield from _items(source, note, title, place)
        if not count:
            raise NothingToReadError("has no notes")


def _items(source: SourceFile, note: _Note, title: str, place: str) -> Iterator[Record]:
    text = _text(note)
    metadata: dict[str, Any] = {
        name: note.said[key]
        for name, key in (("author", "author"), ("url", "source-url"), ("updated", "updated"))
        if note.said.get(key)
    }
    if note.files:
        metadata["attachments"] = list(note.files.values())
    for number, piece in enumerate(pieces_of(text or title), 1):
        name = title or "Note"
        yield source.item(
            {
                "id": bounded_id(f"evernote#{place}" if number == 1 else f"evernote#{place}-part-{number}"),
                "text": piece,
                "name": bounded_name(name if number == 1 else f"{name} ({number})"),
                "subtype": "note",
                "timestamp": _moment(note.said.get("created", "")),
                "tags": [tag for tag in dict.fromkeys(note.tags) if tag],
                "source": "evernote",
                "metadata": metadata,
            },
            line=note.line,
            usual_context="Evernote",
        )


def _text(note: _Note) -> str:
    content = _CRYPT.sub("[encrypted passage]", note.said.get("content", ""))
    content = _MEDIA.sub(lambda found: f"[attachment: {note.files.get(found[1].lower(), 'file')}]", content)
    content = _TODO.sub(lambda found: "[x] " if 'checked="true"' in found[1] else "[ ] ", content)
    return readable_text(content)


def _moment(written: str) -> datetime | None:
    try:
        return datetime.strptime(written.strip(), "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        return None


def _notes(source: SourceFile) -> Iterator[_Note]:
    """Yield notes as the parser comes to their ends; one of them is held at a time."""
    done: list[_Note] = []
    collector = _Collector(done)
    with source.open() as file:
        try:
            while data := file.read(_CHUNK_BYTES):
                collector.parser.Parse(data, False)
                yield from done
                done.clear()
            collector.parser.Parse(b"", True)
        except expat.ExpatError as error:
            yield from done
            raise UnreadableFileError(f"is broken or cut off: {error}", error.lineno) from None
    yield from done


class _Collector:
    """What the parser of an export has found of the note it is in."""

    def __init__(self, done: list[_Note]) -> None:
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._data
        forbid_entities(self.parser)
        self._done = done
        self._note: _Note | None = None
        self._field = ""
        self._parts: list[str] = []
        self._file = self._hash = ""

    def _start(self, name: str, _: dict[str, str]) -> None:
        if name == "note":
            self._note = _Note(self.parser.CurrentLineNumber)
        elif name == "resource":
            self._file = self._hash = ""
        if name in _FIELDS:
            self._field = name
            self._parts = []

    def _data(self, text: str) -> None:
        if self._field:
            self._parts.append(text)

    def _end(self, name: str) -> None:
        note = self._note
        if note is None:
            return
        if name == self._field:
            text = "".join(self._parts)
            self._field = ""
            self._parts = []
            if name == "tag":
                note.tags.append(text.strip())
            elif name == "file-name":
                self._file = text.strip()
            elif name == "data":
                self._hash = _digest(text)
            else:
                note.said.setdefault(name, text)
        elif name == "resource" and self._hash:
            note.files[self._hash] = self._file or "file"
        elif name == "note":
            self._done.append(note)
            self._note = None


def _digest(packed: str) -> str:
    try:
        return hashlib.md5(base64.b64decode(packed), usedforsecurity=False).hexdigest()
    except ValueError:
        return ""
