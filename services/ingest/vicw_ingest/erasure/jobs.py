"""Erasures that run beside a server: begun by a request, worked off in the background, and readable meanwhile.

The record of an erasure (``record.py``) says what is left to do, and a receipt how far it is, in numbers: never a name
or a text. Both are written in one transaction, so a killed process loses neither.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from operator import methodcaller
from typing import Literal

import structlog

from vicw_ingest.erasure.eraser import Eraser
from vicw_ingest.erasure.proof import FinishedErasure
from vicw_ingest.erasure.selection import ErasureSelection
from vicw_shared.clock import now
from vicw_shared.errors import MissingRecordError, VicwError
from vicw_shared.ports import Receipt, Store, WorkQueue
from vicw_shared.progress import Progress
from vicw_shared.wire.forget import Erasure, ErasureProved, ErasureSelected

_log = structlog.get_logger()
_REPORT_SECONDS = 1.0
_POLL_SECONDS = 0.1
_RETRY_SECONDS = 10.0

type RunAll = Callable[[Progress], Awaitable[list[FinishedErasure]]]
"""Does what is left of all unfinished erasures, and searches for what is left (``Forgetting.forget``)."""


@dataclass(frozen=True, slots=True)
class ErasureJobs:
    """Begin erasures and read how far they are. ``queue`` wakes who works them off."""

    eraser: Eraser
    queue: WorkQueue

    async def begin(self, chosen: ErasureSelection, *, key: str | None = None) -> Erasure:
        """Record an erasure durably, and wake who works it off. Nothing is erased yet."""
        at = now()
        erasure = await self.eraser.begin(chosen, lambda uid: _receipt(_begun(chosen, uid, at), at), key=key)
        await self.queue.wake()
        return _begun(chosen, erasure, at)

    async def status(self, tenant: str, erasure: str) -> Erasure:
        """Return an erasure of a tenant. Raises MissingRecordError for one that it does not have.

        A running one wakes who works it off: the message of the request may have been lost.
        """
        receipt = await self.eraser.graph.record.receipt(tenant, _key(erasure))
        if receipt is None:
            raise MissingRecordError(f"There is no erasure {erasure!r}")
        state = Erasure.model_validate(receipt.body)
        if state.status in {"running", "unproven"} and erasure not in await self.eraser.pending():
            receipt = await self.eraser.graph.record.receipt(tenant, _key(erasure))  # it may have ended just now
            state = Erasure.model_validate(receipt.body) if receipt is not None else state
            return state if state.status == "done" else state.model_copy(update={"status": "done", "step": None})
        if state.status == "running":
            await self.queue.wake()
        return state

    async def wait(self, tenant: str, erasure: str, seconds: float) -> Erasure:
        """Wait until an erasure has ended, at most this long, and return it."""
        state = await self.status(tenant, erasure)
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while state.status == "running":
                    await asyncio.sleep(_POLL_SECONDS)
                    receipt = await self.eraser.graph.record.receipt(tenant, _key(erasure))
                    state = Erasure.model_validate(receipt.body) if receipt is not None else state
        return state


def selected(chosen: ErasureSelection) -> Erasure:
    """Return what a dry run answers."""
    return Erasure(erasure=None, status="selected", selected=_numbers(chosen), created_at=now())


@dataclass(slots=True)
class ErasureWorker:
    """Works off the erasures of jobs. Several processes may do so at once. ``files``: the engines' are searched."""

    graph: Store
    run_all: RunAll
    files: bool
    _work: asyncio.Event = field(default_factory=asyncio.Event)

    async def wake(self) -> None:
        """Have ``run`` look for work, in this process."""
        self._work.set()

    async def run(self) -> None:
        """Work off what there is, now and whenever woken, until cancelled."""
        self._work.set()
        while True:
            await self._work.wait()
            self._work.clear()
            try:
                more = await self.run_once()
            except VicwError as error:
                _log.warning("an erasure stopped; it is tried again", error=error.detail)
                more = True
            if more:
                await asyncio.sleep(_RETRY_SECONDS)
                self._work.set()

    async def run_once(self) -> bool:
        """Work off the erasures of jobs that run; return whether others came meanwhile. Raises the engines' errors."""
        jobs = await self._jobs()
        running = [job for job in jobs if job[0].status == "running"]
        if not running:
            return False
        report = _Progress()
        reporter = asyncio.create_task(self._report(report, running))
        try:
            finished = await self.run_all(report)
        except VicwError as error:
            for state, tenant in running:
                await self._put(tenant, state.model_copy(update={"error": error.detail, "step": None}))
            raise
        finally:
            reporter.cancel()
            await asyncio.wait({reporter})
        tenants = {state.erasure: (state, tenant) for state, tenant in jobs}
        for one in finished:
            if one.erasure in tenants:
                state, tenant = tenants[one.erasure]
                await self._put(tenant, _ended(state, one, files=self.files))
        return any(state.status == "running" for state, _ in await self._jobs())

    async def _jobs(self) -> list[tuple[Erasure, str]]:
        """Return the unfinished erasures that are jobs, with their tenants."""
        notes = {note.erasure: note.tenant for note in await self.graph.erasures.erasures()}
        receipts = [(await self.graph.record.receipt(tenant, _key(uid)), tenant) for uid, tenant in notes.items()]
        return [(Erasure.model_validate(one.body), tenant) for one, tenant in receipts if one is not None]

    async def _report(self, report: _Progress, running: list[tuple[Erasure, str]]) -> None:
        """Store the progress from time to time. An error is left to the work itself, which meets it, too."""
        told: tuple[str | None, int] = (None, 0)
        while True:
            await asyncio.sleep(_REPORT_SECONDS)
            if (report.step, report.done) == told:
                continue
            told = report.step, report.done
            with suppress(VicwError):
                for state, tenant in running:
                    await self._put(tenant, state.model_copy(update={"step": report.step, "done": report.done}))

    async def _put(self, tenant: str, state: Erasure) -> None:
        await self.graph.write(tenant, "", methodcaller("put_receipt", _receipt(state, state.created_at)))


@dataclass(slots=True)
class _Progress:
    """The latest progress: the step, and the nodes erased by all of a run."""

    step: str | None = None
    done: int = 0

    def __call__(self, step: str, done: int, total: int) -> None:
        self.step, self.done = step, max(self.done, done)


def _key(erasure: str) -> str:
    return f"erasure:{erasure}"


def _receipt(state: Erasure, at: datetime) -> Receipt:
    return Receipt(_key(state.erasure or ""), "", at, state.model_dump(mode="json"))


def _begun(chosen: ErasureSelection, erasure: str, at: datetime) -> Erasure:
    return Erasure(erasure=erasure, status="running", selected=_numbers(chosen), created_at=at)


def _numbers(chosen: ErasureSelection) -> ErasureSelected:
    return ErasureSelected(
        items=chosen.count, contexts=len(chosen.contexts), people=len(chosen.people), mentioned=chosen.mentioned
    )


def _ended(state: Erasure, finished: FinishedErasure, *, files: bool) -> Erasure:
    """Return an erasure after its search: done, or unproven."""
    proof, went = finished.proof, finished.done
    status: Literal["done", "unproven"] = "done" if proof.holds else "unproven"
    proved = ErasureProved(
        proven=proof.holds,
        nodes=went.nodes,
        receipts=went.receipts,
        steps=went.steps,
        found=tuple(proof.places),
        files=files,
        read=proof.read,
        waiting=proof.waiting,
    )
    ended = {"status": status, "step": None, "done": sum(went.nodes.values()), "error": None, "proof": proved}
    return state.model_copy(update=ended)
