"""The mirror of a tenant's memory: built whole beside the old one, or brought up to date page by page.

Both ways end in the same files, whatever came first: what is on a page depends on what is stored alone.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from vicw_shared.clock import EPOCH, now
from vicw_shared.model import Label
from vicw_shared.ports import (
    Changes,
    Items,
    ItemView,
    PassageChange,
    Store,
    scan_pages,
)
from vicw_shared.progress import Progress, silent
from vicw_shared.shielded import finish, in_thread
from vicw_sleep.mirror.atoms import Atom, Shelf, atom_of
from vicw_sleep.mirror.folder import Marker, MirrorFolder
from vicw_sleep.mirror.freshness import why_anew
from vicw_sleep.mirror.ledger import MirrorLedger
from vicw_sleep.mirror.page_writer import Building, Mirrored, listings, planned, write_out
from vicw_sleep.mirror.renderer import MirrorPage, render, section_of
from vicw_sleep.mirror.visibility import MirrorVisibility

_ITEMS = 500
_CHANGES = 5000
_TRANSACTION = timedelta(minutes=5)
"""What a transaction may take: its changes carry a time from inside of it, and are seen at its end."""
_MOST_OF_ALL = 4
"""A synchronisation of more than a fourth of all atoms costs as much as a build."""
_FEW = 2000
_LISTING = -1
"""In place of a bundle: what lists others is of none."""


@dataclass(frozen=True, slots=True)
class Mirror:
    """Keeps the mirror of a ``tenant`` at a ``path``, for those whom ``sight`` says."""

    graph: Store
    path: Path
    tenant: str
    sight: MirrorVisibility = field(default_factory=MirrorVisibility)

    async def build(self, progress: Progress = silent) -> Mirrored:
        """Build it anew beside what is there, and swap. A death before the swap leaves what is there.

        Raises SettingsError (the path is no place for it, in plain words), StorageFullError, ConflictError (another
        process writes to it) or what the graph raises; then the mirror is as it was.
        """
        folder = MirrorFolder(self.path)
        with folder.locked(), folder.translated():
            return await self._build(folder, await self.marker(), progress)

    async def sync(self, progress: Progress = silent) -> Mirrored:
        """Write anew the pages on which something has changed since the last run, each whole or not at all.

        Builds where there is no mirror, where it is for other viewers or of an earlier format, where a run was killed
        half-way, where something was erased or the clock was put back, and where a build would cost no more. Raises as
        ``build`` does.
        """
        folder = MirrorFolder(self.path)
        with folder.locked(), folder.translated():
            marker = await self.marker()
            found = folder.require_ours(marker)
            folder.finish()
            if found is None or why_anew(folder, found, marker):
                return await self._build(folder, marker, progress)
            ledger = MirrorLedger(folder.path)
            try:
                done = await self._sync(folder, ledger, progress)
            finally:
                ledger.close()
            return done if done is not None else await self._build(folder, marker, progress)

    async def marker(self) -> Marker:
        """Return what marks a folder as this mirror."""
        return Marker(
            await self.graph.record.store_id(),
            self.tenant,
            self.sight.viewer,
            erased=await self.graph.erasures.erased(),
        )

    async def is_there(self) -> bool:
        """Tell whether there is a mirror of this tenant already. Nothing is written."""
        return MirrorFolder(self.path).is_mirror_of(await self.marker())

    async def _build(self, folder: MirrorFolder, marker: Marker, progress: Progress) -> Mirrored:
        folder.require_ours(marker)
        building = Building(folder, marker)
        try:
            # First what has changed, then what is: nothing falls between.
            await self._see_all(building.ledger)
            done, instant = 0, now()
            for label in (Label.EVENT, Label.ENTITY):
                async for page in scan_pages(self.graph, Items(self.tenant, label), limit=_ITEMS):
                    atoms = [atom for atom in self._atoms(page).values() if self.sight.sees(atom, instant)]
                    await in_thread(building.add, atoms)
                    done += len(atoms)
                    progress("reading", done, 0)
            writing = asyncio.to_thread(building.write_all, progress)
            pages = await finish(writing, hurry=building.stop)
            edited = await in_thread(building.swap)
            return Mirrored(built=True, atoms=done, pages=pages, edited=edited)
        finally:
            building.close()

    async def _sync(self, folder: MirrorFolder, ledger: MirrorLedger, progress: Progress) -> Mirrored | None:
        """Bring the pages up to date; None: to build is cheaper."""
        instant = now()
        fresh = await self._unseen(ledger)
        if len(fresh) > max(_FEW, ledger.count() // _MOST_OF_ALL):
            return None
        passages = [change.uid for change in fresh]
        uids = ledger.atoms_of(passages) | set(ledger.over(instant))
        uids |= {item.uid for item in (await self.graph.owners(self.tenant, passages)).values()}
        bundles = await self._put(ledger, sorted(uids), instant)
        await in_thread(ledger.see, fresh)
        lost = await in_thread(_forget_lost, folder, ledger)
        result = await self._rewrite(folder, ledger, bundles | lost, uids, progress)
        result.atoms = ledger.count()
        return result

    async def _put(self, ledger: MirrorLedger, uids: Sequence[str], instant: datetime) -> set[int]:
        """Note what has become of these atoms; return the bundles that this touches."""
        found = self._atoms(await self.graph.whole(self.tenant, uids))
        return await in_thread(self._note, ledger, uids, found, instant)

    def _note(
        self, ledger: MirrorLedger, uids: Sequence[str], found: Mapping[str, Atom], instant: datetime
    ) -> set[int]:
        bundles: set[int] = set()
        for uid in uids:
            atom = found.get(uid)
            seen = atom is not None and self.sight.sees(atom, instant)
            bundles |= ledger.put(atom) if atom is not None and seen else ledger.drop(uid)
        return bundles

    async def _rewrite(
        self, folder: MirrorFolder, ledger: MirrorLedger, bundles: set[int], changed: set[str], progress: Progress
    ) -> Mirrored:
        """Write what differs: first all is rendered, then what will be written is noted, then it is written."""
        written: dict[str, bytes | None] = {}
        shelves: set[Shelf] = set()
        for number in sorted(bundles - {_LISTING}):
            plan = await in_thread(planned, ledger, number, changed)
            shelves.add(plan.bundle.shelf)
            for page in plan.pages:
                content = render(page, await self._sections(page)).encode()
                written[page.path] = content
                ledger.put_page(page.path, hashlib.sha256(content).digest(), number, page)
            for path in plan.gone:
                written[path] = None
                ledger.drop_page(path)
            if plan.empty:
                ledger.forget_bundle(number)
        every = _LISTING in bundles
        written |= await in_thread(listings, ledger, None if every else shelves) if every or shelves else {}
        return await in_thread(write_out, folder, ledger, written, progress)

    async def _sections(self, page: MirrorPage) -> Mapping[str, str]:
        whole = await self.graph.whole(self.tenant, [uid for _, _, uid in page.places])
        return {uid: section_of(atom) for uid, atom in self._atoms(whole).items()}

    def _atoms(self, found: Sequence[ItemView]) -> dict[str, Atom]:
        atoms = (atom_of(one) for one in found)
        return {atom.item.uid: atom for atom in atoms if atom is not None}

    async def _see_all(self, ledger: MirrorLedger) -> None:
        """Note the changes of the last minutes as known: what a build reads after has them."""
        ledger.see_until(now() - _TRANSACTION, EPOCH)
        ledger.see(await self._unseen(ledger))

    async def unseen(self, ledger: MirrorLedger) -> list[PassageChange]:
        """Return the changes that are not in the pages yet."""
        return (await self._look(ledger))[0]

    async def _unseen(self, ledger: MirrorLedger) -> list[PassageChange]:
        """Return the changes that are not in the pages yet, and keep how far was looked."""
        fresh, newest = await self._look(ledger)
        ledger.see_until(newest, newest - 2 * _TRANSACTION)
        return fresh

    async def _look(self, ledger: MirrorLedger) -> tuple[list[PassageChange], datetime]:
        instant = now()
        until = min(ledger.seen_until() or EPOCH + 2 * _TRANSACTION, instant)
        last: PassageChange | None = None
        fresh: list[PassageChange] = []
        async for page in scan_pages(self.graph, Changes(self.tenant, until - _TRANSACTION), limit=_CHANGES):
            fresh += await in_thread(ledger.unseen, page)
            last = page[-1]
        # What nothing has followed for as long as transactions take need not be looked at for ever. A change may be of
        # an engine's clock that is ahead: what follows once it is right would lie before it.
        newest = min(last.at, instant) if last is not None else until
        return fresh, max(until, instant - _TRANSACTION, newest)


def _forget_lost(folder: MirrorFolder, ledger: MirrorLedger) -> set[int]:
    """Have pages written anew that somebody has removed; return their bundles, _LISTING for those that list others."""
    bundles = {path: bundle for path, _, bundle in ledger.pages()}
    lost = folder.lost(bundles)
    for path in lost:
        ledger.drop_page(path)
    return {_LISTING if (bundle := bundles[path]) is None else bundle for path in lost}
