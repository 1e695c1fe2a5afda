"""The report of an import: what is answered by the job, and printed by the command's ``--json``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from vicw_ingest.file_import.summary import Summary
from vicw_readers.records import Refused, Report, Skipped
from vicw_shared.wire.file_import import ImportReport, ReadFiles, UnreadEntry

_OTHER = "other"


def report_of(
    summary: Summary, title: Callable[[str], str], *, dry_run: bool = False, listed: int | None = None
) -> ImportReport:
    """Return the report of a summary, which a running import may change meanwhile.

    ``title`` returns a format's title by its name. ``listed``: most entries of each list; None: all.
    """
    # Copies, each made at once: an iteration would fail if another thread adds a key.
    items, files, contexts, masked = map(dict, (summary.items, summary.files, summary.contexts, summary.masked))
    refused, passed_over, noted = list(summary.refused), list(summary.passed_over), list(summary.notes)
    read = [
        ReadFiles(format=name, title=title(name), files=files.get(name, 0), items=count)
        for name, count in Counter(items).most_common()
    ]
    return ImportReport(
        dry_run=dry_run,
        created=summary.created,
        updated=summary.updated,
        unchanged=summary.unchanged,
        replaced=summary.replaced,
        linked=summary.linked,
        stored_before=summary.skipped,
        private=summary.private,
        contexts=contexts,
        masked=masked,
        read=tuple(read),
        refused=tuple(map(_part, refused[:listed])),
        passed_over=tuple(map(_part, passed_over[:listed])),
        noted=tuple(map(_part, noted[:listed])),
        refused_kinds=_kinds(refused),
        passed_over_kinds=_kinds(passed_over),
        noted_kinds=_kinds(noted),
        jobs=tuple(summary.jobs),
    )


def _part(record: Report) -> UnreadEntry:
    line = None if isinstance(record, Skipped) else record.line
    fix = record.fix if isinstance(record, Refused) else ""
    return UnreadEntry(path=record.path, line=line, reason=record.reason, fix=fix, kind=record.kind)


def _kinds(records: Iterable[Report]) -> dict[str, int]:
    return dict(Counter(record.kind or _OTHER for record in records).most_common())
