"""A filled store with everything in it consolidated: what is found then, against before."""

from __future__ import annotations

import json
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path

from vicw_shared.clock import now
from vicw_shared.folding.fold import Fold
from vicw_shared.ports import Flow
from vicw_shared.progress import Progress
from vicw_sleep.consolidation.batching import Rules
from vicw_standalone.bench.fidelity import Opener
from vicw_standalone.bench.targets import LocalTarget

_NOTE = "bench-folded.json"


@dataclass(slots=True)
class Folded:
    """What consolidation made of a store: ``vectors`` of passages are left of ``passages``."""

    events: int = 0
    macros: int = 0
    refused: int = 0
    passages: int = 0
    vectors: int = 0

    @property
    def share(self) -> float:
        """What is left of the vectors of passages, summaries counted in, in [0, 1]."""
        return self.vectors / self.passages if self.passages else 1.0


@asynccontextmanager
async def open_folded(opened: Opener, store: Path, progress: Progress) -> AsyncIterator[tuple[LocalTarget, Folded]]:
    """Open a copy of a filled store in which all Events are consolidated, however young: made where it is not there."""
    folder = store.with_name(f"{store.name}-folded")
    if not (folder / _NOTE).exists():
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(store, folder)
    async with opened(folder) as target:
        assert isinstance(target, LocalTarget)
        if (found := _noted(folder / _NOTE)) is None:
            found = await _fold(target, progress)
            _note(folder / _NOTE, found)
        yield target, found


def _noted(note: Path) -> Folded | None:
    return Folded(**json.loads(note.read_text("utf-8"))) if note.exists() else None


def _note(note: Path, found: Folded) -> None:
    note.write_text(json.dumps(asdict(found)), "utf-8")


async def _fold(target: LocalTarget, progress: Progress) -> Folded:
    passages = await target.passages()
    found = Folded(passages=passages, vectors=passages)

    def told(flow: Flow, fold: Fold | None, reason: str) -> None:
        if fold is not None:
            found.vectors += len(fold.texts) + len(fold.heavy) - len(fold.passages)
            found.events += len(fold.sources)
            found.macros += 1
        progress("consolidating", found.events, passages)

    rules = Rules(before=now() + timedelta(hours=1))
    found.refused = (await target.consolidation(told).run(rules, now=now())).refused
    await target.drain()
    return found
