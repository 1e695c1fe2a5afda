"""An import that sends nothing: what would be stored, and what would not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from vicw_ingest.file_import.batches import batched
from vicw_ingest.file_import.summary import Summary
from vicw_readers.intake.source_file import ImportOptions
from vicw_readers.paths import read_paths
from vicw_readers.records import SourceItem

_BATCH_ITEMS, _BATCH_CHARS = 100, 200_000


def dry_run(paths: Sequence[Path], options: ImportOptions, see: Callable[[SourceItem], None]) -> Summary:
    """Read files and folders as an import does, without a server; ``see`` gets each item that would be sent."""
    summary = Summary()
    records = summary.counting(read_paths(paths, options))
    for batch in batched(records, summary.report, max_items=_BATCH_ITEMS, max_chars=_BATCH_CHARS):
        summary.contexts[batch.context] += len(batch.items)
        for record in batch.items:
            see(record)
    return summary
