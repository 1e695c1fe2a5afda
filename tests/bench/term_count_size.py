"""``python tests/bench/term_count_size.py``: what the counts of terms cost in a large context and in many contexts.

A SQLite file gets the counts of synthetic passages, in batches as the indexer acknowledges them: of one context of
``--passages``, then of a tenant with ``--contexts`` of one passage each. A row has milliseconds: of a batch (median
and 99th percentile), of the counts that a question needs (first, and as a rule), and of erasing a passage; and MiB.
"""

from __future__ import annotations

import argparse
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import batched
from pathlib import Path

import numpy as np

from vicw_bench.metrics import percentile
from vicw_shared.ports import TermScope
from vicw_stores.sqlite.schema import migrate
from vicw_stores.sqlite.term_counts import add_changes, read_records, replace_records
from vicw_stores.sqlite.term_statistics import read_frequencies
from vicw_stores.term_counts import TermChanges, TermRecords, TermTable

BATCH = 64
TERMS, VOCABULARY = 60, 200_000
TENANT = "tenant"
ASKED = tuple(range(1, 11))


def passages(contexts: Iterator[str]) -> Iterator[tuple[str, bytes]]:
    """Yield a passage for each context: its context and its packed terms, as frequent as words are (Zipf)."""
    draw = np.random.default_rng(0)
    for context in contexts:
        yield context, np.unique(draw.zipf(1.2, TERMS) % VOCABULARY).astype("<u4").tobytes()


def measure(label: str, path: Path, contexts: Iterator[str], asked: str) -> str:
    """Count the passages, ask and erase; return the row of the table."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;")
        for function, arguments in (("text_words", 1), ("head_words", 4), ("node_terms", 5), ("trigger_rows", 3)):
            connection.create_function(function, arguments, lambda *_: "", deterministic=True)
        migrate(connection)
        batches, last = [], ("", b"")
        for batch in batched(passages(contexts), BATCH):
            changes = TermChanges()
            for context, terms in batch:
                changes.add(TENANT, context, None, terms)
            batches.append(timed(lambda changes=changes: written(connection, changes)))  # type: ignore[misc]
            last = batch[-1]
        records = TermRecords()
        questions = [timed(lambda: read_frequencies(connection, records, TENANT, [asked], ASKED)) for _ in range(101)]
        found = read_frequencies(connection, records, TENANT, [asked], ASKED)
        erased = timed(lambda: erase(connection, *last))
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
    figures = [statistics.median(batches), percentile(batches, 0.99), questions[0], statistics.median(questions[1:])]
    shown = " | ".join(f"{figure:.2f}" for figure in (*figures, erased))
    sizes = f"{found.asked.passages:,} of {found.tenant.passages:,}"
    return f"| {label} | {sizes} | {shown} | {pages * 4096 / 2**20:.0f} |"


def written(connection: sqlite3.Connection, changes: TermChanges) -> None:
    """Write the differences in a transaction of their own."""
    connection.execute("BEGIN IMMEDIATE")
    add_changes(connection, changes)
    connection.execute("COMMIT")


def erase(connection: sqlite3.Connection, context: str, terms: bytes) -> None:
    """Take a passage out of all records of its context and its tenant, as an erasure does."""
    changes = TermChanges()
    changes.add(TENANT, context, terms, b"")
    connection.execute("BEGIN IMMEDIATE")
    for scope, table in changes.tables().items():
        records = read_records(connection, TermScope(*scope))
        replace_records(connection, scope, records, TermTable.sum([*records.values(), table]))
    connection.execute("COMMIT")


def timed(work: Callable[[], object]) -> float:
    """Return how many milliseconds ``work`` takes."""
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, default=500_000, help="passages of the large context")
    parser.add_argument("--contexts", type=int, default=100_000, help="contexts of one passage each")
    options = parser.parse_args()
    print("| | passages asked | batch of 64 | p99 | question, first | question | erasure | MiB |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory(prefix="vicw-bench-") as folder:
        many = (f"context {number}" for number in range(options.contexts))
        one = ("context 0" for _ in range(options.passages))
        print(measure("one context", Path(folder, "one.sqlite3"), one, "context 0"), flush=True)
        print(measure("many contexts", Path(folder, "many.sqlite3"), many, "context 7"), flush=True)


if __name__ == "__main__":
    main()
