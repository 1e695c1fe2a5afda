"""The files of a knowledge folder on disk."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from pydantic import ValidationError

from vicw_core.code.languages import languages_of_path
from vicw_core.markdown.front_matter import front_matter
from vicw_core.markdown.note_titles import is_markdown, note_title
from vicw_readers.intake.file_start import FileStart
from vicw_readers.intake.kinds import kind_of
from vicw_readers.intake.machine_made import is_generated
from vicw_readers.intake.source_file import ImportOptions, ImportRun, SourceFile
from vicw_readers.intake.walk import walk
from vicw_readers.paths import PACKAGE, made_by_program, record_of_kind, unexpected
from vicw_readers.port import Reader
from vicw_readers.records import (
    Noted,
    NothingToReadError,
    Refused,
    Report,
    Skipped,
    SourceItem,
    UnreadableFileError,
    shown,
)
from vicw_readers.registry import reader_of
from vicw_shared.text import normalise
from vicw_shared.wire.ingest import Item
from vicw_shared.wire.validation_errors import describe

_AS_IT_IS = {"markdown", "code", "text", "csv", "org", "rst", "asciidoc", "latex"}
"""Readers of files that are pages as they stand: the server parses them."""
_BY_THEIR_TEXT = {
    *("pdf", "docx", "pptx", "xlsx", "epub", "html", "notebook", "subtitles", "canvas"),
    *("obsidian-base", "old-office", "export-part"),  # these say themselves why they are not read
}
"""Readers of files whose items, joined, are a page."""
_IMPORT = "Import it without --knowledge, which keeps these; --exclude leaves it out here"
_UNPACK = "Unpack it here, or import it without --knowledge"


@dataclass(frozen=True, slots=True)
class PageFile:
    """A file that can be a page. ``sha256`` is of the text that is sent; ``key`` is the id in its front matter.

    ``reader`` is the name of the reader that knows the file.
    """

    path: str
    text: str
    sha256: str
    key: str | None = None
    reader: str = ""

    @property
    def is_code(self) -> bool:
        """Whether the file is parsed as source code."""
        return bool(languages_of_path(self.path))

    def item(self, folder: str, item_id: str) -> Item:
        """Return the item to send. Raises UnreadableFileError if its name or text is invalid."""
        page = {"folder": folder, "path": self.path}
        try:
            return Item.model_validate({"id": item_id, "text": self.text, "page": page})
        except ValidationError as error:
            raise UnreadableFileError("; ".join(f"{f.field}: {f.problem}" for f in describe(error.errors()))) from None


@dataclass(slots=True)
class Snapshot:
    """State of a folder: pages by path, refused and skipped files, doubts, names of all files, and ``unread`` paths.

    ``options`` say which files are wanted.
    """

    pages: dict[str, PageFile] = field(default_factory=dict)
    refused: list[Refused] = field(default_factory=list)
    passed_over: list[Skipped] = field(default_factory=list)
    notes: list[Noted] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    unread: set[str] = field(default_factory=set)
    options: ImportOptions = field(default_factory=ImportOptions)

    @property
    def reports(self) -> list[Report]:
        """What is to be said of the files."""
        return [*self.refused, *self.passed_over, *self.notes]

    def may_be_there(self, path: str) -> bool:
        """Return whether a page that was not found may exist: it is not wanted, or could not be read, or its folder."""
        if not self.options.wants(path):
            return True
        place = PurePosixPath(path)
        return not self.unread.isdisjoint({path, *map(str, place.parents)})


def read_folder(root: Path, options: ImportOptions | None = None) -> Snapshot:
    """Read a folder. Links are not followed, pipes and devices never opened; unreadable files raise no error.

    Notes, markup, code, tables and other text are pages as they are, documents by their text. What people or assistants
    said is refused: a page is public, and has no speakers. Of ``options``, encoding and patterns count.
    """
    root = root.resolve()
    snapshot = Snapshot(options=replace(options or ImportOptions(), run=ImportRun(folders={root})))
    for entry in walk(root):
        if isinstance(entry, Path):
            _read(snapshot, entry, entry.relative_to(root).as_posix())
        elif isinstance(entry, Refused):
            snapshot.refused.append(entry)
            snapshot.unread.add(_inside(root, entry.path))
        elif isinstance(entry, Noted):
            snapshot.notes.append(entry)
        else:
            snapshot.passed_over.append(entry)
            snapshot.names.add(PurePosixPath(entry.path).name)
    return snapshot


def signature(root: Path) -> Mapping[str, tuple[int, int, int]]:
    """Return times, sizes and inodes of the files: they differ after a change, and no file is read."""
    stats: dict[str, tuple[int, int, int]] = {}
    for entry in walk(root):
        if isinstance(entry, Path):
            try:
                stat = entry.stat()
            except OSError:
                continue  # deleted meanwhile
            stats[os.fsdecode(entry)] = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
    return stats


def _read(snapshot: Snapshot, path: Path, name: str) -> None:
    snapshot.names.add(path.name)
    if not snapshot.options.wants(name):
        return
    if is_generated(path.name):
        snapshot.passed_over.append(Skipped(shown(path), "is a generated file"))
        return
    source = SourceFile(path, name, "", snapshot.options)
    record: Refused | Skipped | None
    try:
        start = FileStart(source)
        reader = reader_of(start)
        if reader is None:
            record = _no_page(source, start)
        else:
            source = replace(source, reader=reader)
            record = _page(snapshot, source, start, reader)
            snapshot.notes += source.assumed()
    except NothingToReadError as error:
        if is_markdown(name) and not path.stat().st_size:
            # Others link to an empty note; its title is what it says.
            _add(snapshot, source, f"{note_title(name)}\n")
            return
        record = source.skip(error.reason)
    except UnreadableFileError as error:
        record = source.refuse(error.reason, error.line, fix=error.fix)
    except OSError as error:
        record = source.refuse(f"cannot be read: {error.strerror or error}")
    except Exception as error:  # of whatever a reader did not expect of a file; the others are still to be read
        record = source.refuse(unexpected(error))
    if isinstance(record, Refused):
        snapshot.refused.append(record)
        snapshot.unread.add(name)
    elif record is not None:
        snapshot.passed_over.append(record)


def _page(snapshot: Snapshot, source: SourceFile, start: FileStart, reader: Reader) -> Refused | Skipped | None:
    """Add the page of a file, or return what is reported in its place. Raises as a reader does."""
    if reason := made_by_program(reader, start):
        return source.skip(reason)
    if reader.name in _AS_IT_IS:
        _add(snapshot, source, normalise(source.text()))
        return None
    if reader.name not in _BY_THEIR_TEXT:
        return source.refuse("is no page, but of a format whose items have speakers, times or people", fix=_IMPORT)
    parts: list[str] = []
    for record in reader.read(source):
        if isinstance(record, SourceItem):
            parts.append(_with_name(record.item))
        elif isinstance(record, Refused):
            snapshot.refused.append(record)
        elif isinstance(record, Noted):
            snapshot.notes.append(record)
        else:
            return record
    if not parts:
        raise NothingToReadError("has nothing that is read")
    _add(snapshot, source, normalise("\n\n".join(parts)))
    return None


def _with_name(item: Item) -> str:
    """Return the text of a section below its name, unless it begins with its heading."""
    is_named = item.name is None or item.name.split(" > ")[-1] in item.text.partition("\n")[0]
    return item.text if is_named else f"{item.name}\n\n{item.text}"


def _no_page(source: SourceFile, start: FileStart) -> Refused | Skipped:
    """Return what is reported of a file that no reader is for."""
    if (kind := kind_of(start)) is not None:
        return record_of_kind(source, kind, in_folder=True)
    if start.suffix != ".zip":
        return Skipped(source.shown, PACKAGE)
    return Refused(source.shown, None, "is an archive, and a page is a file", _UNPACK, "archive")


def _add(snapshot: Snapshot, source: SourceFile, text: str) -> None:
    name = source.name
    front = front_matter(text) if is_markdown(name) else None
    snapshot.pages[name] = PageFile(
        name,
        text,
        hashlib.sha256(text.encode()).hexdigest(),
        front.key if front is not None else None,
        source.reader.name if source.reader else "",
    )
    snapshot.notes += [source.note(problem, 1) for problem in (front.problems if front is not None else ())]


def _inside(root: Path, path: str) -> str:
    place = PurePosixPath(path)
    return str(place.relative_to(root)) if place.is_relative_to(root) else path
