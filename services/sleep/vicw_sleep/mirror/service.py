"""The mirror of a tenant's memory: built completely beside the current one, then swapped in.

The content of a page depends only on the stored data.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path

from vicw_core.background import finish, in_thread
from vicw_shared.clock import MICROSECONDS, from_us, now, to_us
from vicw_shared.model import Label
from vicw_shared.ports import Changes, Items, ItemView, Store, scan_pages
from vicw_shared.progress import Progress, silent
from vicw_shared.settings import MirrorSettings
from vicw_sleep.mirror.atoms import Atom, atom_of
from vicw_sleep.mirror.folder import Marker, MirrorFolder
from vicw_sleep.mirror.page_writer import MirrorBuild, MirrorResult
from vicw_sleep.mirror.relocation import edited_in, manifest_of
from vicw_sleep.mirror.visibility import EVERYTHING, MirrorVisibility

_ITEMS = 500
_CHANGES = 5000
_WINDOW = timedelta(minutes=10)
"""Clocks may differ by five minutes, and a transaction, whose changes carry a time from inside it, may take five."""

_REST_FACTOR = 10
"""Rest after a build, as a multiple of its duration: builds take at most a tenth of one processor."""
_MAX_REST_SECONDS = 600


@dataclass(frozen=True, slots=True)
class MirrorStatus:
    """State of a mirror, and how many of its pages were ``edited``.

    ``rebuild_reason``: why the next run rebuilds it, as a sentence; "": it is up to date.
    """

    atoms: int
    pages: int
    edited: int
    rebuild_reason: str


@dataclass(frozen=True, slots=True)
class Mirror:
    """Keeps the mirror of a ``tenant`` at a ``path``, with the atoms that ``visibility`` allows."""

    graph: Store
    path: Path
    tenant: str
    visibility: MirrorVisibility = field(default_factory=MirrorVisibility)

    @classmethod
    def of(cls, graph: Store, settings: MirrorSettings) -> Mirror | None:
        """Return the mirror of the settings; None if they name none."""
        if settings.path is None:
            return None
        return cls(graph, settings.path, settings.tenant, MirrorVisibility(settings.viewer or ""))

    async def build(self, progress: Progress = silent) -> MirrorResult:
        """Build a new mirror beside the current one, and swap. A crash before the swap leaves the current one.

        Raises SettingsError (the path is not suitable, and why), StorageFullError, StateConflictError (another process
        writes to it) or what the graph raises; the mirror is unchanged then.
        """
        folder = MirrorFolder(self.path)
        with folder.locked(), folder.translated():
            return await self._build(folder, await self._marker(), progress)

    async def sync(self, progress: Progress = silent) -> MirrorResult:
        """Rebuild the mirror if it is not up to date. Raises as ``build`` does."""
        folder = MirrorFolder(self.path)
        with folder.locked(), folder.translated():
            expected = await self._marker()
            marker = folder.require_ours(expected)
            folder.finish()
            if marker is None or await self._rebuild_reason(folder, marker, expected):
                return await self._build(folder, expected, progress)
            return MirrorResult(built=False, atoms=marker.atoms)

    async def status(self) -> MirrorStatus | None:
        """Return the state of the mirror; None if there is none. Raises SettingsError if the folder is not
        this mirror.
        """
        folder, expected = MirrorFolder(self.path), await self._marker()
        with folder.translated():
            marker = folder.require_ours(expected)
            if marker is None:
                return None
            edited = await in_thread(lambda: sum(1 for _ in edited_in(folder.path)))
            rebuild_reason = await self._rebuild_reason(folder, marker, expected)
            return MirrorStatus(marker.atoms, len(manifest_of(folder.path) or ()), edited, rebuild_reason)

    async def is_there(self) -> bool:
        """Return whether this tenant has a mirror already. Nothing is written."""
        marker = MirrorFolder(self.path).marker()
        return marker is not None and marker.is_of(await self._marker())

    def rests(self) -> bool:
        """Return whether the next automatic build has to wait because the last one took long."""
        marker = MirrorFolder(self.path).marker()
        if marker is None or marker.viewer != self.visibility.viewer:
            return False
        return 0 < marker.rests_until - to_us(now()) <= _MAX_REST_SECONDS * MICROSECONDS

    async def _marker(self) -> Marker:
        """Return the marker of this mirror."""
        return Marker(
            await self.graph.record.store_id(),
            self.tenant,
            self.visibility.viewer,
            erased=await self.graph.erasures.erased(),
        )

    async def _build(self, folder: MirrorFolder, marker: Marker, progress: Progress) -> MirrorResult:
        folder.require_ours(marker)
        building = MirrorBuild(folder, marker)
        try:
            # First the changes, then the items: the next run finds a change in between.
            began, instant = time.monotonic(), now()
            since = instant - _WINDOW
            changes = await self._changes(since)
            for label in (Label.EVENT, Label.ENTITY):
                async for page in scan_pages(self.graph, Items(self.tenant, label), limit=_ITEMS):
                    await in_thread(building.add, self._visible_atoms(page, instant))
                    progress("reading", building.atoms, 0)
            pages = await finish(asyncio.to_thread(building.write_all, progress), hurry=building.stop)
            rest = min(_REST_FACTOR * (time.monotonic() - began), _MAX_REST_SECONDS)
            built = replace(
                marker,
                since=to_us(since),
                changes=changes,
                ends_at=to_us(building.ends_at),
                rests_until=to_us(now() + timedelta(seconds=rest)),
                atoms=building.atoms,
            )
            edited = await in_thread(building.swap, built)
            return MirrorResult(built=True, atoms=building.atoms, pages=pages, edited=edited)
        finally:
            building.close()

    def _visible_atoms(self, views: Sequence[ItemView], instant: datetime) -> list[Atom]:
        atoms = (atom_of(view) for view in views)
        return [atom for atom in atoms if atom is not None and self.visibility.sees(atom, instant)]

    async def _rebuild_reason(self, folder: MirrorFolder, marker: Marker, expected: Marker) -> str:
        """Return why the next run rebuilds a mirror, as a sentence; "": it is up to date."""
        if marker.viewer != expected.viewer:
            viewers = f"it shows {_audience(marker.viewer)}, not {_audience(expected.viewer)}"
            return f"{viewers}; a run for this viewer (VICW_MIRROR_VIEWER, --viewer) rebuilds it"
        reason = await self._staleness(folder, marker, expected)
        return f"{reason}; the next run rebuilds it" if reason else ""

    async def _staleness(self, folder: MirrorFolder, marker: Marker, expected: Marker) -> str:
        instant, missing = to_us(now()), await in_thread(folder.missing)
        reasons = {
            "it was built by another version of VICW": marker.format != expected.format,
            "data was erased since it was built": marker.erased != expected.erased,
            "its list of pages cannot be read": missing is None,
            "1 page is missing": missing == 1,
            f"{missing} pages are missing": bool(missing),
            # Changes since a fast clock was corrected have times before ``since``.
            "the clock was set back": marker.since > instant,
            "an item that it shows has expired": marker.ends_at is not None and marker.ends_at <= instant,
        }
        if (reason := next((reason for reason, holds in reasons.items() if holds), None)) is not None:
            return reason
        changed = await self._changes(from_us(marker.since)) != marker.changes
        return "data was stored or changed since it was built" if changed else ""

    async def _changes(self, since: datetime) -> str:
        """Return a digest of the passages' changes since an instant."""
        digest = hashlib.blake2b(digest_size=16)
        async for page in scan_pages(self.graph, Changes(self.tenant, since), limit=_CHANGES):
            digest.update("".join(f"{change.uid} {change.seq}\n" for change in page).encode())
        return digest.hexdigest()


def _audience(viewer: str) -> str:
    if viewer == EVERYTHING:
        return "everything"
    return f"what {viewer!r} may see" if viewer else "what is public"
