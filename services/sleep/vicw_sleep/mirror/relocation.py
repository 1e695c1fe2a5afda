"""What becomes of a mirror whose place another takes: edits and what we did not write move along, then it goes.

Any of it may be broken off by a death, and is done again from its beginning.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

from vicw_sleep.mirror.ledger import LEDGER, MirrorLedger, is_usable

MARKER = ".vicw-mirror.json"
INTENT = ".vicw-mirror.intent.json"
STAGING = ".vicw-staging"
EDITS = ".vicw-edits"
"""Where pages that somebody has edited go before they are written anew."""
_OURS = {MARKER, f"{MARKER}.new", INTENT, f"{INTENT}.new", LEDGER, f"{LEDGER}-journal"}
_PAGE = re.compile(r"vicw-mirror\.md|@[^/]+/(#[^/]+/)?[^/]*_[a-z2-7]{12}(_\d{4}-\d\d-\d\d_[0-9a-f]{12})?\.md")
"""What our pages are called."""


def intended_in(folder: Path) -> dict[str, bytes] | None:
    """Return what was about to be written (SHA-256) when somebody died; None: nobody did."""
    try:
        told = json.loads((folder / INTENT).read_bytes())
        return {page: bytes.fromhex(sha) for page, sha in told.items() if sha}
    except FileNotFoundError:
        return None
    except ValueError:
        return {}


def name_aside(mirror: Path, page: str, content: bytes) -> str | None:
    """Return the name under which an edit of a page is to be kept in a mirror; None: it is kept already.

    One that is kept of the same page stays: it is another.
    """
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


def leave(left: Path, into: Path) -> list[str]:
    """Move what is not ours from a mirror to the one that took its place; return the pages of which an edit was put
    aside: one that was saved after the others had been.
    """
    _move_foreign(left, into)  # earlier edits, too, with which the names of later ones must not collide
    edited: list[str] = []
    if not is_usable(left):
        return edited
    with closing(MirrorLedger(left, reading=True)) as ledger:
        for page, content in edited_in(left, ledger, lambda page: _read(left / page)):
            if (name := name_aside(into, page, content)) is not None:
                (into / name).parent.mkdir(parents=True, exist_ok=True)
                (into / name).write_bytes(content)
                edited.append(page)
    return edited


def remove(left: Path) -> None:
    """Remove a mirror. What marks it goes last: half of it is known for one, and the next run removes the rest."""
    for entry in left.iterdir():
        if entry.name == MARKER:
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()
    shutil.rmtree(left)


def is_hardly_begun(left: Path) -> bool:
    """Tell whether a folder is one that whoever was to build in it died in before it was marked."""
    return left.is_dir() and {entry.name for entry in left.iterdir()} <= {MARKER, f"{MARKER}.new"}


def edited_in(mirror: Path, ledger: MirrorLedger, read: Callable[[str], bytes | None]) -> Iterator[tuple[str, bytes]]:
    """Yield the pages of a mirror that are not what was written, or was about to be, and what is in them now.

    ``read`` returns what is in a page, None if it is not there.
    """
    intended = intended_in(mirror) or {}
    for page, known, _ in ledger.pages():
        content = read(page)
        if content is not None and hashlib.sha256(content).digest() not in {known, intended.get(page)}:
            yield page, content


def _read(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except (FileNotFoundError, IsADirectoryError):
        return None


def _move_foreign(left: Path, into: Path) -> None:
    """Move what we did not write from a mirror to the one that took its place; what is there already stays there."""
    pages: set[str] | None = None
    if is_usable(left):
        with closing(MirrorLedger(left, reading=True)) as ledger:
            pages = {path for path, _, _ in ledger.pages()}

    def is_ours(path: str) -> bool:
        # Without a ledger the name alone tells. One of ours that stayed might show what is private by now.
        return path in _OURS or (path in pages if pages is not None else _PAGE.fullmatch(path) is not None)

    for folder, folders, files in os.walk(left):
        here = Path(folder).relative_to(left)
        folders[:] = [
            name
            for name in folders
            if name != STAGING and not _moved(left, into, here / name, whole=not name.startswith(("@", "#")))
        ]
        for name in files:
            if not is_ours((here / name).as_posix()):
                _moved(left, into, here / name, whole=True)


def _moved(left: Path, into: Path, name: Path, *, whole: bool) -> bool:
    """Move a file, or a folder none of which is ours; return whether it is in its place."""
    if not whole or os.path.lexists(into / name):
        return False
    (into / name).parent.mkdir(parents=True, exist_ok=True)
    (left / name).rename(into / name)
    return True
