"""How right and how fast times are read: ``python tests/bench/times.py``.

Prints how many forms of ``written_times.tsv`` have the right span and how many sentences of ``no_times.txt`` have none,
and the milliseconds that a question takes, the mean, median and slowest, each form being the best of five.
"""

from __future__ import annotations

import csv
import statistics
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from vicw_retrieval.temporal.query_analyzer import analyse_time
from vicw_retrieval.temporal.spans import BEGINNING, END

_DATA = Path(__file__).parents[1] / "unit" / "retrieval" / "temporal" / "data"
_NOW = datetime(2026, 3, 18, 15, 30, tzinfo=UTC)
_TRIES = 5


def _is_right(row: dict[str, str]) -> bool:
    zone = ZoneInfo(row["zone"])
    edges = [
        edge if row[name] == "-" else datetime.fromisoformat(row[name]).replace(tzinfo=zone).astimezone(UTC)
        for name, edge in (("start", BEGINNING), ("end", END))
    ]
    spans = analyse_time(row["form"], datetime.fromisoformat(row["asked_at"]).replace(tzinfo=zone)).spans
    return [(one.start, one.end, one.kind.value) for one in spans] == [(*edges, row["relation"])]


def _milliseconds(question: str) -> float:
    def once() -> float:
        begun = time.thread_time()
        analyse_time(question, _NOW)
        return time.thread_time() - begun

    return 1000 * min(once() for _ in range(_TRIES))


def _print_speed(name: str, questions: Sequence[str]) -> None:
    taken = [_milliseconds(question) for question in questions]
    mean, median = statistics.mean(taken), statistics.median(taken)
    print(f"{name}: {mean:.2f} ms a question, median {median:.2f}, slowest {max(taken):.2f}")


def main() -> None:
    """Print the figures."""
    with (_DATA / "written_times.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    sentences = (_DATA / "no_times.txt").read_text("utf-8").splitlines()
    print(f"{sum(map(_is_right, rows))} of {len(rows)} written times have the right span")
    none = sum(not analyse_time(one, _NOW).spans for one in sentences)
    print(f"{none} of {len(sentences)} sentences without a time have none")
    _print_speed("with a time", [row["form"] for row in rows])
    _print_speed("without", sentences)


if __name__ == "__main__":
    main()
