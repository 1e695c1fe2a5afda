"""Freezes a store and an export of this build, for later builds to open.

    PYTHONPATH=tests .venv/bin/python -m earlier.make tests/earlier/NAME

NAME/filling.py fills the store through the use cases of the build that is to be frozen. It runs at that build alone,
so later changes leave it as it is; ``--help`` says more.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import importlib
import io
import json
import os
import random
import sqlite3
import tarfile
import tempfile
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from earlier.frozen_clock import Clock

HELP = """Freeze a store and an export of this build into a folder, with what this build answers from them.

store.tar.xz is a data directory of `vicw serve` that holds a row of every table, with its vector index: that could be
made anew, but has stored names of its own. export.tar.xz is what `vicw export --keys` writes of it. answers.json is
what both answer and hold; a store that came out of the export is recorded by itself, as it lacks what is not exported.

Times and uids are the same in each run; the name of the store, keys and hashes of what was erased are not.
"""
STORE, EXPORT, ANSWERS = "store.tar.xz", "export.tar.xz", "answers.json"
EMPTY = {
    "meta rebuilding": "opening the store would make its index anew",
    "meta import": "a store in which an import broke off cannot be opened",
    "meta import_homes": "as above",
}
"""What the store has no row of, and why."""
_SIZE = "VICW.size"
_META = ("model", "change", "store", "erased", "asked", "round:", *(name.partition(" ")[2] for name in EMPTY))


def main() -> None:
    """Freeze, or only ask again."""
    parser = argparse.ArgumentParser(description=HELP, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the folder of the build, with its filling.py")
    parser.add_argument(
        "--answers", action="store_true", help="record anew what this build answers from what is frozen there already"
    )
    asked = parser.parse_args()
    if not asked.answers:
        freeze(asked.folder)
    record(asked.folder)
    for name in (STORE, EXPORT, ANSWERS):
        print(f"{(asked.folder / name).stat().st_size:>9,} {asked.folder / name}")


def freeze(folder: Path) -> None:
    """Make the store and its export, and pack both."""
    fill = _in_a_standing_time(folder.name)
    with tempfile.TemporaryDirectory() as room:
        store, export = Path(room) / "store", Path(room) / "export"
        asyncio.run(fill(store))
        _require_rows(store / "graph.sqlite3")
        run("export", "--to", str(export), "--keys", "--data-dir", str(store))
        pack(store, folder / STORE)
        pack(export, folder / EXPORT)


def record(folder: Path) -> None:
    """Write down what this build answers from what is frozen; of an answer that the export gives, too, once."""
    from earlier.questions import differences

    with tempfile.TemporaryDirectory() as room:
        store, export = (asyncio.run(of(folder, Path(room))) for of in (of_store, of_export))
    others = differences(store["answers"], export["answers"], restored=True)
    export["answers"] = {name: export["answers"][name] for name in others}
    lines = json.dumps({"store": store, "export": export}, ensure_ascii=False, indent=1)
    (folder / ANSWERS).write_text(f"{lines}\n", "utf-8")


def recorded(folder: Path) -> dict[str, Any]:
    """Return what was written down: of the ``store`` and the ``export`` each what it ``holds``, and all ``answers``."""
    told: dict[str, Any] = json.loads((folder / ANSWERS).read_text("utf-8"))
    told["export"]["answers"] = told["store"]["answers"] | told["export"]["answers"]
    return told


def _in_a_standing_time(build: str) -> Callable[[Path], Any]:
    """Have this process's clock stand still and its uids drawn from a seed; return what fills a store then.

    Whatever tells the time has the clock by its name, so nothing of VICW may be imported before.
    """
    from vicw_shared import clock

    drawn = random.Random(7)
    uuid.uuid4 = lambda: uuid.UUID(int=drawn.getrandbits(128), version=4)
    standing = Clock()
    clock.now = standing
    fill = importlib.import_module(f"earlier.{build}.filling").fill

    async def work(path: Path) -> None:
        await fill(path, standing)
        standing.at = None

    return work


async def of_store(folder: Path, room: Path) -> dict[str, Any]:
    """Return what the frozen store answers and holds when it is opened in ``room``."""
    from earlier.questions import look_at

    unpack(folder / STORE, room / "store")
    return await look_at(room / "store")


async def of_export(folder: Path, room: Path) -> dict[str, Any]:
    """Return what a store that came out of the frozen export answers and holds."""
    from earlier.questions import look_at, restore

    unpack(folder / EXPORT, room / "export")
    await restore(room / "export", room / "restored")
    return await look_at(room / "restored")


def run(*arguments: str) -> None:
    """Run the ``vicw`` command in this process; it has to end well."""
    from vicw_standalone.cli import app

    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, f"{done.output}\n{done.exception!r}"


def pack(folder: Path, archive: Path) -> None:
    """Pack a folder's files, each without the zeros at its end: an index is half a gigabyte of them."""
    with tarfile.open(archive, "w:xz", preset=9) as tar:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            whole = path.read_bytes()
            body = whole.rstrip(b"\0")
            entry = tarfile.TarInfo(path.relative_to(folder).as_posix())
            entry.size, entry.pax_headers = len(body), {_SIZE: str(len(whole))}
            tar.addfile(entry, io.BytesIO(body))


def unpack(archive: Path, folder: Path) -> None:
    """Unpack what was packed into a new folder, which only its owner can read: a store asks for that."""
    folder.mkdir(mode=0o700)
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
        for entry in tar:
            os.truncate(folder / entry.name, int(entry.pax_headers[_SIZE]))


def _require_rows(path: Path) -> None:
    """Every table has a row, and ``meta`` one of each kind, but for what is known to have none."""
    with contextlib.closing(sqlite3.connect(path)) as graph:
        tables = graph.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        counts = {name: graph.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for (name,) in tables.fetchall()}
        keys = [key for (key,) in graph.execute("SELECT key FROM meta")]
    kinds = {f"meta {kind}": sum(key.startswith(kind) for key in keys) for kind in _META}
    print(json.dumps(counts | kinds, indent=1))
    empty = {name for name, count in (counts | kinds).items() if not count}
    assert empty <= EMPTY.keys(), f"no row of {empty - EMPTY.keys()}"


if __name__ == "__main__":
    main()
