"""How far a mirror is behind."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass

from vicw_shared.shielded import in_thread
from vicw_sleep.mirror.folder import MirrorFolder
from vicw_sleep.mirror.freshness import why_anew
from vicw_sleep.mirror.ledger import MirrorLedger, is_usable
from vicw_sleep.mirror.relocation import edited_in
from vicw_sleep.mirror.service import Mirror


@dataclass(frozen=True, slots=True)
class MirrorStatus:
    """What a mirror has: ``waiting`` changes of passages are not in it yet, so many pages were ``edited``.

    ``lost`` pages are not there. ``anew``: why a run builds it anew, as a sentence; "": it follows.
    """

    atoms: int
    pages: int
    waiting: int
    edited: int
    lost: int
    anew: str


async def status_of(mirror: Mirror) -> MirrorStatus | None:
    """Return how far the mirror is; None if there is none. Raises SettingsError for what is no mirror of this store."""
    folder, wanted = MirrorFolder(mirror.path), await mirror.marker()
    with folder.translated():
        found = folder.require_ours(wanted)
        if found is None:
            return None
        anew = why_anew(folder, found, wanted)
        if not is_usable(folder.path):
            return MirrorStatus(0, 0, 0, 0, 0, anew)
        with closing(MirrorLedger(folder.path, reading=True)) as ledger:
            pages = ledger.pages()
            edited = await in_thread(lambda: sum(1 for _ in edited_in(folder.path, ledger, folder.read)))
            waiting = len(await mirror.unseen(ledger))
            lost = len(await in_thread(folder.lost, [path for path, _, _ in pages]))
            return MirrorStatus(ledger.count(), len(pages), waiting, edited, lost, anew)
