"""The result of an import: what became of items, what was read by format, and what was not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from vicw_readers.records import Noted, Record, Refused, Report, Skipped, SourceItem
from vicw_shared.model import Sensitivity

_OTHER = "other"


@dataclass(slots=True)
class Summary:
    """Result of an import.

    ``skipped`` counts items acknowledged in an earlier run; ``passed_over`` are files without content to store;
    ``notes`` say what was read otherwise than it stands;
    ``replaced`` counts items of conversations that the user has since edited; ``jobs`` are still indexing items.
    ``files`` and ``items`` count what was read by the reader's name, ``private`` the items that not everybody sees.
    ``listed``: most records kept of each kind of report (None: all); ``refused_kinds`` and so on count all.
    """

    created: int = 0
    updated: int = 0
    unchanged: int = 0
    linked: int = 0
    skipped: int = 0
    replaced: int = 0
    private: int = 0
    masked: Counter[str] = field(default_factory=Counter)
    refused: list[Refused] = field(default_factory=list)
    passed_over: list[Skipped] = field(default_factory=list)
    notes: list[Noted] = field(default_factory=list)
    jobs: list[str] = field(default_factory=list)
    contexts: Counter[str] = field(default_factory=Counter)
    files: Counter[str] = field(default_factory=Counter)
    items: Counter[str] = field(default_factory=Counter)
    refused_kinds: Counter[str] = field(default_factory=Counter)
    passed_over_kinds: Counter[str] = field(default_factory=Counter)
    noted_kinds: Counter[str] = field(default_factory=Counter)
    listed: int | None = None

    @property
    def stored(self) -> int:
        """Items created, updated or unchanged in this run; linked duplicates are not counted."""
        return self.created + self.updated + self.unchanged

    def counting(self, records: Iterable[Record]) -> Iterator[Record]:
        """Pass records on, and count the items that are read, and their files."""
        last = ""
        for record in records:
            if isinstance(record, SourceItem):
                self.items[record.reader] += 1
                self.files[record.reader] += record.path != last
                self.private += record.item.sensitivity is not Sensitivity.PUBLIC
                last = record.path
            yield record

    def report(self, record: Report) -> None:
        """Note what was refused, passed over or assumed."""
        if isinstance(record, Refused):
            self._keep(record, self.refused, self.refused_kinds)
        elif isinstance(record, Noted):
            self._keep(record, self.notes, self.noted_kinds)
        else:
            self._keep(record, self.passed_over, self.passed_over_kinds)

    def _keep[R: Report](self, record: R, kept: list[R], kinds: Counter[str]) -> None:
        kinds[record.kind or _OTHER] += 1
        if self.listed is None or len(kept) < self.listed:
            kept.append(record)
