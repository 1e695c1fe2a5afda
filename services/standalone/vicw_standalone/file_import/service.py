"""Import of files: read, batch and send items, and record acknowledged ones in a ledger.

It may be killed at any point and run again. Items with an id are stored once in any case; for items without one,
the ledger and an Idempotency-Key derived from the content prevent duplicates.
"""

from __future__ import annotations

import os
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from vicw_client import BadRequestError, Retry, TooLargeError, VicwClient, VicwClientError
from vicw_readers.intake.source_file import ImportOptions
from vicw_readers.paths import read_paths
from vicw_readers.records import Refused, Report, SourceItem
from vicw_shared.text import counted
from vicw_shared.wire.ingest import IngestResponse, ItemStatus
from vicw_standalone.file_import.batches import ItemBatch, batched
from vicw_standalone.file_import.ledger import Acknowledged, ImportLedger, ItemDigest, digest_of
from vicw_standalone.file_import.roots import claim_contexts
from vicw_standalone.file_import.stored_flows import StoredFlows
from vicw_standalone.file_import.summary import Summary

IMPORT_RETRY = Retry(attempts=12, longest_seconds=30.0)
"""Retries of an importing client: it waits up to two and a half minutes for a server with a full queue."""

_SIGNAL_DELAY_SECONDS = 0.5
"""Longest delay of a signal: one that arrives just before a thread begins to wait does not wake it."""
_WRONG_ITEM = re.compile(r"items(?:\[(\d+)\]|\.(\d+))")

type Progress = Callable[[int, int | None], None]
"""Called with the number of items done and, once all files are read, the total."""


class ImportStoppedError(Exception):
    """The import ended early. ``summary`` has the result until then.

    Its cause is the error that stopped the import; None if a stop was requested.
    """

    def __init__(self, reason: str, summary: Summary) -> None:
        stored = counted(summary.stored, "item")
        super().__init__(f"{reason}. {stored} stored; run the same import again to continue")
        self.summary = summary


def import_paths(
    client: VicwClient,
    paths: Sequence[Path],
    *,
    options: ImportOptions | None = None,
    progress: Progress | None = None,
    state_path: Path | None = None,
    again: bool = False,
    wait_until_found: bool = True,
    stop: threading.Event | None = None,
    batch_items: int = 100,
    batch_chars: int = 200_000,
    in_flight: int = 3,
) -> Summary:
    """Read files and folders and store their items; see `read_paths` for contexts and ids.

    The summary lists what could not be read or stored; everything else is stored. ``state_path`` is the ledger, by
    default one file per store and set of paths; ``again`` also sends the items that it holds as acknowledged.
    Raises ImportStoppedError if the server cannot be reached or refuses more than single items, or once ``stop`` is
    set, after the requests in flight; ContextTakenError if a folder's name is the context of another folder.
    """
    store = store_behind(client)
    state = state_path or default_state_path(store, paths)
    options = options or ImportOptions()
    if options.context is None:
        claim_contexts(state.with_name("contexts.json"), store, paths)
    with ImportLedger(state, again=again) as ledger:
        stop = stop or threading.Event()
        run = FileImport(client, ledger, progress or (lambda done, total: None), wait_until_found, stop)
        records = run.summary.counting(read_paths(paths, options))
        batches = batched(records, run.report, max_items=batch_items, max_chars=batch_chars)
        try:
            run.carry_out(batches, in_flight)
        except VicwClientError as error:
            raise ImportStoppedError(str(error), run.summary) from error
        if not run.complete:
            raise ImportStoppedError("stopped", run.summary)
        try:
            run.finish()
        except VicwClientError as error:
            raise ImportStoppedError(str(error), run.summary) from error
        ledger.finish()
        return run.summary


def default_state_path(store: str, paths: Sequence[Path]) -> Path:
    """Return the ledger of imports of ``paths`` into ``store`` (XDG base directories 0.8)."""
    state_home_setting = os.environ.get("XDG_STATE_HOME", "")
    state_home = (
        Path(state_home_setting) if Path(state_home_setting).is_absolute() else Path.home() / ".local" / "state"
    )
    key = [store, *(os.fsencode(path.resolve()).hex() for path in paths)]
    return state_home / "vicw" / "imports" / f"{digest_of(key)}.jsonl"


def store_behind(client: VicwClient) -> str:
    """Return the store's id, else the address: a new store at the same address has none of the acknowledged items."""
    try:
        return client.ready().store or client.address
    except VicwClientError:
        return client.address


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
        client: VicwClient,
        ledger: Acknowledged,
        progress: Progress,
        wait_until_found: bool,
        stop: threading.Event,
    ) -> None:
        self.summary = Summary()
        self._client = client
        self._ledger = ledger
        self._progress = progress
        self._wait = wait_until_found
        self._stop = stop
        self._lock = threading.Lock()
        self._done = 0
        self._total: int | None = None
        self._copies: Counter[str] = Counter()
        self._flows = StoredFlows(client, self._forget)

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
        try:
            response = self._client.ingest(
                context=parcel.context,
                domain=parcel.domain,
                wait=self._wait,
                items=[record.item for record, _ in parcel.items],
                idempotency_key=self._ledger.key_of(mark for _, mark in parcel.items) + "-w" * self._wait,
            )
        except BadRequestError as error:
            if error.problem.status not in {400, 413, 422}:
                raise
            if _is_too_much(error) and len(everything) > 1:
                middle = len(everything) // 2
                self._deliver(parcel.only(everything[:middle]))
                self._deliver(parcel.only(everything[middle:]))
                return
            wrong = _wrong_items(error, len(everything)) or dict.fromkeys(everything, str(error))
            self._refuse(parcel, wrong)
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
                self.summary.refused.append(Refused(record.path, record.line, reason))
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


def _is_too_much(error: BadRequestError) -> bool:
    """Return whether the whole request exceeds a limit, by its size or its number of items."""
    return isinstance(error, TooLargeError) or {fault.field for fault in error.problem.errors} == {"items"}


def _wrong_items(error: BadRequestError, count: int) -> dict[int, str]:
    """Return the reasons of the problem document by the item's index in the request."""
    wrong: dict[int, list[str]] = {}
    for fault in error.problem.errors:
        if (match := _WRONG_ITEM.match(fault.field)) and (n := int(match[1] or match[2])) < count:
            subfield = fault.field[match.end() :].lstrip(".")
            message = f"{fault.problem}. {fault.fix}"
            wrong.setdefault(n, []).append(f"{subfield}: {message}" if subfield else message)
    return {n: "; ".join(reasons) for n, reasons in sorted(wrong.items())}
