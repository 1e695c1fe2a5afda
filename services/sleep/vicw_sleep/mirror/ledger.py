"""What a mirror has of which atom on which page: a small database beside the pages, one transaction a run."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from itertools import batched
from pathlib import Path

from vicw_shared.clock import from_us, to_us
from vicw_shared.ports import PassageChange
from vicw_sleep.mirror.atoms import Atom, Bundle, Place, Shelf
from vicw_sleep.mirror.renderer import MirrorPage

LEDGER = ".vicw-mirror.sqlite3"
_BATCH = 500
_SCHEMA = """
    CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER) WITHOUT ROWID;
    CREATE TABLE bundle (
        id INTEGER PRIMARY KEY, bucket TEXT, tag TEXT, context TEXT, kind TEXT, source TEXT,
        UNIQUE (bucket, tag, context, kind, source)
    );
    CREATE TABLE atom (uid TEXT PRIMARY KEY, ends_at INTEGER) WITHOUT ROWID;
    CREATE INDEX atom_ends ON atom (ends_at) WHERE ends_at IS NOT NULL;
    CREATE TABLE entry (
        bundle INTEGER, at INTEGER, arrival INTEGER, atom TEXT, page TEXT,
        PRIMARY KEY (bundle, at, arrival, atom)
    ) WITHOUT ROWID;
    CREATE INDEX entry_atom ON entry (atom);
    CREATE TABLE passage (uid TEXT PRIMARY KEY, atom TEXT) WITHOUT ROWID;
    CREATE INDEX passage_atom ON passage (atom);
    CREATE TABLE page (
        path TEXT PRIMARY KEY, bundle INTEGER, name TEXT, earlier TEXT, later TEXT, atoms INTEGER, sha256 BLOB
    ) WITHOUT ROWID;
    CREATE INDEX page_bundle ON page (bundle, name);
    CREATE TABLE seen (uid TEXT PRIMARY KEY, at INTEGER, seq INTEGER) WITHOUT ROWID;
    CREATE INDEX seen_at ON seen (at, uid, seq);
"""
_BUNDLE = "bucket, tag, context, kind, source"


@dataclass(frozen=True, slots=True)
class Kept:
    """A page as it was written: the names around it, and how many atoms it has."""

    path: str
    name: str
    earlier: str | None
    later: str | None
    atoms: int


def is_usable(folder: Path) -> bool:
    """Tell whether a mirror has a ledger that can be read."""
    try:
        with closing(sqlite3.connect(f"{(folder / LEDGER).as_uri()}?mode=rw", uri=True)) as db:
            for table in ("page", "entry", "seen"):
                db.execute(f"SELECT * FROM {table} LIMIT 1").fetchone()  # noqa: S608
            return True
    except sqlite3.Error:
        return False


class MirrorLedger:
    """The open database. Nothing is kept before ``commit``; a death rolls all back."""

    def __init__(self, folder: Path, *, durable: bool = True, reading: bool = False) -> None:
        """Open the ledger of a mirror, and make it if it is not there; one for ``reading`` has what was committed.

        A look at what is lost makes none: who writes next would take it for what is on the pages.
        """
        self._db = sqlite3.connect(folder / LEDGER, isolation_level=None, check_same_thread=False)
        self._db.execute("PRAGMA cache_size = -65536")
        self._db.execute("PRAGMA cache_spill = OFF")  # what was committed can be read until the next commit
        if not durable:
            self._db.execute("PRAGMA journal_mode = OFF")
            self._db.execute("PRAGMA synchronous = OFF")
        if not reading and not self._db.execute("SELECT 1 FROM sqlite_schema").fetchone():
            self._db.executescript(_SCHEMA)
        if not reading:
            self._db.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        """Keep what was noted."""
        self._db.execute("COMMIT")
        self._db.execute("BEGIN IMMEDIATE")

    def close(self) -> None:
        """Close; what was not committed is forgotten."""
        self._db.close()

    def put(self, atom: Atom) -> set[int]:
        """Note an atom in place of what was known of it; return the bundles that it is or was in."""
        touched = self.drop(atom.item.uid)
        uid, bundles = atom.item.uid, [self._bundle(bundle) for bundle in atom.bundles]
        self._db.execute("INSERT INTO atom VALUES (?, ?)", (uid, to_us(atom.ends_at)))
        self._db.executemany("INSERT OR REPLACE INTO passage VALUES (?, ?)", [(one, uid) for one in atom.passages])
        self._db.executemany("INSERT INTO entry VALUES (?, ?, ?, ?, NULL)", [(one, *atom.place) for one in bundles])
        return touched.union(bundles)

    def drop(self, uid: str) -> set[int]:
        """Forget an atom; return the bundles that it was in."""
        touched = {bundle for (bundle,) in self._db.execute("SELECT bundle FROM entry WHERE atom = ?", (uid,))}
        self._db.execute("DELETE FROM atom WHERE uid = ?", (uid,))
        self._db.execute("DELETE FROM passage WHERE atom = ?", (uid,))
        self._db.execute("DELETE FROM entry WHERE atom = ?", (uid,))
        return touched

    def _bundle(self, bundle: Bundle) -> int:
        values = (bundle.shelf.bucket, bundle.shelf.tag, bundle.context, bundle.kind, bundle.source)
        self._db.execute(f"INSERT OR IGNORE INTO bundle ({_BUNDLE}) VALUES (?, ?, ?, ?, ?)", values)  # noqa: S608
        sql = "SELECT id FROM bundle WHERE (bucket, tag, context, kind, source) = (?, ?, ?, ?, ?)"
        return int(self._db.execute(sql, values).fetchone()[0])

    def atoms_of(self, passages: Iterable[str]) -> set[str]:
        """Return the atoms that these passages were of."""
        found: set[str] = set()
        for batch in batched(passages, _BATCH):
            marks = ",".join("?" * len(batch))
            found |= {u for (u,) in self._db.execute(f"SELECT atom FROM passage WHERE uid IN ({marks})", batch)}  # noqa: S608
        return found

    def over(self, at: datetime) -> list[str]:
        """Return the atoms whose time is over at an instant."""
        return [uid for (uid,) in self._db.execute("SELECT uid FROM atom WHERE ends_at <= ?", (to_us(at),))]

    def count(self) -> int:
        """Return how many atoms there are."""
        return int(self._db.execute("SELECT count(*) FROM atom").fetchone()[0])

    def bundles(self) -> Iterator[int]:
        """Return all bundles."""
        return (one for (one,) in self._db.execute("SELECT id FROM bundle ORDER BY id").fetchall())

    def bundle(self, number: int) -> Bundle:
        """Return what a bundle is."""
        bucket, tag, *rest = self._db.execute(f"SELECT {_BUNDLE} FROM bundle WHERE id = ?", (number,)).fetchone()  # noqa: S608
        return Bundle(Shelf(bucket, tag), *rest)

    def forget_bundle(self, number: int) -> None:
        """Forget a bundle that has no atoms any more."""
        self._db.execute("DELETE FROM bundle WHERE id = ?", (number,))

    def places(self, bundle: int) -> list[tuple[Place, str | None]]:
        """Return the places of a bundle's atoms, in order, and the name of the page that each was on."""
        rows = self._db.execute(
            "SELECT at, arrival, atom, page FROM entry WHERE bundle = ? ORDER BY 1, 2, 3", (bundle,)
        )
        return [((at, arrival, atom), page) for at, arrival, atom, page in rows]

    def kept(self, bundle: int) -> dict[str, Kept]:
        """Return a bundle's pages as they were written, by name."""
        sql = "SELECT path, name, earlier, later, atoms FROM page WHERE bundle = ?"
        return {row[1]: Kept(*row) for row in self._db.execute(sql, (bundle,))}

    def put_page(self, path: str, sha256: bytes, bundle: int | None = None, page: MirrorPage | None = None) -> None:
        """Note what was written to a page: of a ``bundle``, or one that lists others."""
        told = (page.name, page.earlier, page.later, len(page.places)) if page is not None else (None, None, None, 0)
        self._db.execute("INSERT OR REPLACE INTO page VALUES (?, ?, ?, ?, ?, ?, ?)", (path, bundle, *told, sha256))
        if page is not None:
            sql = "UPDATE entry SET page = ? WHERE bundle = ? AND at = ? AND arrival = ? AND atom = ?"
            self._db.executemany(sql, [(page.name, bundle, *place) for place in page.places])

    def drop_page(self, path: str) -> None:
        """Forget a page."""
        self._db.execute("DELETE FROM page WHERE path = ?", (path,))

    def sha256(self, path: str) -> bytes | None:
        """Return the SHA-256 of what was written to a page; None: it is none of ours."""
        row = self._db.execute("SELECT sha256 FROM page WHERE path = ?", (path,)).fetchone()
        return bytes(row[0]) if row else None

    def pages(self) -> list[tuple[str, bytes, int | None]]:
        """Return all pages with the SHA-256 of what was written, and their bundles."""
        return self._db.execute("SELECT path, sha256, bundle FROM page ORDER BY path").fetchall()

    def listed_buckets(self) -> list[tuple[str, int]]:
        """Return the buckets, and how many tags each has."""
        return self._db.execute("SELECT bucket, count(DISTINCT tag) FROM bundle GROUP BY 1 ORDER BY 1").fetchall()

    def listed_shelves(self, bucket: str) -> list[tuple[Shelf, int]]:
        """Return a bucket's tags, and how many atoms each has."""
        sql = (
            "SELECT b.tag, sum(p.atoms) FROM bundle b JOIN page p ON p.bundle = b.id WHERE b.bucket = ? "
            "GROUP BY 1 ORDER BY 1"
        )
        return [(Shelf(bucket, tag), atoms) for tag, atoms in self._db.execute(sql, (bucket,))]

    def listed_bundles(self, shelf: Shelf) -> list[tuple[Bundle, int, int]]:
        """Return a shelf's bundles, how many atoms each has, and on how many pages."""
        sql = (
            "SELECT b.context, b.kind, b.source, sum(p.atoms), count(*) FROM bundle b JOIN page p ON p.bundle = b.id "
            "WHERE b.bucket = ? AND b.tag = ? GROUP BY b.id ORDER BY b.source, b.context, b.kind"
        )
        rows = self._db.execute(sql, (shelf.bucket, shelf.tag))
        return [(Bundle(shelf, *row[:3]), row[3], row[4]) for row in rows]

    def unseen(self, changes: Sequence[PassageChange]) -> list[PassageChange]:
        """Return those of these changes, which are in order, that were not noted yet."""
        if not changes:
            return []
        first, last = to_us(changes[0].at), to_us(changes[-1].at)
        known = dict(self._db.execute("SELECT uid, seq FROM seen WHERE at BETWEEN ? AND ?", (first, last)).fetchall())
        return [change for change in changes if known.get(change.uid) != change.seq]

    def see(self, changes: Iterable[PassageChange]) -> None:
        """Note changes as brought into the pages."""
        rows = [(change.uid, to_us(change.at), change.seq) for change in changes]
        self._db.executemany("INSERT OR REPLACE INTO seen VALUES (?, ?, ?)", rows)

    def seen_until(self) -> datetime | None:
        """Return the time of the latest change that was noted."""
        row = self._db.execute("SELECT value FROM meta WHERE name = 'seen_until'").fetchone()
        return from_us(int(row[0])) if row else None

    def see_until(self, at: datetime, forgotten: datetime) -> None:
        """Keep the time of the latest change, and forget those from before another."""
        self._db.execute("INSERT OR REPLACE INTO meta VALUES ('seen_until', ?)", (to_us(at),))
        self._db.execute("DELETE FROM seen WHERE at < ?", (to_us(forgotten),))
