"""The files of a knowledge folder on disk."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from pydantic import ValidationError

from vicw_core.code.languages import languages_of_path
from vicw_core.markdown.front_matter import front_matter
from vicw_core.markdown.note_titles import is_markdown, note_title
from vicw_readers.intake.machine_made import is_generated
from vicw_readers.intake.text_decoder import read_text
from vicw_readers.intake.walk import walk
from vicw_readers.records import Noted, NothingToReadError, Refused, Skipped, UnreadableFileError, shown
from vicw_shared.text import normalise
from vicw_shared.wire.ingest import Item
from vicw_shared.wire.validation_errors import describe


@dataclass(frozen=True, slots=True)
class PageFile:
    """A file that can be a page. ``sha256`` is of the text that is sent; ``key`` is the id in its front matter."""

    path: str
    text: str
    sha256: str
    key: str | None = None

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
    """State of a folder: pages by path, refused and skipped files, doubts, names of all files, and ``unread`` paths."""

    pages: dict[str, PageFile] = field(default_factory=dict)
    refused: list[Refused] = field(default_factory=list)
    passed_over: list[Skipped] = field(default_factory=list)
    notes: list[Noted] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    unread: set[str] = field(default_factory=set)

    def may_be_there(self, path: str) -> bool:
        """Return whether a page that was not found may exist: it, or a folder above it, could not be read."""
        place = PurePosixPath(path)
        return not self.unread.isdisjoint({path, *map(str, place.parents)})


def read_folder(root: Path) -> Snapshot:
    """Read a folder. Links are not followed, pipes and devices never opened; unreadable files raise no error."""
    snapshot = Snapshot()
    root = root.resolve()
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
    if is_generated(path.name):
        snapshot.passed_over.append(Skipped(shown(path), "is a generated file"))
        return
    try:
        with path.open("rb") as file:
            text = normalise(read_text(file, path.stat().st_size))
    except NothingToReadError as error:
        if is_markdown(name) and not path.stat().st_size:
            # Others link to an empty note; its title is what it says.
            _add(snapshot, path, name, f"{note_title(name)}\n")
            return
        snapshot.passed_over.append(Skipped(shown(path), error.reason))
        return
    except UnreadableFileError as error:
        reason, line = error.reason, error.line
    except OSError as error:
        reason, line = f"cannot be read: {error.strerror or error}", None
    else:
        _add(snapshot, path, name, text)
        return
    snapshot.refused.append(Refused(shown(path), line, reason))
    snapshot.unread.add(name)


def _add(snapshot: Snapshot, path: Path, name: str, text: str) -> None:
    front = front_matter(text) if is_markdown(name) else None
    snapshot.pages[name] = PageFile(
        name, text, hashlib.sha256(text.encode()).hexdigest(), front.key if front is not None else None
    )
    snapshot.notes += [Noted(shown(path), 1, problem) for problem in (front.problems if front is not None else ())]


def _inside(root: Path, path: str) -> str:
    place = PurePosixPath(path)
    return str(place.relative_to(root)) if place.is_relative_to(root) else path
