"""A filled store with everything in it consolidated: what is found then, against before."""

from __future__ import annotations

import json
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path

from vicw_bench.fidelity.measure import Opener
from vicw_bench.targets import LocalTarget
from vicw_core.consolidation.consolidate import MAKER, ConsolidatedBatch
from vicw_shared.clock import now
from vicw_shared.model import Label
from vicw_shared.ports import Flow, Outcome
from vicw_shared.progress import Progress
from vicw_sleep.consolidation.batches import ConsolidationRules

_NOTE = "bench-consolidated.json"
_BEGUN = "bench-consolidation.json"
"""How many passages, and vectors of statements, the copied store had. A run that was stopped goes on with it."""


@dataclass(slots=True)
class Consolidated:
    """What consolidation made of a store: ``vectors`` of passages are left of ``passages``, and ``told`` vectors of
    statements of ``statements``.
    """

    events: int = 0
    macros: int = 0
    refused: int = 0
    passages: int = 0
    vectors: int = 0
    statements: int = 0
    told: int = 0

    @property
    def share(self) -> float:
        """What is left of the vectors of passages, summaries counted in, in [0, 1]."""
        return self.vectors / self.passages if self.passages else 1.0


@asynccontextmanager
async def open_consolidated(
    opened: Opener, store: Path, progress: Progress
) -> AsyncIterator[tuple[LocalTarget, Consolidated]]:
    """Open a copy of a filled store in which all Events are consolidated, however young: made where it is not there."""
    folder = store.with_name(f"{store.name}-consolidated")
    begun, note = folder / _BEGUN, folder / _NOTE
    is_new = not begun.exists() and not note.exists()
    if is_new:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(store, folder)
    async with opened(folder) as target:
        assert isinstance(target, LocalTarget)
        if is_new:
            before = [await target.passages(), await target.vectors_of(Label.EVENT)]
            begun.write_text(json.dumps(before), "utf-8")
        if (found := _noted(note)) is None:
            passages, statements = json.loads(begun.read_text("utf-8"))
            found = await _fold(target, passages, statements, progress)
            note.write_text(json.dumps(asdict(found)), "utf-8")
        yield target, found


def _noted(note: Path) -> Consolidated | None:
    return Consolidated(**json.loads(note.read_text("utf-8"))) if note.exists() else None


async def _fold(target: LocalTarget, passages: int, statements: int, progress: Progress) -> Consolidated:
    events = 0

    def told(flow: Flow, consolidate: ConsolidatedBatch | None, reason: str) -> None:
        nonlocal events
        events += len(consolidate.sources) if consolidate is not None else 0
        progress("consolidating", events, passages)

    rules = ConsolidationRules(before=now() + timedelta(hours=1))
    await target.consolidation(told).run(rules, now=now())
    await target.drain()
    vectors, told_by = await target.vectors_of(Label.CHUNK), await target.vectors_of(Label.EVENT)
    found = Consolidated(passages=passages, vectors=vectors, statements=statements, told=told_by)
    for step in [step async for page in target.steps(MAKER) for step in page]:  # of all runs
        found.refused += step.outcome is Outcome.REFUSED
        if step.outcome is Outcome.DONE:
            found.macros += 1
            found.events += int(str(step.details["sources"]))
    return found
