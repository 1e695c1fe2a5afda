"""Build the pages of a mirror in a folder beside it."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import batched, groupby
from operator import itemgetter

from vicw_shared.progress import Progress
from vicw_sleep.mirror.atoms import Atom, Bundle, Place, Shelf
from vicw_sleep.mirror.folder import Marker, MirrorFolder
from vicw_sleep.mirror.relocation import MANIFEST, remove
from vicw_sleep.mirror.renderer import (
    ROOT,
    bucket_path,
    folder_of,
    pages_of,
    render,
    render_bucket,
    render_root,
    render_shelf,
    section_of,
    shelf_page,
)

MAX_ATOMS = 100
"""Maximum atoms of a page."""
_SCRATCH = ".vicw-scratch.sqlite3"
_SCHEMA = """
    PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;
    CREATE TABLE section (uid TEXT PRIMARY KEY, text TEXT) WITHOUT ROWID;
    CREATE TABLE entry (
        bucket TEXT, tag TEXT, source TEXT, context TEXT, kind TEXT, at INTEGER, arrival INTEGER, uid TEXT,
        PRIMARY KEY (bucket, tag, source, context, kind, at, arrival, uid)
    ) WITHOUT ROWID;
"""
_bundle_of = itemgetter(0, 1, 2, 3, 4)


class MirrorBuild:
    """A mirror under construction, beside the current one. Its sections are kept on disk: a store may be of
    any size.
    """

    def __init__(self, folder: MirrorFolder, marker: Marker) -> None:
        self._folder = folder
        self._stopped = False
        self._path = folder.begin(marker)
        self._sha256: dict[str, str] = {}
        self._db = sqlite3.connect(self._path / _SCRATCH, isolation_level=None, check_same_thread=False)
        self._db.executescript(_SCHEMA)
        self.atoms = 0
        self.ends_at: datetime | None = None
        """When the first of its atoms expires or stops being true."""

    def add(self, atoms: Iterable[Atom]) -> None:
        """Add atoms."""
        for atom in atoms:
            self._db.execute("INSERT OR REPLACE INTO section VALUES (?, ?)", (atom.item.uid, section_of(atom)))
            rows = [(b.shelf.bucket, b.shelf.tag, b.source, b.context, b.kind, *atom.place) for b in atom.bundles]
            self._db.executemany("INSERT OR REPLACE INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
            self.ends_at = min(filter(None, (self.ends_at, atom.ends_at)), default=None)
            self.atoms += 1

    def write_all(self, progress: Progress) -> int:
        """Write all pages, unless stopped; return how many."""
        shelves: dict[Shelf, list[tuple[Bundle, int, int]]] = {}
        total = self._db.execute("SELECT count(*) FROM entry").fetchone()[0]
        done = 0
        for bundle, places in self._bundles():
            cuts = list(batched(places, MAX_ATOMS))
            for page in pages_of(bundle, cuts):
                if self._stopped:
                    return len(self._sha256)
                self._write(page.path, render(page, self._sections([uid for _, _, uid in page.places])))
            shelves.setdefault(bundle.shelf, []).append((bundle, len(places), len(cuts)))
            done += len(places)
            progress("writing", done, total)
        for path, text in _index_pages(shelves, self.atoms):
            self._write(path, text)
        manifest = "".join(f"{sha}  {path}\n" for path, sha in self._sha256.items())
        self._folder.write(MANIFEST, manifest.encode(), into=self._path)
        return len(self._sha256)

    def stop(self) -> None:
        """Make ``write_all``, which runs in another thread, end soon."""
        self._stopped = True

    def swap(self, marker: Marker) -> list[str]:
        """Put the build in the mirror's place; return the pages edited by a person, whose edits are set aside."""
        self._close_files()
        return self._folder.swap(marker)

    def close(self) -> None:
        """Close the build, and remove it if it was not swapped in."""
        self._close_files()
        with suppress(OSError):
            remove(self._path)

    def _bundles(self) -> Iterator[tuple[Bundle, list[Place]]]:
        for key, rows in groupby(self._db.execute("SELECT * FROM entry ORDER BY 1, 2, 3, 4, 5, 6, 7, 8"), _bundle_of):
            bucket, tag, source, context, kind = key
            yield Bundle(Shelf(bucket, tag), context, kind, source), [row[5:] for row in rows]

    def _sections(self, uids: Sequence[str]) -> dict[str, str]:
        sql = f"SELECT * FROM section WHERE uid IN ({','.join('?' * len(uids))})"  # noqa: S608
        return dict(self._db.execute(sql, uids).fetchall())

    def _write(self, path: str, text: str) -> None:
        content = text.encode()
        self._folder.write(path, content, into=self._path)
        self._sha256[path] = hashlib.sha256(content).hexdigest()

    def _close_files(self) -> None:
        self._db.close()
        (self._path / _SCRATCH).unlink(missing_ok=True)


def _index_pages(shelves: dict[Shelf, list[tuple[Bundle, int, int]]], atoms: int) -> Iterator[tuple[str, str]]:
    """Yield the index pages, with their paths."""
    buckets: list[tuple[str, int]] = []
    for shelf, bundles in shelves.items():
        yield f"{folder_of(shelf)}/{shelf_page(shelf)}.md", render_shelf(shelf, bundles)
    for bucket, group in groupby(shelves, key=lambda shelf: shelf.bucket):
        tags = [(shelf, sum(count for _, count, _ in shelves[shelf])) for shelf in group]
        buckets.append((bucket, len(tags)))
        yield bucket_path(bucket), render_bucket(bucket, tags)
    yield f"{ROOT}.md", render_root(buckets, atoms)


@dataclass(frozen=True, slots=True)
class MirrorResult:
    """Result of a run: ``pages`` written, ``edited`` pages set aside, and the number of ``atoms``."""

    built: bool
    atoms: int = 0
    pages: int = 0
    edited: list[str] = field(default_factory=list)
