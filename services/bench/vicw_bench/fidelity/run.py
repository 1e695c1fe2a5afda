"""One run of ``bench fidelity`` over several sets."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

from vicw_bench import report as reporting
from vicw_bench.fidelity.consolidated import Consolidated, open_consolidated
from vicw_bench.fidelity.evidence import EvidenceReport, measure_evidence
from vicw_bench.fidelity.measure import SetReport, Variant, ensure_filled, measure
from vicw_bench.fidelity.pooled import Separation, separate
from vicw_bench.sets import FidelitySet, pool
from vicw_bench.targets import Target, open_http, open_local, store_key
from vicw_shared.errors import SettingsError
from vicw_shared.progress import Progress
from vicw_shared.wire.ingest import Extract
from vicw_standalone.settings import StandaloneSettings


class Run:
    """One run of ``bench fidelity``."""

    def __init__(
        self,
        settings: StandaloneSettings,
        store: Path,
        extract: Extract,
        url: str | None,
        retrieve_url: str | None,
        *,
        consolidated: bool = False,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        """``consolidated``: ask copies of the stores in which everything is. ``tell`` hears why it takes long."""
        if consolidated and url is not None:
            raise SettingsError("--consolidated is for a memory in this process; measure without --url")
        self._settings = settings
        self._root = store
        self._extract = extract
        self._url = url
        self._retrieve_url = retrieve_url
        self._consolidated = consolidated
        self._tell = tell
        self._described: dict[str, Any] = {}
        self.reports: list[SetReport] = []
        self.pools: list[list[Separation]] = []
        self.evidences: list[EvidenceReport] = []
        self.consolidated: dict[str, Consolidated] = {}

    async def fidelity(self, sets: list[FidelitySet], variants: tuple[Variant, ...], progress: Progress) -> None:
        """Measure how much of the evidence is found, set by set."""
        for data in sets:
            async with self._filled(data, progress) as target:
                store = self._store(data)
                self.reports.append(await measure(target, data, store, variants, progress, self._extract))

    async def separation(self, sets: list[FidelitySet], progress: Progress) -> None:
        """Measure how well domains are kept apart in one store of all sets."""
        store = self._store(pool(sets))
        async with self._open(store) as target:
            self._described = {**await target.describe(), "extract": self._extract}
            self.pools.append(await separate(target, sets, store, progress, self._extract))

    async def evidence(self, sets: list[FidelitySet], budget: int, progress: Progress) -> None:
        """Measure how much of the evidence stands in texts of ``budget`` characters, set by set."""
        for data in sets:
            async with self._filled(data, progress) as target:
                await ensure_filled(target, data, self._store(data), progress, self._extract)
                self.evidences.append(await measure_evidence(target, data, budget, progress))

    @asynccontextmanager
    async def _filled(self, data: FidelitySet, progress: Progress) -> AsyncIterator[Target]:
        """Open a set's store, filled or to be filled; or the copy of it in which everything is consolidated."""
        store = self._store(data)
        async with self._open(store) as target:
            self._described = {**await target.describe(), "extract": self._extract}
            if not self._consolidated or store is None:
                yield target
                return
            await ensure_filled(target, data, store, progress, self._extract)
        async with open_consolidated(self._open, store, progress) as (consolidated, found):
            self.consolidated[data.name] = found
            yield consolidated

    def as_json(self) -> dict[str, Any]:
        """Return all that was measured."""
        return reporting.fidelity_json(self._described, self.reports, self.pools, self.evidences)

    def _store(self, data: FidelitySet) -> Path | None:
        return (
            None if self._url else self._root / f"{data.name}-{store_key(self._settings, data.digest, self._extract)}"
        )

    def _open(self, store: Path | None) -> AbstractAsyncContextManager[Target]:
        if self._url is not None:
            return open_http(self._url, self._retrieve_url)
        if store is None:
            raise SettingsError("a memory in this process needs a store")
        if line := anew(store):
            self._tell(line)
        return open_local(self._settings, store)


def anew(store: Path) -> str | None:
    """Return a line to say that a store is to be filled though there is one of these texts; None where it is not so."""
    name, _, key = store.name.rpartition("-")
    others = sorted(other.name for other in store.parent.glob(f"{name}-{'?' * len(key)}"))
    if store.exists() or not others:
        return None
    return (
        f"{name} is read in anew, into {store}: {', '.join(others)} was filled with another model, "
        "other settings of ingestion or other texts"
    )
