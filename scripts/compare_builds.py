#!/usr/bin/env python3
"""Print figures of two builds side by side: an earlier revision of this repository and the present checkout.

    python scripts/compare_builds.py --before REVISION [--data DIR] [--only start,memory] [--rounds 5]

The earlier revision is set up in a git worktree under --work, which the next run reuses. The builds take turns within
each round, so that a busy machine slows both; a figure is the median over the rounds.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from command_costs import cpu_seconds
from first_answer import call, free_port

ROOT = Path(__file__).resolve().parent.parent
ITEMS = [
    {"id": "m1", "speaker": "Lena", "text": "The nightly build broke because the staging database was locked."},
    {"id": "m2", "speaker": "Tom", "text": "The staging database was locked because Ben never finished his migration."},
]
QUESTION = "Why did the nightly build break?"
SETS = ("locomo", "longmemeval_s", "fairytaleqa", "cosqa", "musique", "hotpotqa")
QUESTIONED, QUESTIONS = "locomo", 100
LONG_BATCHES, LONG_TEXTS, LONG_WORDS = 100, 8, 500
PATIENCE_SECONDS = 1200.0

type Figures = dict[str, float]


@dataclass(frozen=True)
class Build:
    """A build that is set up in ``root``, and the variables of its programs."""

    root: Path
    variables: Mapping[str, str]

    def command(self, program: str, *arguments: str) -> list[str]:
        """Return a command line of a program in its environment."""
        return [str(self.root / ".venv" / "bin" / program), *arguments]

    def environment(self) -> dict[str, str]:
        """Return the variables of this process without VICW's, and those of the build."""
        own = {name: value for name, value in os.environ.items() if not name.startswith("VICW_")}
        return own | dict(self.variables)


def start(build: Build) -> Figures:
    """Seconds of a first start on an empty data directory, and CPU seconds of ``vicw retrieve``."""
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        url = f"http://127.0.0.1:{port}"
        began = time.perf_counter()
        with _running(build.command("vicw", "serve", "--port", str(port), "--data-dir", folder), build):
            _until(lambda: call(f"{url}/healthz") is not None)
            alive = time.perf_counter() - began
            _store(url)
            stored = time.perf_counter() - began
            _until(lambda: bool(_ask(url).get("results")))
            answered = time.perf_counter() - began
            _until(lambda: _ask(url).get("degraded") == [])
            ready = time.perf_counter() - began
            question = build.command("vicw", "retrieve", "--url", url, QUESTION)
            costs = [cpu_seconds(question, build.environment()) for _ in range(4)][1:]
    return {
        "`vicw serve` to /healthz, s": alive,
        "`vicw serve` to items stored, s": stored,
        "`vicw serve` to first answer, s": answered,
        "`vicw serve` to first answer with vectors, s": ready,
        "`vicw retrieve`, CPU s": statistics.median(costs),
    }


def memory(build: Build) -> Figures:
    """RSS of the embedding process after 10 and after 100 batches of the longest texts."""
    figures: Figures = {}
    port = free_port()
    words = re.findall(r"\w+", (ROOT / "docs" / "retrieval.md").read_text("utf-8"))
    with _running(build.command("python", "-m", "vicw_embedding", "--port", str(port)), build) as process:
        url = f"http://127.0.0.1:{port}"
        _until(lambda: call(f"{url}/readyz") is not None)
        for number in range(1, LONG_BATCHES + 1):
            firsts = range(number, number + LONG_TEXTS)
            texts = [" ".join(words[first : first + LONG_WORDS]) for first in firsts]
            if call(f"{url}/v1/embeddings", json.dumps({"input": texts, "model": "any"}).encode()) is None:
                raise SystemExit(f"the embedding process of {build.root} refuses long texts")
            if number in (LONG_BATCHES // 10, LONG_BATCHES):
                figures[f"embedding process after {number} long batches, MiB"] = _rss_mib(process.pid)
    return figures


def ingest(build: Build, data: Path | None, items: int) -> Figures:
    """Texts a second through ``POST /ingest``, and by the embedder alone."""
    source = ["--data", str(data / "locomo")] if data else []
    command = build.command("vicw", "bench", "ingest", "--items", str(items), "--rounds", "1", *source)
    # The JSON of earlier builds cannot be written.
    done = subprocess.run(command, check=True, env=build.environment(), capture_output=True, text=True)
    found = re.search(r"(\d+)\s+texts/s\s+through\s+/ingest,\s+(\d+)\s+by", done.stdout)
    if found is None:
        raise SystemExit(f"`vicw bench ingest` of {build.root} printed:\n{done.stdout}")
    return {
        "texts embedded a second through /ingest": float(found[1]),
        "the same texts by the embedder alone": float(found[2]),
    }


def fidelity(build: Build, data: Path, stores: Path) -> Figures:
    """R@10 of each set in ``data``, from stores that each build fills once."""
    sets = ",".join(name for name in SETS if (data / name).is_dir())
    found = _bench(build, "fidelity", "--data", str(data), "--sets", sets, "--store", str(stores))
    return {f"R@10 {each['name']}": each["ways"][0]["overall"]["recall_at_10"] for each in found["sets"]}


def questions(before: Build, now: Build, data: Path, stores: Path, rounds: int) -> Iterator[tuple[Figures, Figures]]:
    """Median milliseconds of ``rounds`` × QUESTIONS questions of a set over HTTP, each asked of both builds in turn.

    Both have the same items, in stores that each build fills once and servers that do nothing else.
    """
    bodies = _questions(data / QUESTIONED)
    with ExitStack() as stack:
        urls = []
        for build in (before, now):
            folder = stores / f"stores-{build.root.name}"
            _bench(build, "fidelity", "--data", str(data), "--sets", QUESTIONED, "--store", str(folder))
            copy = Path(stack.enter_context(tempfile.TemporaryDirectory()), "data")
            shutil.copytree(max(folder.glob(f"{QUESTIONED}-*"), key=lambda store: store.stat().st_mtime), copy)
            port = free_port()
            urls.append(f"http://127.0.0.1:{port}/retrieve")
            quiet = Build(build.root, {**build.variables, "VICW_SLEEP_PAUSED": "true"})
            stack.enter_context(
                _running(quiet.command("vicw", "serve", "--port", str(port), "--data-dir", str(copy)), quiet)
            )
        for url in urls:
            _until(lambda url=url: (call(url, bodies[0]) or {}).get("degraded") == [])  # type: ignore[misc]
        for _ in range(rounds):
            times: tuple[list[float], list[float]] = ([], [])
            for number, body in enumerate(bodies):
                for place in (0, 1) if number % 2 else (1, 0):
                    began = time.perf_counter()
                    if call(urls[place], body) is None:
                        raise SystemExit(f"{urls[place]} does not answer")
                    times[place].append((time.perf_counter() - began) * 1000)
            earlier, later = ({f"a question, p50 of {len(each)}, ms": statistics.median(each)} for each in times)
            print(f"{earlier} {later}", file=sys.stderr)
            yield earlier, later


def _questions(data: Path) -> list[bytes]:
    """Return QUESTIONS requests, evenly chosen from a set."""
    files = [path for path in (data / "queries.jsonl", data / "queries.jsonl.gz") if path.is_file()]
    if not files:
        raise SystemExit(f"{data} has no queries.jsonl")
    with gzip.open(files[0]) if files[0].suffix == ".gz" else files[0].open("rb") as lines:
        asked = [json.loads(line) for line in lines]
    chosen = asked[:: max(1, len(asked) // QUESTIONS)][:QUESTIONS]
    fields = ("query", "context", "domain", "query_time")
    return [json.dumps({field: one[field] for field in fields if one.get(field)}).encode() for one in chosen]


def checkout(build: Build) -> Figures:
    """Seconds from ``make serve`` in a new clone to the first answer, with empty and filled caches; MB on disk."""
    figures: Figures = {}
    with tempfile.TemporaryDirectory() as folder:
        caches = {"UV_CACHE_DIR": f"{folder}/uv", "PIP_CACHE_DIR": f"{folder}/pip"}
        for state in ("cold", "warm"):
            clone = Path(folder, state)
            _git("clone", "--quiet", str(build.root), str(clone))
            port = free_port()
            url = f"http://127.0.0.1:{port}"
            variables = {**build.variables, **caches, "VICW_DATA_DIR": f"{folder}/data-{state}"}
            began = time.perf_counter()
            with _running(["make", "-C", str(clone), "serve", f"PORT={port}"], Build(clone, variables)):
                _store(url)
                _until(lambda url=url: bool(_ask(url).get("results")))  # type: ignore[misc]
                figures[f"`make serve` to first answer, caches {state}, s"] = time.perf_counter() - began
        files = (file for file in (clone / ".venv").rglob("*") if file.is_file() and not file.is_symlink())
        figures["environment of `make serve`, MB"] = sum(file.stat().st_size for file in files) / 1e6
    return figures


def table(rounds: Sequence[tuple[Figures, Figures]]) -> str:
    """Return a Markdown table of the medians of both builds, and of how many times the earlier the present is."""
    rows = ["| figure | before | now | now ÷ before |", "|---|---|---|---|"]
    for name in {name: None for pair in rounds for figures in pair for name in figures}:
        before, now = (_median(each[name] for each in side if name in each) for side in zip(*rounds, strict=True))
        ratio = f"{now / before:.2f}" if now is not None and before else "–"
        rows.append(f"| {name} | {_shown(before)} | {_shown(now)} | {ratio} |")
    return "\n".join(rows)


def prepare(revision: str, work: Path) -> Path:
    """Return a worktree of ``revision`` that is set up."""
    commit = _git("rev-parse", "--short=12", f"{revision}^{{commit}}")
    tree = work / commit
    if not (tree / ".venv" / "bin" / "vicw").exists():
        if not tree.exists():
            _git("worktree", "add", "--detach", str(tree), commit)
        extras = tomllib.loads((tree / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
        bench = ["--extra", "bench"] if "bench" in extras else []  # later builds always have it
        subprocess.run([tree / "scripts" / "setup", "--no-dev", *bench], check=True, stdout=sys.stderr)
    return tree


def in_turns(
    measure: Callable[[Build], Figures], before: Build, now: Build, rounds: int
) -> Iterator[tuple[Figures, Figures]]:
    """Measure both builds in each round; every second round begins with the present one."""
    for number in range(rounds):
        if number % 2:
            later = measure(now)
            earlier = measure(before)
        else:
            earlier = measure(before)
            later = measure(now)
        print(f"round {number + 1}: {earlier} {later}", file=sys.stderr)
        yield earlier, later


def _median(values: Iterator[float]) -> float | None:
    found = list(values)
    return statistics.median(found) if found else None


def _shown(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"


def _bench(build: Build, *arguments: str) -> dict[str, Any]:
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        command = build.command("vicw", "bench", *arguments, "--json", file.name)
        subprocess.run(command, check=True, env=build.environment(), stdout=subprocess.DEVNULL)
        found: dict[str, Any] = json.loads(Path(file.name).read_text("utf-8"))
        return found


@contextmanager
def _running(command: Sequence[str], build: Build) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        command, env=build.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        yield process
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(60)


def _store(url: str) -> None:
    body = json.dumps({"context": "Team", "items": ITEMS, "wait": False}).encode()
    _until(lambda: call(f"{url}/ingest", body) is not None)


def _ask(url: str) -> dict[str, Any]:
    return call(f"{url}/retrieve", json.dumps({"query": QUESTION}).encode()) or {}


def _until(reached: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not reached():
        if time.monotonic() > end:
            raise SystemExit(f"nothing for {PATIENCE_SECONDS:.0f} seconds")
        time.sleep(0.02)


def _rss_mib(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text("ascii")
    return int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) / 1024


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(ROOT), *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def main() -> None:
    """Measure what the options name, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", required=True, help="the earlier build: any name of a commit")
    parser.add_argument(
        "--only", default="start,memory,ingest", help="start, memory, ingest, checkout, fidelity, questions"
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--data", type=Path, help="folder of sets (docs/bench.md): locomo for ingest, questions")
    parser.add_argument("--items", type=int, default=500, help="items that ingest stores in each round")
    parser.add_argument("--work", type=Path, default=Path.home() / ".cache" / "vicw" / "builds")
    options = parser.parse_args()
    work, data = options.work.resolve(), options.data.resolve() if options.data else None
    measures: dict[str, Callable[[Build], Figures]] = {
        "start": start,
        "memory": memory,
        "ingest": lambda build: ingest(build, data, options.items),
        "checkout": checkout,
        "fidelity": lambda build: fidelity(build, data or ROOT, work / f"stores-{build.root.name}"),
    }
    chosen = options.only.split(",")
    names = [*measures, "questions"]
    if unknown := sorted(set(chosen) - set(names)):
        parser.error(f"--only: {', '.join(unknown)} is none of {', '.join(names)}")
    if data is None and (needy := [name for name in ("fidelity", "questions") if name in chosen]):
        parser.error(f"--only {needy[0]} needs --data")
    models = {"VICW_EMBEDDING_MODELS_DIR": str(work / "models")} if {"memory"} & set(chosen) else {}
    before, now = Build(prepare(options.before, work), models), Build(ROOT, models)
    print(f"before: {before.root.name}; now: {_git('describe', '--always', '--dirty')}\n")
    pairs: list[tuple[Figures, Figures]] = []
    for name in chosen:
        if name == "questions":
            pairs += questions(before, now, data or ROOT, work, options.rounds)
        else:
            pairs += in_turns(measures[name], before, now, options.rounds)
    print(table(pairs))


if __name__ == "__main__":
    main()
