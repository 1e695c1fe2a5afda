"""The sleep worker: Celery's doors to the sleep cycle. ``celery -A vicw_sleep.worker worker -Q sleep``.

Every task may be lost, or run twice, or twice at once.
"""

from __future__ import annotations

from vicw_shared.telemetry.sharing import share_metrics

share_metrics()  # before any other import brings Prometheus' client along

from collections.abc import Callable
from contextlib import suppress
from dataclasses import astuple, replace
from datetime import timedelta
from functools import partial
from typing import Any

import structlog
from celery import Task
from redis.exceptions import RedisError

from vicw_shared.adapters.celery_queue import (
    CATCH_UP,
    CONSOLIDATE,
    DREAM,
    MIRROR,
    RECONCILE,
    RESOLVE,
    WATCH,
    connect,
    make_celery,
    send,
)
from vicw_shared.adapters.celery_runtime import Runtime, prepare_worker
from vicw_shared.clock import from_us, now, to_us
from vicw_shared.errors import RetryableError, UnavailableError
from vicw_shared.model import Label
from vicw_shared.ports import Growth
from vicw_sleep.chain import SECONDS, Chain
from vicw_sleep.consolidation.consolidating import Consolidated
from vicw_sleep.consolidation.turn import Errand, catch_up
from vicw_sleep.consolidation.turn import turn as turn_of_folding
from vicw_sleep.consolidation.walking import Bookmark
from vicw_sleep.dream.dreaming import Bookmark as DreamBookmark
from vicw_sleep.dream.dreaming import Done
from vicw_sleep.dream.turn import turn as turn_of_dreaming
from vicw_sleep.forget import forget_receipts
from vicw_sleep.mirror.turn import turn
from vicw_sleep.reconcile import Place, Reconciled, Side
from vicw_sleep.reconcile import reconcile as bring_to_agreement
from vicw_sleep.resolve.resolving import Bookmark as Names
from vicw_sleep.resolve.resolving import Done as Resolved
from vicw_sleep.resolve.turn import turn as turn_of_resolving
from vicw_sleep.settings import Settings
from vicw_sleep.wiring import Wiring

_settings = Settings.read()
app = make_celery("vicw_sleep", _settings.redis)
_runtime = Runtime(lambda: Wiring(_settings))
_chain = Chain(connect(_settings.redis), "vicw:reconcile")
_folding = Chain(connect(_settings.redis), "vicw:consolidate")
_catching_up = Chain(connect(_settings.redis), "vicw:catch-up")
_dreaming = Chain(connect(_settings.redis), "vicw:dream")
_resolving = Chain(connect(_settings.redis), "vicw:resolve")
_FORGET_SECONDS = 10.0
_REST_SECONDS = 300
"""How long the stores are not compared again while passages wait, and an index that was lost is being rebuilt."""
_log = structlog.get_logger()
prepare_worker(
    app,
    _runtime,
    service="vicw-sleep-worker",
    worker=_settings.worker,
    log=_settings.log,
    metrics=_settings.metrics,
    traces=_settings.traces,
    nice=_settings.sleep.nice,
)


@app.task(name=RECONCILE, bind=True)
def reconcile(
    self: Task[Any, Any],
    side: str = Side.PASSAGES,
    after: str | None = None,
    lost_at: int | None = None,
    of: str | None = None,
) -> None:
    """Compare so many pages of the two stores, and leave the rest to a task of its own, one ``of`` the same chain."""
    try:
        chain = _chain.hold(of)
    except RedisError as error:
        _log.warning("reconciling is left to the next round: Redis does not answer", error=str(error))
        return
    if chain is None:
        _log.info("the stores are being compared by another chain of tasks, or were a moment ago")
        return
    following, rest = False, 0
    try:
        start = Place(Side(side), after, from_us(lost_at))
        done, lacking = _runtime.run(self.request, partial(_reconcile, start=start, first=of is None))
        rest = _REST_SECONDS if lacking else 0
        if done.missing or done.stale or done.orphaned or done.next is None:
            told = {"missing": done.missing, "stale": done.stale, "orphaned": done.orphaned}
            _log.info("reconciled", **told, all=done.next is None)
        if (place := done.next) is not None:
            left = {"side": place.side.value, "after": place.after, "lost_at": to_us(place.lost_at), "of": chain}
            following = send(app, RECONCILE, expires=SECONDS, kwargs=left)
    except RetryableError as error:
        _log.warning("reconciling failed, the next round tries again", error=error.detail, side=side)
    finally:
        if not following:
            with suppress(RedisError):  # then its key runs out
                _chain.end(chain, rest_seconds=rest)


@app.task(name=WATCH, bind=True)
def watch(self: Task[Any, Any]) -> None:
    """Make the vector index anew if it was lost; have the stores compared at once, and again until it has everything.

    While passages wait, a comparison would find just that, so it rests a while between two.
    """
    try:
        lacking, waiting = _runtime.run(self.request, _watch)
        if lacking and _chain.free(rested=not waiting):
            send(app, RECONCILE, expires=SECONDS)
    except RetryableError as error:
        _log.warning("the vector index could not be looked after", error=error.detail)
    except RedisError as error:
        _log.warning("a lost vector index is left to the next look: Redis does not answer", error=str(error))


@app.task(name=MIRROR, bind=True)
def mirror(self: Task[Any, Any]) -> None:
    """Bring the mirror up to date, where there is one. What goes wrong is logged, and is for the next time."""
    if _settings.sleep.paused:
        return
    try:
        _runtime.run(self.request, lambda wiring: turn(wiring.engines.graph, _settings.mirror))
    except RetryableError as error:
        _log.warning("the mirror could not be brought up to date", error=error.detail)


@app.task(name=CONSOLIDATE, bind=True)
def consolidate(self: Task[Any, Any], after: list[Any] | None = None, of: str | None = None) -> None:
    """Fold so many batches, and leave the rest to a task of its own, one ``of`` the same chain."""

    def work(chain: str) -> bool:
        done = _runtime.run(self.request, partial(_fold, start=Bookmark.read(after)))
        if done is None or (mark := done.next) is None:
            return False
        return send(app, CONSOLIDATE, expires=SECONDS, kwargs={"after": mark.written, "of": chain})

    _take_turn(_folding, of, work, "consolidation")


async def _fold(wiring: Wiring, *, start: Bookmark | None) -> Consolidated | None:
    return await turn_of_folding(wiring.consolidation(), _settings.consolidation, start)


@app.task(name=CATCH_UP, bind=True)
def consolidate_grown(
    self: Task[Any, Any], grown: list[Any] | None = None, after: list[Any] | None = None, of: str | None = None
) -> None:
    """Do the same in a context that many items arrived in, if there is one; its chain goes on with the next of them."""

    def work(chain: str) -> bool:
        errand = Errand(Growth(*grown), Bookmark.read(after)) if grown is not None else None
        left = _runtime.run(self.request, partial(_catch_up, left=errand))
        if left is None:
            return False
        rest = {"grown": list(astuple(left.grown)), "after": left.mark.written if left.mark is not None else None}
        return send(app, CATCH_UP, expires=SECONDS, kwargs={**rest, "of": chain})

    _take_turn(_catching_up, of, work, "consolidation of what has grown")


async def _catch_up(wiring: Wiring, *, left: Errand | None) -> Errand | None:
    return await catch_up(wiring.consolidation(), _settings.consolidation, left)


@app.task(name=DREAM, bind=True)
def dream(self: Task[Any, Any], after: list[str] | None = None, of: str | None = None) -> None:
    """Look at so many items, and leave the rest to a task of its own, one ``of`` the same chain."""

    def work(chain: str) -> bool:
        start = DreamBookmark(after[0], Label(after[1]), after[2]) if after is not None else None
        done = _runtime.run(self.request, partial(_dream, start=start))
        if done is None or (mark := done.next) is None:
            return False
        left = {"after": [mark.tenant, mark.label.value, mark.after], "of": chain}
        return send(app, DREAM, expires=SECONDS, kwargs=left)

    _take_turn(_dreaming, of, work, "dreaming")


@app.task(name=RESOLVE, bind=True)
def resolve(self: Task[Any, Any], after: dict[str, Any] | None = None, of: str | None = None) -> None:
    """Judge so many pairs, and leave the rest to a task of its own, one ``of`` the same chain."""

    def work(chain: str) -> bool:
        start = Names.load(after) if after is not None else None
        done = _runtime.run(self.request, partial(_resolve, start=start))
        if done is None or done.next is None:
            return False
        return send(app, RESOLVE, expires=SECONDS, kwargs={"after": done.next.dump(), "of": chain})

    _take_turn(_resolving, of, work, "resolving")


def _take_turn(turns: Chain, of: str | None, work: Callable[[str], bool], what: str) -> None:
    """Do ``work`` if it is the turn of the chain ``of``, which is told its name and tells whether it goes on."""
    if _settings.sleep.paused:
        return
    try:
        chain = turns.hold(of)
    except RedisError as error:
        _log.warning(f"{what} is left to the next time: Redis does not answer", error=str(error))
        return
    if chain is None:
        _log.info(f"{what} is under way in another chain of tasks")
        return
    following = False
    try:
        following = work(chain)
    except RetryableError as error:
        _log.warning(f"{what} failed, the next time tries again", error=error.detail)
    finally:
        if not following:
            with suppress(RedisError):  # then its key runs out
                turns.end(chain)


async def _dream(wiring: Wiring, *, start: DreamBookmark | None) -> Done | None:
    return await turn_of_dreaming(wiring.dream(), _settings.dream, start)


async def _resolve(wiring: Wiring, *, start: Names | None) -> Resolved | None:
    return await turn_of_resolving(wiring.resolve(), _settings.resolve, start)


async def _watch(wiring: Wiring) -> tuple[bool, bool]:
    """Return whether the index lacks something, and whether passages wait for it."""
    engines = wiring.engines
    await engines.restore_index()
    lacking = engines.indexes.rebuilding is not None
    return lacking, lacking and (await engines.graph.backlog()).waiting > 0


async def _reconcile(wiring: Wiring, *, start: Place, first: bool) -> tuple[Reconciled, bool]:
    """Return what was found, and whether the index is still known to lack something."""
    graph, indexes = wiring.engines.graph, wiring.engines.indexes
    if first:
        before = now() - timedelta(hours=_settings.ingest.receipt_hours)
        if forgotten := await forget_receipts(graph, before, seconds=_FORGET_SECONDS):
            _log.info("forgot old receipts", receipts=forgotten)
        await wiring.engines.restore_index()
        start = replace(start, lost_at=indexes.rebuilding)
    else:
        await indexes.look()
    if indexes.reading.model != indexes.models.used:
        raise UnavailableError("embedding", indexes.behind or "the model in use has just changed")
    vectors = indexes.reading.vectors
    done = await bring_to_agreement(graph, graph, vectors, start=start, pages=_settings.sleep.reconcile_pages)
    if done.rebuilt is not None:
        await graph.clear_rebuilding(done.rebuilt)
        await indexes.look()
    return done, indexes.rebuilding is not None
