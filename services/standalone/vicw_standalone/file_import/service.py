"""Import of files into a server: read, batch and send items, and record acknowledged ones in a ledger.

It may be killed at any point and run again. Items with an id are stored once in any case; for items without one,
the ledger and an Idempotency-Key derived from the content prevent duplicates.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from pathlib import Path

from vicw_client import Retry, VicwClient, VicwClientError
from vicw_ingest.file_import.batches import batched
from vicw_ingest.file_import.delivery import FileImport, Progress, digest_of
from vicw_ingest.file_import.summary import Summary
from vicw_readers.intake.source_file import ImportOptions
from vicw_readers.paths import read_paths
from vicw_shared.text import counted
from vicw_standalone.file_import.client_store import ClientStore
from vicw_standalone.file_import.ledger import ImportLedger
from vicw_standalone.file_import.roots import claim_contexts

IMPORT_RETRY = Retry(attempts=12, longest_seconds=30.0)
"""Retries of an importing client: it waits up to two and a half minutes for a server with a full queue."""


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
    store, name = ClientStore(client, wait=wait_until_found), store_behind(client)
    state = state_path or default_state_path(name, paths)
    options = options or ImportOptions()
    if options.context is None:
        claim_contexts(state.with_name("contexts.json"), name, paths)
    with ImportLedger(state, again=again) as ledger:
        stop = stop or threading.Event()
        run = FileImport(store, ledger, progress or (lambda done, total: None), stop)
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
