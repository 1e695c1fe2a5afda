"""PendingExtractor: runs pending extractions with a language model in the background.

While the model is unavailable, items wait. A text that the model fails on is postponed, longer each time, and given up
after ``max_tries`` tries. The item is stored and found by all other means in any case. ``extraction/llm``
(``ModelExtractor``) asks the model; the port ``Extractor`` is another thing, the rules for prose.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

import structlog
from prometheus_client import Counter, Gauge

from vicw_ingest.extraction.llm.model_extractor import ExtractionError, ModelExtractor
from vicw_ingest.llm_queue.commit import ExtractionCommit
from vicw_shared.clock import now
from vicw_shared.errors import VicwError
from vicw_shared.model import EdgeRegistry, Label, Node
from vicw_shared.model.extraction import SourceText
from vicw_shared.ports import Direction, LanguageModel, PendingExtraction, Store
from vicw_shared.settings import IngestSettings, LimitSettings, LlmSettings
from vicw_shared.telemetry.spans import SpanRole, entry_span

_log = structlog.get_logger()
_LEASE_SECONDS = 30.0
_IDLE_SECONDS = 5.0
_POLL_SECONDS = 0.2
_MAX_POLL_SECONDS = 2.0
_MAX_PAUSE_SECONDS = 60.0
_FIRST_DELAY_SECONDS = 300.0
_DELAY_FACTOR = 6
_MAX_DELAY_SECONDS = 24 * 3600.0
_COUNT_SECONDS = 5.0
_MAX_PASSAGES = 10_000
READ = Counter("vicw_llm_items_total", "Pending extractions processed, by outcome", ["outcome"])
_NEWEST: Final = "livemostrecent"
WAITING = Gauge("vicw_llm_waiting_items", "Pending extractions", multiprocess_mode=_NEWEST)
FAILING = Gauge("vicw_llm_failing_items", "Pending extractions that failed at least once", multiprocess_mode=_NEWEST)
DEAD = Gauge("vicw_llm_dead_items", "Extractions given up", multiprocess_mode=_NEWEST)


@dataclass(slots=True)
class PendingExtractor:
    """Extract claimed items, ``at_once`` texts at a time. Several may run at once, in one process or many."""

    graph: Store
    model: LanguageModel
    registry: EdgeRegistry
    settings: LlmSettings
    max_parts: int
    hub_edges: int
    _model_extractor: ModelExtractor = field(init=False)
    _wake: asyncio.Event = field(default_factory=asyncio.Event)
    _under_way: set[asyncio.Task[None]] = field(default_factory=set)
    _pauses: int = 0
    _counted_at: float = float("-inf")

    @classmethod
    def of(
        cls,
        graph: Store,
        model: LanguageModel,
        registry: EdgeRegistry,
        llm: LlmSettings,
        limits: LimitSettings,
        ingest: IngestSettings,
    ) -> PendingExtractor:
        """Return an extractor with the limits of the settings."""
        return cls(graph, model, registry, llm, limits.extracted, ingest.hub_edges)

    def __post_init__(self) -> None:
        self._model_extractor = ModelExtractor(self.model, self.registry, self.settings, self.max_parts)

    async def wake(self) -> None:
        """Wake this extractor for new work. This makes it the WorkQueue of a single process."""
        self._wake.set()

    async def run(self) -> None:
        """Extract pending items forever."""
        async with asyncio.TaskGroup() as group:
            for _ in range(self.settings.at_once):
                group.create_task(self._run())

    async def drain(self, *, seconds: float = float("inf")) -> bool:
        """Extract until no item is due. Starts no item after ``seconds``. Return whether items may be left.

        Raises the error of an unreachable model.
        """
        until = time.monotonic() + seconds

        async def work() -> None:
            while time.monotonic() < until and (claimed := await self._claim(1)):
                await self._extract(claimed[0])

        results = await asyncio.gather(*(work() for _ in range(self.settings.at_once)), return_exceptions=True)
        await self._count()
        if errors := [result for result in results if result is not None]:
            raise errors[0]
        return time.monotonic() >= until

    async def extract_and_wait(self, tenant: str, items: Sequence[str], timeout_seconds: float) -> None:
        """Extract these items. Returns when each is done or has failed, the model is unavailable, or on timeout.

        Started extractions continue in the background after a timeout, because they are already paid for.
        """
        until = time.monotonic() + timeout_seconds
        tasks = [
            asyncio.create_task(self._finish(tenant, items, until))
            for _ in range(min(len(items), self.settings.at_once))
        ]
        for task in tasks:
            self._under_way.add(task)
            task.add_done_callback(self._under_way.discard)
        if tasks:
            await asyncio.wait(tasks, timeout=timeout_seconds)

    async def close(self) -> None:
        """Cancel started extractions of ``finish`` and release their claims. Safe to call twice."""
        for task in self._under_way:
            task.cancel()
        if self._under_way:
            await asyncio.wait(self._under_way)

    async def _finish(self, tenant: str, items: Sequence[str], until: float) -> None:
        pause = _POLL_SECONDS
        try:
            while time.monotonic() < until:
                if claimed := await self._claim(1, items):
                    await self._extract(claimed[0])
                    pause = _POLL_SECONDS
                    continue
                # The rest is held by another extractor, and awaited; or it is postponed, and not awaited.
                pending = await self.graph.pending_extractions.of(tenant, items)
                if all(one.tries for one in pending.values()):
                    return
                await asyncio.sleep(pause)
                pause = min(2 * pause, _MAX_POLL_SECONDS)
        except VicwError as error:
            _log.warning("waiting for a language model ended early; the items are durable", error=error.detail)

    async def _run(self) -> None:
        while True:
            self._wake.clear()  # before the claim: items queued from now on set it again
            try:
                claimed = await self._claim(1)
                await self._count()
            except VicwError as error:
                await self._pause(error)
                continue
            if not claimed:
                with contextlib.suppress(TimeoutError):  # no event signals that a postponed item is due
                    await asyncio.wait_for(self._wake.wait(), _IDLE_SECONDS)
            elif await self._try(claimed[0]):
                self._pauses = 0

    async def _try(self, claimed: PendingExtraction) -> bool:
        """Extract an item. Pause and return False if the model, or the graph, is unavailable."""
        try:
            await self._extract(claimed)
        except Exception as error:
            await self._pause(error)
            return False
        return True

    async def _pause(self, error: Exception) -> None:
        self._pauses += 1
        seconds = min(_MAX_PAUSE_SECONDS, 0.25 * 2 ** min(self._pauses, 10))
        level = _log.warning if isinstance(error, VicwError) else _log.error
        level("the language model is unavailable", error=str(error), pause_seconds=seconds)
        await asyncio.sleep(seconds)

    async def _claim(self, limit: int, items: Sequence[str] | None = None) -> list[PendingExtraction]:
        return await self.graph.pending_extractions.claim(limit, seconds=_LEASE_SECONDS, items=items)

    async def _extract(self, claimed: PendingExtraction) -> None:
        """Extract a claimed item. Raises the error of an unreachable model or graph; the item is then due again."""
        try:
            with entry_span("llm.item", SpanRole.INTERNAL, {}):
                async with self._renewed(claimed):
                    outcome = await self._process(claimed)
        except ExtractionError as error:
            outcome = await self._postpone(claimed, error)
        except BaseException:
            # Cancelled, or the model is unavailable: the text is not at fault.
            with contextlib.suppress(VicwError):
                await self.graph.pending_extractions.postpone(claimed.item, seconds=0)
            raise
        READ.labels(outcome).inc()

    async def _process(self, claimed: PendingExtraction) -> str:
        nodes = await self.graph.nodes(claimed.tenant, [claimed.item])
        item = nodes.get(claimed.item)
        if item is None or item.retired_at is not None:
            await self.graph.pending_extractions.drop(claimed.item)
            return "outdated"
        passages = await self._passages(item)
        last = claimed.tries + 1 >= self.settings.max_tries
        result = await self._model_extractor.extract(_source(item, passages), passages, in_part=last)
        adding = ExtractionCommit(item.uid, result.extraction, self.registry, now(), self.hub_edges)
        if not await self.graph.write(item.tenant, item.context, adding):
            return "outdated"
        if result.missing:
            _log.warning("a language model failed at parts of a text", item=item.uid, parts=result.missing)
        return "partly_extracted" if result.missing else "extracted"

    async def _passages(self, item: Node) -> list[str]:
        proofs = await self.graph.expand(item.tenant, [item.uid], [("EVIDENCED_BY", Direction.OUT)], _MAX_PASSAGES)
        chunks = [proof.node for proof in proofs if proof.node.label is Label.CHUNK]
        return [chunk.text or "" for chunk in sorted(chunks, key=lambda chunk: chunk.flow_step or 0)]

    async def _postpone(self, claimed: PendingExtraction, error: ExtractionError) -> str:
        detail = f"{error.reason}: {error.detail}"
        if claimed.tries + 1 >= self.settings.max_tries:
            _log.error("a language model fails at a text, which is given up", item=claimed.item, error=detail)
            await self.graph.pending_extractions.postpone(claimed.item, seconds=None, error=detail)
            return "given_up"
        seconds = min(_MAX_DELAY_SECONDS, _FIRST_DELAY_SECONDS * _DELAY_FACTOR**claimed.tries)
        _log.warning("a language model fails at a text", item=claimed.item, error=detail, again_in_seconds=seconds)
        await self.graph.pending_extractions.postpone(claimed.item, seconds=seconds, error=detail)
        return "failed"

    @contextlib.asynccontextmanager
    async def _renewed(self, claimed: PendingExtraction) -> AsyncIterator[None]:
        """Renew a claim in the background while the block runs, so that a slow model does not lose it."""
        task = asyncio.create_task(self._renew(claimed.item))
        try:
            yield
        finally:
            task.cancel()

    async def _renew(self, item: str) -> None:
        while True:
            await asyncio.sleep(_LEASE_SECONDS / 3)
            with contextlib.suppress(VicwError):
                await self.graph.pending_extractions.renew(item, seconds=_LEASE_SECONDS)

    async def _count(self) -> None:
        if time.monotonic() - self._counted_at > _COUNT_SECONDS:
            self._counted_at = time.monotonic()
            with contextlib.suppress(VicwError):
                backlog = await self.graph.pending_extractions.backlog()
                WAITING.set(backlog.waiting)
                FAILING.set(backlog.failing)
                DEAD.set(backlog.dead)


def _source(item: Node, passages: Sequence[str]) -> SourceText:
    at: datetime = item.timestamp or item.created_at
    return SourceText("".join(passages), at, item.speaker, name=item.title)
