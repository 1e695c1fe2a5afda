"""One import of uploaded files, from its records to its report: blocking, in a thread of the job."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from vicw_ingest.file_import.batches import batched
from vicw_ingest.file_import.delivery import FileImport, ItemDigest
from vicw_ingest.file_import.identified import identified
from vicw_ingest.file_import.port import ItemStore
from vicw_ingest.file_import.reading import Reading
from vicw_ingest.file_import.report import report_of
from vicw_ingest.file_import.summary import Summary
from vicw_readers.records import Record, SourceItem
from vicw_shared.errors import LimitExceededError
from vicw_shared.settings import ImportSettings
from vicw_shared.wire.file_import import ImportReport

_BATCH_ITEMS, _BATCH_CHARS, _IN_FLIGHT = 100, 200_000, 2


class UploadImport:
    """Stores what is read of an upload, or with ``dry_run`` only counts it. Paths are reported without ``root``."""

    def __init__(
        self,
        reading: Reading,
        store: ItemStore,
        stop: threading.Event,
        *,
        root: str,
        dry_run: bool,
        max_items: int,
        limits: ImportSettings,
    ) -> None:
        """``max_items``: most items of one request to the store."""
        self._reading = reading
        self._stop = stop
        self._root = root
        self._dry_run = dry_run
        self._max_items = min(_BATCH_ITEMS, max_items)
        self._limit = limits.items
        self._run = FileImport(store, _NoLedger(), lambda done, total: None, stop, Summary(listed=limits.listed))

    def carry_out(self) -> bool:
        """Do all of it, and return whether it was all. Raises ReadingEndedError, StopRequestedError, VicwError."""
        summary = self._run.summary
        records = summary.counting(identified(map(self._inside, self._until_stopped())))
        batches = batched(records, self._run.report, max_items=self._max_items, max_chars=_BATCH_CHARS)
        if self._dry_run:
            for batch in batches:
                summary.contexts[batch.context] += len(batch.items)
            return not self._stop.is_set()
        self._run.carry_out(batches, _IN_FLIGHT)
        if self._run.complete:
            self._run.finish()
        return self._run.complete

    def report(self, *, brief: bool = False) -> ImportReport:
        """Return the report so far, from any thread; ``brief``: only what is counted."""
        titles = self._reading.titles
        return report_of(self._run.summary, lambda name: titles.get(name, name), dry_run=self._dry_run, brief=brief)

    def _until_stopped(self) -> Iterator[Record]:
        items = 0  # each is remembered, so that none is stored twice
        for record in self._reading.records():
            if self._stop.is_set():
                return
            items += isinstance(record, SourceItem)
            if items > self._limit:
                raise LimitExceededError(
                    f"the files have over {self._limit} items (VICW_IMPORT_ITEMS), and the first of them are stored. "
                    "Send fewer files at once, raise the limit, or read them where they are: vicw ingest PATH"
                )
            yield record

    def _inside(self, record: Record) -> Record:
        """Return a record with the path that the caller knows."""
        return replace(record, path=record.path.removeprefix(self._root))


class _NoLedger:
    """Nothing was sent before: each item has an id, and the store knows what it has."""

    def has(self, mark: ItemDigest) -> bool:
        return False

    def key_of(self, marks: Iterable[ItemDigest]) -> str:
        return ""

    def add(self, marks: Sequence[ItemDigest]) -> None:
        pass
