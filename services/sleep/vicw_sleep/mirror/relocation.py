"""Replacement of a mirror: edits and foreign files move to the new one, then the old one is removed.

Each step can be repeated from its beginning after a crash.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Collection, Iterator
from itertools import count
from pathlib import Path

MARKER = ".vicw-mirror.json"
MANIFEST = ".vicw-mirror.sha256"
"""The pages with their SHA-256, in the format of ``sha256sum -c``."""
EDITS = ".vicw-edits"
"""Folder for pages that a person has edited, before they are rewritten."""
_PREFIX = ".vicw-"
_PAGE = re.compile(r"vicw-mirror\.md|@[^/]+/(#[^/]+/)?[^/]*_[a-z2-7]{12}(_\d{4}-\d\d-\d\d_[0-9a-f]{12})?\.md")
"""Pattern of page names."""


def manifest_of(mirror: Path) -> dict[str, str] | None:
    """Return the pages of a mirror with their SHA-256; None if its manifest cannot be read."""
    try:
        lines = (mirror / MANIFEST).read_text("utf-8").split("\n")[:-1]
        return {path: sha for sha, path in (line.split("  ", 1) for line in lines)}
    except (OSError, ValueError):
        return None


def edited_in(mirror: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the pages of a mirror that were changed since they were written, with their current content."""
    root = mirror.resolve()
    for page, sha in (manifest_of(mirror) or {}).items():
        if not (file := root / page).is_file() or file.resolve() != file:  # removed, or behind a link
            continue
        content = file.read_bytes()
        if hashlib.sha256(content).hexdigest() != sha:
            yield page, content


def move_foreign_files(old: Path, into: Path) -> list[str]:
    """Move foreign files from a mirror to its replacement; return the pages of which an edit was kept.

    An edit keeps the page's name in a folder of its own; further edits of the page get a number.
    """
    _move_foreign(old, into, manifest_of(old))  # earlier edits first: names of later ones must not collide
    edited: list[str] = []
    for page, content in edited_in(old):
        if (name := _name_aside(into, page, content)) is not None:
            (into / name).parent.mkdir(parents=True, exist_ok=True)
            (into / name).write_bytes(content)
        edited.append(page)
    return edited


def remove(mirror: Path) -> None:
    """Remove a mirror. The marker goes last, so that the next run recognises and removes a partly removed mirror."""
    for entry in mirror.iterdir():
        if entry.name == MARKER:
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()
    shutil.rmtree(mirror)


def is_hardly_begun(folder: Path) -> bool:
    """Return whether a build died in this folder before it was marked."""
    return folder.is_dir() and {entry.name for entry in folder.iterdir()} <= {MARKER, f"{MARKER}.new"}


def _name_aside(mirror: Path, page: str, content: bytes) -> str | None:
    """Return the name under which to keep an edit of a page; None: it is kept already."""
    for number in count(1):
        name = f"{EDITS}/{page}" if number == 1 else f"{EDITS}/{page.removesuffix('.md')} ({number}).md"
        try:
            if (mirror / name).read_bytes() == content:
                return None
        except FileNotFoundError:
            return name
        except IsADirectoryError:
            continue
    raise AssertionError("there are always more numbers")


def _move_foreign(old: Path, into: Path, pages: Collection[str] | None) -> None:
    """Move the files that VICW did not write; existing files at the target stay."""

    def is_ours(path: str) -> bool:
        # Without a manifest the name decides: an old page that stayed might show data that is private now.
        return _is_internal(path) or (path in pages if pages is not None else _PAGE.fullmatch(path) is not None)

    for folder, folders, files in os.walk(old):
        here = Path(folder).relative_to(old)
        folders[:] = [
            name
            for name in folders
            if not _is_internal((here / name).as_posix())
            and not _move(old, into, here / name, whole=not name.startswith(("@", "#")))
        ]
        for name in files:
            if not is_ours((here / name).as_posix()):
                _move(old, into, here / name, whole=True)


def _is_internal(path: str) -> bool:
    return path.startswith(_PREFIX) and path.split("/", maxsplit=1)[0] != EDITS


def _move(old: Path, into: Path, name: Path, *, whole: bool) -> bool:
    """Move a file, or a folder without files of VICW; return whether it was moved."""
    if not whole or os.path.lexists(into / name):
        return False
    (into / name).parent.mkdir(parents=True, exist_ok=True)
    (old / name).rename(into / name)
    return True
