"""Sync of a knowledge folder on a server with a folder of this machine.

The server lists its pages, so there is no local state: after a kill the next run continues, on any machine.
"""

from __future__ import annotations

import threading
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import batched
from pathlib import Path, PurePosixPath

from vicw_client import VicwClient, VicwClientError
from vicw_ingest.file_import.batches import batched as in_requests
from vicw_ingest.file_import.delivery import FileImport, ItemDigest, Progress
from vicw_ingest.file_import.summary import Summary
from vicw_readers.intake.source_file import ImportOptions
from vicw_readers.records import Noted, Record, Refused, SourceItem, UnreadableFileError, shown
from vicw_shared.domains import CODING
from vicw_shared.text import counted
from vicw_shared.wire.knowledge import KnownPage, LinkFault, LinkProblem
from vicw_standalone.file_import.client_store import ClientStore
from vicw_standalone.file_import.service import ImportStoppedError
from vicw_standalone.knowledge.folder import PageFile, Snapshot, read_folder, signature

_IDS_AT_ONCE = 500
STAYS = (
    "the page of an earlier sync stays as it was; to retract it, name the file in .gitignore or move it, and sync again"
)
GOES = "the page of an earlier sync is retracted, since the file is passed over now"


class EmptiedError(Exception):
    """The folder has pages on the server and none here: it may be the wrong folder."""


@dataclass(frozen=True, slots=True)
class FolderTarget:
    """Target of a folder: its name on the server, context and domain (None: coding for code, else the context's)."""

    folder: str
    context: str
    domain: str | None = None


@dataclass(slots=True)
class SyncReport:
    """Result of a sync. ``same``: pages that were not sent. ``broken_links``: with their pages' paths.

    ``kept``: pages of earlier syncs that stay as they were, since their files are refused or not wanted now.
    """

    sent: Summary
    same: int = 0
    moved: int = 0
    retracted: int = 0
    kept: int = 0
    broken_links: list[tuple[str, LinkProblem]] = field(default_factory=list)

    @property
    def changed(self) -> bool:
        """Whether anything was, or should have been, stored."""
        return bool(self.sent.created or self.sent.updated or self.retracted or self.sent.refused)


@dataclass(slots=True)
class SyncPlan:
    """Plan of a sync: pages to send with their items' ids, ids to retract, and the number of unchanged pages.

    ``gone`` and ``kept`` are the paths of pages without a file that can be one: to be retracted, and left as they are.
    """

    send: list[tuple[str, PageFile]] = field(default_factory=list)
    retract: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    same: int = 0
    moved: int = 0


def sync(
    client: VicwClient,
    root: Path,
    target: FolderTarget,
    *,
    options: ImportOptions | None = None,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
    wait_until_found: bool = True,
    again: bool = False,
    may_be_empty: bool = False,
    batch_items: int = 50,
    batch_chars: int = 200_000,
) -> SyncReport:
    """Send new and changed pages, retract deleted ones; ``again`` sends all.

    Refused files are named in the result, and their pages on the server are not changed; so with files that the
    ``options`` leave out. Raises ImportStoppedError, as `import_paths` does, and EmptiedError before anything is sent.
    """
    snapshot = read_folder(root, options)
    store = ClientStore(client, wait=wait_until_found)
    run = FileImport(store, _NoLedger(), progress or (lambda done, total: None), stop or threading.Event())
    for record in snapshot.reports:
        run.summary.report(record)
    try:
        plan = plan_of(snapshot, _stored_pages(client, target), target.folder, again=again)
        if not snapshot.pages and plan.retract and not may_be_empty:
            raise EmptiedError(
                f"{root} has no pages, but {counted(len(plan.retract), 'page')} of {target.folder!r} stored. "
                "To retract them all, add --allow-empty"
            )
        for note in _of_earlier_pages(snapshot, plan, root.resolve()):
            run.summary.report(note)
        synced = SyncReport(run.summary, plan.same, plan.moved, kept=len(plan.kept))
        synced.retracted = _retract(client, target, plan.retract)
        records = run.summary.counting(_records(plan, target, root))
        batches = in_requests(records, run.report, max_items=batch_items, max_chars=batch_chars)
        run.carry_out(batches, in_flight=1)  # in order: the first pages decide the domain of a new context
        synced.broken_links = list(_broken(_stored_pages(client, target), snapshot))
    except VicwClientError as error:
        raise ImportStoppedError(str(error), run.summary) from error
    if not run.complete:
        raise ImportStoppedError("stopped", run.summary)
    return synced


def plan_of(snapshot: Snapshot, known: Sequence[KnownPage], folder: str, *, again: bool = False) -> SyncPlan:
    """Return the plan that makes the server match the disk. A moved file keeps its item."""
    plan = SyncPlan()
    by_path = {page.path: page for page in known}
    without_file = [page for page in known if page.path not in snapshot.pages]
    missing = [page for page in without_file if not snapshot.may_be_there(page.path)]
    plan.kept = [page.path for page in without_file if snapshot.may_be_there(page.path)]
    missing_pages = _MissingPages(missing)
    used = {page.id for page in known}
    for path, file in sorted(snapshot.pages.items(), key=lambda entry: (entry[1].is_code, entry[0])):
        page = by_path.get(path)
        if page is None and (page := missing_pages.take(file)) is not None:
            plan.moved += 1
        elif page is not None and page.sha256 == file.sha256 and not again:
            plan.same += 1
            continue
        item = page.id if page is not None else _free_id(f"{folder}/{path}", used)
        used.add(item)
        plan.send.append((item, file))
    sent = {item for item, _ in plan.send}
    plan.gone = [page.path for page in missing if page.id not in sent]
    plan.retract = [page.id for page in missing if page.id not in sent]
    plan.retract += [page.id for page in known if by_path[page.path] is not page and page.id not in sent]
    return plan


def _of_earlier_pages(snapshot: Snapshot, plan: SyncPlan, root: Path) -> Iterator[Noted]:
    """Yield what becomes of pages that an earlier sync stored, and whose files are none any more."""
    for reports, paths, fate in ((snapshot.refused, plan.kept, STAYS), (snapshot.passed_over, plan.gone, GOES)):
        stored = {shown(root / path) for path in paths}
        yield from (Noted(report.path, None, fate, report.kind) for report in reports if report.path in stored)


class _MissingPages:
    """Pages without their files, matched to moved files by the front matter's id or by content."""

    def __init__(self, missing: Iterable[KnownPage]) -> None:
        self._left = {page.id: page for page in missing}

    def take(self, file: PageFile) -> KnownPage | None:
        """Return, and remove, the page that a moved file was before; prefer the same name among equal contents."""
        name = PurePosixPath(file.path).name
        matches = [page for page in self._left.values() if file.key is not None and page.key == file.key]
        matches = matches or [page for page in self._left.values() if page.sha256 == file.sha256]
        matches.sort(key=lambda page: (PurePosixPath(page.path).name != name, page.path))
        return self._left.pop(matches[0].id) if matches else None


def _free_id(wanted: str, used: set[str]) -> str:
    """Return an unused id: a moved page keeps the id of its earlier path."""
    number, free = 1, wanted
    while free in used:
        number += 1
        free = f"{wanted}~{number}"
    return free


def _stored_pages(client: VicwClient, target: FolderTarget) -> list[KnownPage]:
    known: list[KnownPage] = []
    after: str | None = None
    while True:
        page = client.knowledge(target.context, target.folder, after=after)
        known += page.pages
        if (after := page.next) is None:
            return known


def _retract(client: VicwClient, target: FolderTarget, ids: Sequence[str]) -> int:
    for batch in batched(ids, _IDS_AT_ONCE):
        client.retract(context=target.context, ids=batch)
    return len(ids)


def _records(plan: SyncPlan, target: FolderTarget, root: Path) -> Iterator[Record]:
    for item, file in plan.send:
        place = str(root / file.path)
        domain = target.domain or (CODING if file.is_code else None)
        try:
            yield SourceItem(target.context, domain, file.item(target.folder, item), place, reader=file.reader)
        except UnreadableFileError as error:
            yield Refused(place, None, error.reason)


def _broken(known: Sequence[KnownPage], snapshot: Snapshot) -> Iterator[tuple[str, LinkProblem]]:
    """Yield broken links, except those to existing files that are not pages: pictures, archives."""
    by_page: dict[str, list[LinkProblem]] = defaultdict(list)
    for page in known:
        by_page[page.path] += page.links
    for path, problems in sorted(by_page.items()):
        for problem in problems:
            name = PurePosixPath(problem.target.strip("[]").split("#")[0].split("?")[0]).name
            if problem.fault is not LinkFault.MISSING or name not in snapshot.names:
                yield path, problem


class _NoLedger:
    """A ledger without state: the server lists its pages."""

    def has(self, mark: ItemDigest) -> bool:
        return False

    def key_of(self, marks: Iterable[ItemDigest]) -> str:
        return uuid.uuid4().hex

    def add(self, marks: Sequence[ItemDigest]) -> None:
        pass


def watch(root: Path, every_seconds: float, stop: threading.Event, changed: Callable[[], bool]) -> None:
    """Call ``changed`` after each change of files of ``root``, once they no longer change, until ``stop`` is set.

    If it returns False, it is called again at the next poll.
    """
    settled = signature(root)
    if not changed():
        settled = {}
    before = settled
    while not stop.wait(every_seconds):
        now = signature(root)
        if now != settled and now == before:
            settled = now if changed() else {}
        before = now
