"""The report of an import: what is answered by the job, and printed by the command's ``--json``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from vicw_ingest.file_import.summary import Summary
from vicw_readers.records import Refused, Report, Skipped
from vicw_shared.wire.file_import import ImportReport, ReadFiles, UnreadEntry


def report_of(
    summary: Summary, title: Callable[[str], str], *, dry_run: bool = False, brief: bool = False
) -> ImportReport:
    """Return the report of a summary, which a running import may change meanwhile.

    ``title`` returns a format's title by its name. ``brief``: without lists and contexts, which may be long.
    """
    # Copies, each made at once: an iteration would fail if another thread adds a key.
    items, files, masked = map(dict, (summary.items, summary.files, summary.masked))
    read = [
        ReadFiles(format=name, title=title(name), files=files.get(name, 0), items=count)
        for name, count in Counter(items).most_common()
    ]
    report = ImportReport(
        dry_run=dry_run,
        created=summary.created,
        updated=summary.updated,
        unchanged=summary.unchanged,
        replaced=summary.replaced,
        linked=summary.linked,
        stored_before=summary.skipped,
        private=summary.private,
        masked=masked,
        read=tuple(read),
        refused_kinds=_by_count(summary.refused_kinds),
        passed_over_kinds=_by_count(summary.passed_over_kinds),
        noted_kinds=_by_count(summary.noted_kinds),
    )
    if brief:
        return report
    lists = {
        "contexts": dict(Counter(dict(summary.contexts)).most_common(summary.listed)),
        "refused": tuple(map(_part, list(summary.refused))),
        "passed_over": tuple(map(_part, list(summary.passed_over))),
        "noted": tuple(map(_part, list(summary.notes))),
        "jobs": tuple(summary.jobs),
    }
    return report.model_copy(update=lists)


def _part(record: Report) -> UnreadEntry:
    line = None if isinstance(record, Skipped) else record.line
    fix = record.fix if isinstance(record, Refused) else ""
    return UnreadEntry(path=record.path, line=line, reason=record.reason, fix=fix, kind=record.kind)


def _by_count(kinds: Counter[str]) -> dict[str, int]:
    return dict(Counter(dict(kinds)).most_common())
