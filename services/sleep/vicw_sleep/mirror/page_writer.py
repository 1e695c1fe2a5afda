"""Writes pages: all of them into a folder beside the mirror, or those that have changed into the mirror."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field

from vicw_shared.progress import Progress
from vicw_sleep.mirror.atoms import Atom, Bundle, Shelf
from vicw_sleep.mirror.folder import Marker, MirrorFolder
from vicw_sleep.mirror.ledger import MirrorLedger, is_usable
from vicw_sleep.mirror.pagination import paginate
from vicw_sleep.mirror.relocation import edited_in, name_aside, remove
from vicw_sleep.mirror.renderer import (
    ROOT,
    MirrorPage,
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

_SECTIONS = ".vicw-sections.sqlite3"


@dataclass(slots=True)
class Mirrored:
    """What a run did: ``pages`` written and ``removed``, ``edited`` ones put aside; how many ``atoms`` there are."""

    built: bool
    atoms: int = 0
    pages: int = 0
    removed: int = 0
    edited: list[str] = field(default_factory=list)


class Building:
    """A mirror that is being built beside the one that there is.

    Sections wait on disk, so that a store may be of any size.
    """

    def __init__(self, folder: MirrorFolder, marker: Marker) -> None:
        self._folder = folder
        self._marker = marker
        self._stopped = False
        self._path = folder.begin(marker)
        self.ledger = MirrorLedger(self._path, durable=False)
        self._sections = sqlite3.connect(self._path / _SECTIONS, isolation_level=None, check_same_thread=False)
        self._sections.executescript(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;"
            "CREATE TABLE section (uid TEXT PRIMARY KEY, text TEXT) WITHOUT ROWID;"
        )

    def add(self, atoms: Iterable[Atom]) -> None:
        """Take atoms in."""
        for atom in atoms:
            row = (atom.item.uid, section_of(atom))
            self._sections.execute("INSERT OR REPLACE INTO section VALUES (?, ?)", row)
            self.ledger.put(atom)

    def write_all(self, progress: Progress) -> int:
        """Write all pages, unless it is stopped; return how many."""
        count = done = 0
        total = self.ledger.count()
        for number in self.ledger.bundles():
            if self._stopped:
                return count
            bundle, places = self.ledger.bundle(number), [place for place, _ in self.ledger.places(number)]
            for page in pages_of(bundle, list(paginate(places))):
                content = render(page, self._read([uid for _, _, uid in page.places])).encode()
                self.ledger.put_page(page.path, self._folder.write(page.path, content, into=self._path), number, page)
                count += 1
            done += len(places)
            progress("writing", min(done, total), total)
        for path, listing in listings(self.ledger, None).items():
            if listing is not None:
                self._folder.write(path, listing, into=self._path)
                count += 1
        return count

    def stop(self) -> None:
        """Have whoever writes pages in another thread end soon: what is built is given up."""
        self._stopped = True

    def swap(self) -> list[str]:
        """Put it in the mirror's place; return the pages that somebody had edited, which are kept aside."""
        self.ledger.commit()
        self.close_files()
        edited = self._keep_edits()
        return sorted({*edited, *self._folder.swap(self._marker)})

    def _keep_edits(self) -> list[str]:
        edited: list[str] = []
        if not is_usable(self._folder.path):
            return edited
        with closing(MirrorLedger(self._folder.path, reading=True)) as ledger:
            for path, current in edited_in(self._folder.path, ledger, self._folder.read):
                if (name := name_aside(self._folder.path, path, current)) is not None:
                    self._folder.write(name, current, into=self._path)
                edited.append(path)
        return edited

    def _read(self, uids: Sequence[str]) -> dict[str, str]:
        sql = f"SELECT * FROM section WHERE uid IN ({','.join('?' * len(uids))})"  # noqa: S608
        return dict(self._sections.execute(sql, uids).fetchall())

    def close_files(self) -> None:
        """Close what is open. Safe to call twice."""
        self.ledger.close()
        self._sections.close()
        (self._path / _SECTIONS).unlink(missing_ok=True)

    def close(self) -> None:
        """Close, and remove what was not swapped in."""
        self.close_files()
        with suppress(OSError):
            remove(self._path)


@dataclass(frozen=True, slots=True)
class BundlePlan:
    """What is to be done about a bundle: pages to write anew, paths to remove, whether it has nothing any more."""

    bundle: Bundle
    pages: list[MirrorPage]
    gone: list[str]
    empty: bool


def planned(ledger: MirrorLedger, number: int, changed: Collection[str]) -> BundlePlan:
    """Return which pages of a bundle differ from what was written, since these atoms (uids) have changed."""
    bundle, places, kept = ledger.bundle(number), ledger.places(number), ledger.kept(number)
    was_on = {place[2]: page for place, page in places}
    differing: list[MirrorPage] = []
    for page in pages_of(bundle, list(paginate([place for place, _ in places]))):
        before = kept.pop(page.name, None)
        around = (page.earlier, page.later, len(page.places))
        same = before is not None and (before.earlier, before.later, before.atoms) == around
        if not same or any(was_on[uid] != page.name or uid in changed for _, _, uid in page.places):
            differing.append(page)
    return BundlePlan(bundle, differing, [page.path for page in kept.values()], not places)


def listings(ledger: MirrorLedger, shelves: Iterable[Shelf] | None) -> dict[str, bytes | None]:
    """Return the pages that list these shelves (None: all), and what leads to them, as far as they differ.

    The ledger has them then. None stands for a page that has nothing to list any more.
    """
    changed: dict[str, bytes | None] = {}
    for path, text in _listed(ledger, shelves):
        content = text.encode() if text is not None else None
        if content is None:
            changed[path] = None
            ledger.drop_page(path)
        elif ledger.sha256(path) != (sha := _sha256(content)):
            changed[path] = content
            ledger.put_page(path, sha)
    return changed


def _listed(ledger: MirrorLedger, shelves: Iterable[Shelf] | None) -> Iterator[tuple[str, str | None]]:
    buckets = ledger.listed_buckets()
    if shelves is None:
        shelves = [shelf for bucket, _ in buckets for shelf, _ in ledger.listed_shelves(bucket)]
    shelves = sorted(set(shelves))
    for shelf in shelves:
        bundles = ledger.listed_bundles(shelf)
        yield f"{folder_of(shelf)}/{shelf_page(shelf)}.md", render_shelf(shelf, bundles) if bundles else None
    for bucket in sorted({shelf.bucket for shelf in shelves}):
        tags = ledger.listed_shelves(bucket)
        yield bucket_path(bucket), render_bucket(bucket, tags) if tags else None
    yield f"{ROOT}.md", render_root(buckets, ledger.count())


def write_out(
    folder: MirrorFolder, ledger: MirrorLedger, pages: Mapping[str, bytes | None], progress: Progress
) -> Mirrored:
    """Write pages, None: remove, into the mirror, then keep what the ledger has noted of them.

    All is written beside the pages before the first of them is replaced, so a disk that is full changes none. What
    somebody has edited is put aside, at the last moment once more: many pages take their time.
    """
    done = Mirrored(built=False)
    if pages:
        with folder.staged(pages) as staged, closing(MirrorLedger(folder.path, reading=True)) as before:
            done.edited = [path for path in pages if folder.keep_edit(path, before.sha256(path))]
            folder.intend({path: _sha256(content) if content is not None else None for path, content in pages.items()})
            for number, path in enumerate(pages):
                if folder.keep_edit(path, before.sha256(path)) and path not in done.edited:
                    done.edited.append(path)
                if (new := staged.get(path)) is not None:
                    folder.place(new, path)
                    done.pages += 1
                else:
                    folder.remove(path)
                    done.removed += 1
                progress("writing", number + 1, len(pages))
    ledger.commit()
    folder.settled()
    return done


def _sha256(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()
