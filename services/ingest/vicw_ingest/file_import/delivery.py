"""One run of an import: batches become requests to a store, a few at a time, and each answer is counted.

It may be killed at any point and run again. Items with an id are stored once in any case; for items without one,
a record of what was acknowledged and a key derived from the content prevent duplicates.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import takewhile
from typing import Protocol

from vicw_ingest.file_import.batches import ItemBatch
from vicw_ingest.file_import.port import ItemsRefusedError, ItemStore, TooMuchError
from vicw_ingest.file_import.stored_flows import StoredFlows
from vicw_ingest.file_import.summary import Summary
from vicw_readers.records import Refused, Report, SourceItem
from vicw_shared.wire.ingest import IngestResponse, ItemStatus

_SIGNAL_DELAY_SECONDS = 0.5
"""Longest delay of a signal: one that arrives just before a thread begins to wait does not wake it."""

type Progress = Callable[[int, int | None], None]
"""Called with the number of items done and, once all files are read, the total."""


@dataclass(frozen=True, slots=True)
class ItemDigest:
    """Digests of an item's identity and of its content."""

    identity: str
    content: str


class Acknowledged(Protocol):
    """Record of the items that an import has sent."""

    def has(self, mark: ItemDigest) -> bool:
        """Return whether the item was acknowledged, last with this content."""
        ...

    def key_of(self, marks: Iterable[ItemDigest]) -> str:
        """Return the Idempotency-Key of a request."""
        ...

    def add(self, marks: Sequence[ItemDigest]) -> None:
        """Record acknowledged items."""
        ...


def digest_of(parts: Sequence[str]) -> str:
    """Return a digest of ``parts`` in 32 hex digits."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class _Parcel:
    """The items of one request: those of a batch that are not acknowledged yet."""

    context: str
    domain: str | None
    items: tuple[tuple[SourceItem, ItemDigest], ...]

    def only(self, wanted: Iterable[int]) -> _Parcel:
        return _Parcel(self.context, self.domain, tuple(self.items[n] for n in wanted))


class FileImport:
    """One run of an import. Its threads share the ledger and the summary under a lock."""

    def __init__(
        self,
        store: ItemStore,
        ledger: Acknowledged,
        progress: Progress,
        stop: threading.Event,
        summary: Summary | None = None,
    ) -> None:
        self.summary = Summary() if summary is None else summary
        self._store = store
        self._ledger = ledger
        self._progress = progress
        self._stop = stop
        self._lock = threading.Lock()
        self._done = 0
        self._total: int | None = None
        self._copies: Counter[str] = Counter()
        self._flows = StoredFlows(store, self._forget)

    def carry_out(self, batches: Iterable[ItemBatch], in_flight: int) -> None:
        """Send all batches, a few at a time; only one per flow at a time, since the order has meaning.

        Once a stop is requested, requests in flight are awaited and nothing else is sent.
        """
        read = 0
        running: dict[Future[None], frozenset[tuple[str, str]]] = {}
        with ThreadPoolExecutor(in_flight, "import") as pool:
            try:
                for batch in takewhile(lambda _: not self._stop.is_set(), batches):
                    read += len(batch.items)
                    parcel = self._unsent(batch)
                    if not parcel.items:
                        continue
                    while len(running) >= in_flight or any(batch.flows & flows for flows in running.values()):
                        _reap(running)
                    running[pool.submit(self._deliver, parcel)] = batch.flows
                if not self._stop.is_set():
                    with self._lock:
                        self._total = read
                        self._report_progress()
                while running:
                    _reap(running)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def finish(self) -> None:
        """Retract what several files of this import say differently, as the last of them has it."""
        self._flows.finish()
        self.summary.replaced = self._flows.retracted

    @property
    def complete(self) -> bool:
        """Whether all files were read, and each item is stored or refused."""
        return self._done == self._total

    def report(self, record: Report) -> None:
        """Record what the readers refused, skipped or assumed."""
        with self._lock:
            self.summary.report(record)

    def _unsent(self, batch: ItemBatch) -> _Parcel:
        items = [(record, self._identify(record)) for record in map(self._flows.meet, batch.items)]
        unsent = tuple(
            (record, mark) for record, mark in items if self._flows.is_edited(record) or not self._ledger.has(mark)
        )
        with self._lock:
            self.summary.replaced = self._flows.retracted
            self.summary.skipped += len(items) - len(unsent)
            self._report_progress(len(items) - len(unsent))
        return _Parcel(batch.context, batch.domain, unsent)

    def _identify(self, record: SourceItem) -> ItemDigest:
        """Return the digests of an item. Equal items without an id are numbered in order of arrival."""
        item = record.item
        content = digest_of([record.context, record.domain or "", item.model_dump_json(exclude_unset=True)])
        if item.id is not None:
            return ItemDigest(digest_of([record.context, item.id]), content)
        self._copies[content] += 1
        return ItemDigest(digest_of([content, str(self._copies[content])]), content)

    def _forget(self, context: str, ids: frozenset[str]) -> None:
        """Note that items are to be sent again, whatever was acknowledged: a kill must not leave an edit half done."""
        with self._lock:
            self._ledger.add([ItemDigest(digest_of([context, item_id]), "") for item_id in ids])

    def _deliver(self, parcel: _Parcel) -> None:
        """Send a parcel: again without refused items, and in halves if it is too large."""
        if not parcel.items or self._stop.is_set():
            return
        everything = range(len(parcel.items))
        key = self._ledger.key_of(mark for _, mark in parcel.items)
        try:
            response = self._store.put(parcel.context, parcel.domain, [record.item for record, _ in parcel.items], key)
        except TooMuchError as error:
            if len(everything) == 1:
                self._refuse(parcel, {0: str(error)})
                return
            middle = len(everything) // 2
            self._deliver(parcel.only(everything[:middle]))
            self._deliver(parcel.only(everything[middle:]))
        except ItemsRefusedError as error:
            wrong = error.reasons or dict.fromkeys(everything, str(error))
            self._refuse(parcel, dict(wrong))
            self._deliver(parcel.only(n for n in everything if n not in wrong))
        else:
            self._acknowledge(parcel, response)

    def _acknowledge(self, parcel: _Parcel, response: IngestResponse) -> None:
        statuses = Counter(item.status for item in response.items)
        with self._lock:
            self._ledger.add([mark for _, mark in parcel.items])
            self.summary.created += statuses[ItemStatus.CREATED]
            self.summary.updated += statuses[ItemStatus.UPDATED]
            self.summary.unchanged += statuses[ItemStatus.UNCHANGED]
            self.summary.linked += statuses[ItemStatus.LINKED]
            self.summary.masked.update(
                kind for item in response.items for kind in {secret.kind for secret in item.masked}
            )
            self.summary.contexts[parcel.context] += len(parcel.items)
            if response.job is not None and statuses[ItemStatus.UNCHANGED] < len(response.items):
                self.summary.jobs.append(response.job)
            self._report_progress(len(parcel.items))

    def _refuse(self, parcel: _Parcel, wrong: dict[int, str]) -> None:
        with self._lock:
            for n, reason in wrong.items():
                record, _ = parcel.items[n]
                self.summary.report(Refused(record.path, record.line, reason))
            self._report_progress(len(wrong))

    def _report_progress(self, more: int = 0) -> None:
        self._done += more
        self._progress(self._done, self._total)


def _reap(running: dict[Future[None], frozenset[tuple[str, str]]]) -> None:
    """Wait until at least one request has ended."""
    done: set[Future[None]] = set()
    while not done:
        done, _ = wait(running, _SIGNAL_DELAY_SECONDS, FIRST_COMPLETED)
    for future in done:
        del running[future]
        future.result()
