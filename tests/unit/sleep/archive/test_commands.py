"""``vicw export``, ``import``, ``backup`` and ``restore`` on data directories."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
import tarfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest
from typer.testing import CliRunner, Result

from support.clients.served import Served, keep_logs, serve_store
from support.clients.served import command as run
from support.fakes.hash_embedder import HashEmbedder
from support.stores.exports import assert_same_exports
from support.stores.memory import Memory, open_memory
from vicw_shared.errors import StateConflictError
from vicw_shared.ports import Edges
from vicw_standalone.cli import app
from vicw_standalone.wiring import Standalone
from vicw_stores.aside import move_aside
from vicw_stores.sqlite.transaction import SqliteTransaction


@pytest.fixture
def filled(store: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    # Loggers keep what they were given first: here a stream that ends with the command.
    keep_logs(monkeypatch)
    monkeypatch.setattr("vicw_sleep.archive.cli.configure_logs", lambda settings: None)

    async def fill() -> None:
        async with open_memory(store) as memory:
            turns = ({"id": f"m{n}", "text": f"turn {n} of Ana", "speaker": "Ana", "flow_id": "f"} for n in range(6))
            await memory.ingest(*turns)
            await memory.ingest({"id": "x", "text": "elsewhere"}, context="other")

    asyncio.run(fill())
    return store


def vicw(*arguments: str | Path) -> Result:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        result.output_bytes += f"{type(result.exception).__name__}: {result.exception}".encode()
    return result


def test_export_and_import_round_trip_on_data_directories(filled: Path, tmp_path: Path) -> None:
    done = vicw("export", "--to", tmp_path / "one", "--data-dir", filled)
    assert done.exit_code == 0, done.output
    assert "vectors" in done.stdout
    assert vicw("import", tmp_path / "one", "--check").stdout == f"{tmp_path / 'one'}: every record is valid\n"
    other = tmp_path / "other"
    done = vicw("import", tmp_path / "one", "--data-dir", other)
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (0, "clean"), done.output
    assert "0 waiting\nclean" in vicw("check", "--data-dir", other).stdout
    again = vicw("import", tmp_path / "one", "--data-dir", other)
    assert again.exit_code == 1
    assert "Tenant 'default' has data in this store" in again.output
    assert vicw("export", "--to", tmp_path / "two", "--data-dir", other).exit_code == 0
    assert_same_exports(tmp_path / "one", tmp_path / "two")

    async def ask() -> None:
        async with open_memory(other) as memory:
            assert [result.id for result in (await memory.retrieve("turn 3")).results][:1] == ["m3"]

    asyncio.run(ask())


def test_export_and_import_report_the_same_counts_and_skipped_vectors(
    filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        init = Standalone.__init__
        patch.setattr(Standalone, "__init__", lambda self, settings: init(self, settings, HashEmbedder()))
        folded = vicw("sleep", "consolidate", "--hours", "0", "-q", "--data-dir", filled)
        assert folded.exit_code == 0, folded.output
    told = vicw("export", "--to", tmp_path / "e", "--data-dir", filled).stdout.removeprefix(f"{tmp_path / 'e'}: ")
    done = vicw("import", tmp_path / "e", "--data-dir", tmp_path / "other")
    assert (done.stdout.splitlines()[0], done.stderr) == (told.strip(), "")
    vectors = int(told.split()[-2])
    points = int(vicw("check", "--data-dir", filled).stdout.split(" points")[0].split()[-1])
    assert 0 < vectors < points, "what was consolidated is found by its words alone"

    async def fill() -> None:
        async with open_memory(tmp_path / "third", HashEmbedder("another")) as memory:
            memory.tenant = "third"
            await memory.ingest({"text": "of its own"}, context="third")

    asyncio.run(fill())
    strange = vicw("import", tmp_path / "e", "--data-dir", tmp_path / "third")
    assert strange.stdout.splitlines()[0] == told.strip().replace(f", {vectors} vectors", ", 0 vectors")
    assert f"{vectors} vectors not imported" in strange.stderr


def test_restore_loads_a_store_with_broken_chains_that_import_refuses(filled: Path, tmp_path: Path) -> None:
    async def stray() -> None:
        async with open_memory(filled) as memory:
            graph = memory.standalone.graph
            known = [edge for edge, _, _ in await graph.scan(Edges(), limit=1000) if edge.type == "NEXT"]
            one = replace(known[0], id=str(UUID(int=1)), target=known[0].source)
            await graph.write("default", "ctx", lambda transaction: transaction.put_edges([one]))

    asyncio.run(stray())
    assert "stray edge" in vicw("check", "--data-dir", filled).output
    assert vicw("export", "--to", tmp_path / "e", "--data-dir", filled).exit_code == 0
    refused = vicw("import", tmp_path / "e", "--data-dir", tmp_path / "other")
    assert refused.exit_code == 1
    assert "stray edge" in refused.stdout
    assert "the import is not complete" in refused.stderr
    assert "`vicw restore` loads the export unchecked into an empty store" in refused.stderr
    assert "broke off" in vicw("export", "--to", tmp_path / "half", "--data-dir", tmp_path / "other").output
    restored = vicw("restore", tmp_path / "e", "--data-dir", tmp_path / "other")
    assert restored.exit_code == 0, restored.output
    assert "stray edge" in vicw("check", "--data-dir", tmp_path / "other").output


def test_export_of_one_context_contains_only_that_context(filled: Path, tmp_path: Path) -> None:
    assert vicw("export", "--to", tmp_path / "e", "--context", "other", "--data-dir", filled).exit_code == 0
    manifest = json.loads((tmp_path / "e/manifest.json").read_text())
    assert (manifest["context"], manifest["files"]["contexts.jsonl"]["rows"]) == ("other", 1)
    assert "turn" not in (tmp_path / "e/chunks.jsonl").read_text()
    nothing = vicw("export", "--to", tmp_path / "f", "--context", "nobody's", "--data-dir", filled)
    assert nothing.exit_code == 1
    assert 'There is no context "nobody\'s"; there is' in nothing.output
    assert not (tmp_path / "f").exists()
    again = vicw("import", tmp_path / "e", "--data-dir", filled)
    assert "Tenant 'default' has data in this store" in again.output


def test_export_leaves_folders_with_other_files_alone(filled: Path, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home/letter").write_text("dear")
    refused = vicw("export", "--to", tmp_path / "home", "--data-dir", filled)
    assert "holds other files" in refused.output
    assert (tmp_path / "home/letter").read_text() == "dear"
    assert "Name a folder of its own" in vicw("export", "--to", "/", "--data-dir", filled).output
    assert "is not an export" in vicw("import", tmp_path / "home", "--data-dir", filled).output
    for _ in range(2):
        assert vicw("export", "--to", tmp_path / "e", "--data-dir", filled).exit_code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["e", "home"]
    assert "vicw import" in vicw("ingest", tmp_path / "e").output


def test_backup_keeps_the_latest_and_restore_brings_keys_back(
    filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = vicw("keys", "create", "--data-dir", filled).stdout.split("_")[1]
    names = iter(f"vicw-2026010{n}T000000Z" for n in range(1, 9))
    monkeypatch.setattr("vicw_sleep.archive.backups.name_at", lambda at: next(names))
    backups = tmp_path / "backups"
    for extra in ((), ("--compress",), ("--compress", "--keep", "2")):
        assert vicw("backup", "--to", backups, "--data-dir", filled, *extra).exit_code == 0
    assert sorted(path.name for path in backups.iterdir()) == [
        "vicw-20260102T000000Z.tar.gz",
        "vicw-20260103T000000Z.tar.gz",
    ]
    latest = backups / "vicw-20260103T000000Z.tar.gz"
    other = tmp_path / "other"
    assert vicw("restore", latest, "--data-dir", other).exit_code == 0
    assert key in vicw("keys", "list", "--data-dir", other).stdout
    third = tmp_path / "third"
    assert "keys were not imported" in vicw("import", latest, "--data-dir", third).output
    assert key not in vicw("keys", "list", "--data-dir", third).stdout
    assert "is not empty" in vicw("restore", latest, "--data-dir", filled).output
    done = vicw("restore", latest, "--replace", "--data-dir", filled)
    assert done.exit_code == 0, done.output
    assert "clean" in vicw("check", "--data-dir", filled).stdout
    assert [path for path in filled.iterdir() if path.name.startswith("replaced-")]


def test_a_new_backup_is_kept_beside_ones_with_later_dates(
    filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = iter(f"vicw-{year}0101T000000Z" for year in (2030, 2031, 2026))
    monkeypatch.setattr("vicw_sleep.archive.backups.name_at", lambda at: next(names))
    for keep in ("3", "3", "2"):
        done = vicw("backup", "--to", tmp_path / "backups", "--keep", keep, "--data-dir", filled)
        assert done.exit_code == 0
    assert sorted(path.name for path in (tmp_path / "backups").iterdir()) == [
        "vicw-20260101T000000Z",
        "vicw-20310101T000000Z",
    ]


def test_a_store_with_an_interrupted_import_is_not_opened(
    filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert vicw("export", "--to", tmp_path / "e", "--data-dir", filled).exit_code == 0
    other = tmp_path / "other"

    async def die(self: object, *_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(SqliteTransaction, "put_edges", die)
        assert vicw("import", tmp_path / "e", "--data-dir", other).exit_code != 0

    async def serve() -> None:
        async with open_memory(other):
            pass

    with pytest.raises(StateConflictError, match="broke off in this store"):
        asyncio.run(serve())
    assert "broke off" in vicw("export", "--to", tmp_path / "f", "--data-dir", other).output
    assert vicw("import", tmp_path / "e", "--data-dir", other).exit_code == 0
    asyncio.run(serve())


@pytest.fixture
def backup(filled: Path, tmp_path: Path) -> Path:
    assert vicw("backup", "--to", tmp_path / "backups", "--data-dir", filled).exit_code == 0
    return next((tmp_path / "backups").iterdir())


def retract_items(store: Path, *ids: str) -> None:
    """Change a store: items leave its present."""

    async def retract() -> None:
        async with open_memory(store) as memory:
            assert await memory.retract(*ids) == ["retracted" for _ in ids]

    asyncio.run(retract())


def replaced_folders(store: Path) -> list[Path]:
    return sorted(path for path in store.iterdir() if path.name.startswith("replaced-"))


def exported_text(store: Path, to: Path) -> str:
    """Return all nodes that a store exports."""
    assert vicw("export", "--to", to, "--data-dir", store).exit_code == 0
    return "".join(path.read_text("utf-8") for path in sorted(to.glob("*.jsonl")))


def test_restore_replace_discards_changes_since_the_last_restore(backup: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    assert vicw("restore", backup, "--data-dir", other).exit_code == 0
    before = exported_text(other, tmp_path / "before")
    retract_items(other, "m3")
    done = vicw("restore", backup, "--replace", "--data-dir", other)
    assert done.exit_code == 0, done.output
    assert " vectors\n" in done.stdout
    assert exported_text(other, tmp_path / "after") == before
    assert len(replaced_folders(other)) == 1
    assert "clean" in vicw("check", "--data-dir", other).stdout


@pytest.mark.parametrize("breaking", ["another version", "garbage", "a hole"])
def test_restore_replaces_and_keeps_a_store_that_cannot_be_opened(
    backup: Path, filled: Path, tmp_path: Path, breaking: str
) -> None:
    before = exported_text(filled, tmp_path / "before")
    graph = filled / "graph.sqlite3"
    if breaking == "another version":
        with closing(sqlite3.connect(graph)) as db:
            db.execute("PRAGMA user_version = 999")
    else:
        raw = bytearray(graph.read_bytes())
        start = 0 if breaking == "garbage" else 4096
        raw[start : start + 40_000] = b"x" * 40_000
        graph.write_bytes(raw)
    spoilt = graph.read_bytes()
    assert vicw("restore", backup, "--data-dir", filled).exit_code != 0
    done = vicw("restore", backup, "--replace", "--data-dir", filled)
    assert done.exit_code == 0, done.output
    (aside,) = replaced_folders(filled)
    assert (aside / "graph.sqlite3").read_bytes() == spoilt
    assert exported_text(filled, tmp_path / "after") == before


def test_an_erased_tenant_is_brought_back_by_import_and_restore(
    backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    init = Standalone.__init__
    monkeypatch.setattr(Standalone, "__init__", lambda self, settings: init(self, settings, HashEmbedder()))
    for command in ("import", "restore"):
        other = tmp_path / command
        assert vicw("restore", backup, "--data-dir", other).exit_code == 0
        before = exported_text(other, tmp_path / f"{command}-before")
        erased = vicw("forget", "tenant", "default", "--yes", "--data-dir", other)
        assert erased.exit_code == 0, erased.output
        assert " vectors\n" in vicw(command, backup, "--data-dir", other).stdout
        assert exported_text(other, tmp_path / f"{command}-after") == before


@pytest.fixture
def failing_imports(monkeypatch: pytest.MonkeyPatch) -> Callable[[], AbstractContextManager[None]]:
    """Let imports die with all nodes stored, and no edge."""

    @contextmanager
    def patched() -> Iterator[None]:
        async def die(self: object, *_: object) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(SqliteTransaction, "put_edges", die)
            yield

    return patched


def test_a_killed_restore_continues_without_replacing_again(
    filled: Path, backup: Path, failing_imports: Callable[[], AbstractContextManager[None]]
) -> None:
    with failing_imports():
        assert vicw("restore", backup, "--replace", "--data-dir", filled).exit_code != 0
    assert len(replaced_folders(filled)) == 1
    done = vicw("restore", backup, "--data-dir", filled)
    assert done.exit_code == 0, done.output
    assert len(replaced_folders(filled)) == 1, "its half is not moved"
    assert "clean" in vicw("check", "--data-dir", filled).stdout


@pytest.fixture
def store_of_another_tenant(store: Path, tmp_path: Path, filled: Path) -> Path:
    """A store with another tenant's memory alone."""

    async def fill() -> None:
        async with open_memory(tmp_path / "another") as memory:
            memory.tenant = "another"
            await memory.ingest({"id": "y", "text": "of another"}, context="other")

    asyncio.run(fill())
    return tmp_path / "another"


def test_restore_replaces_an_interrupted_import_beside_another_tenant(
    filled: Path,
    tmp_path: Path,
    store_of_another_tenant: Path,
    failing_imports: Callable[[], AbstractContextManager[None]],
) -> None:
    assert vicw("export", "--to", tmp_path / "e", "--data-dir", filled).exit_code == 0
    with failing_imports():
        assert vicw("import", tmp_path / "e", "--data-dir", store_of_another_tenant).exit_code != 0
    assert "is not empty" in vicw("restore", tmp_path / "e", "--data-dir", store_of_another_tenant).output
    done = vicw("restore", tmp_path / "e", "--replace", "--data-dir", store_of_another_tenant)
    assert done.exit_code == 0, done.output
    assert len(replaced_folders(store_of_another_tenant)) == 1
    assert "of another" not in exported_text(store_of_another_tenant, tmp_path / "after")


def test_forget_import_erases_an_interrupted_import_beside_another_tenant(
    filled: Path,
    tmp_path: Path,
    store_of_another_tenant: Path,
    failing_imports: Callable[[], AbstractContextManager[None]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    init = Standalone.__init__
    monkeypatch.setattr(Standalone, "__init__", lambda self, settings: init(self, settings, HashEmbedder()))
    assert vicw("export", "--to", tmp_path / "e", "--data-dir", filled).exit_code == 0
    before = exported_text(store_of_another_tenant, tmp_path / "before")
    with failing_imports():
        assert vicw("import", tmp_path / "e", "--data-dir", store_of_another_tenant).exit_code != 0
    shutil.rmtree(tmp_path / "e")
    assert (
        "`vicw forget import`"
        in vicw("export", "--to", tmp_path / "half", "--data-dir", store_of_another_tenant).output
    )
    dry = vicw("forget", "import", "--dry-run", "--data-dir", store_of_another_tenant)
    told = "the imported part of context {!r} of tenant 'default'"
    assert (dry.exit_code, dry.stdout) == (0, f"{told.format('ctx')}, {told.format('other')}\n")
    done = vicw("forget", "import", "--yes", "--data-dir", store_of_another_tenant)
    assert done.exit_code == 0, done.output
    assert "proven: nothing is left" in done.stdout
    assert exported_text(store_of_another_tenant, tmp_path / "after") == before
    assert "clean" in vicw("check", "--data-dir", store_of_another_tenant).stdout
    assert "No import broke off" in vicw("forget", "import", "--yes", "--data-dir", store_of_another_tenant).output


def test_a_backup_tar_with_paths_outside_is_refused(filled: Path, tmp_path: Path) -> None:
    assert vicw("export", "--to", tmp_path / "e", "--data-dir", filled).exit_code == 0
    for number, name in enumerate(("../evil.jsonl", "vicw-20260101T000000Z/../../evil.jsonl", "/tmp/evil.jsonl")):
        packed = tmp_path / f"{number}.tar.gz"
        with tarfile.open(packed, "w:gz") as tar:
            tar.add(tmp_path / "e/chunks.jsonl", arcname=name)
        refused = vicw("restore", packed, "--data-dir", tmp_path / "new")
        assert "which does not belong in a backup" in refused.output
        assert not (tmp_path / "new").exists()


def test_move_aside_moves_the_vectors_before_the_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("graph.sqlite3", "vectors", "other"):
        (tmp_path / name).touch()
    moved: list[str] = []
    rename = Path.rename

    def noted(self: Path, target: Path) -> Path:
        moved.append(self.name)
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", noted)
    aside = move_aside(tmp_path, "replaced")
    assert aside is not None
    assert moved == ["vectors", "graph.sqlite3"]
    assert sorted(path.name for path in aside.iterdir()) == ["graph.sqlite3", "vectors"]
    (tmp_path / "graph.sqlite3").touch()
    again = move_aside(tmp_path, "replaced")
    assert (again and again.name) == "replaced-2", "within one second, too"
    assert (tmp_path / "other").exists()


def test_export_backup_and_import_do_and_say_the_same_beside_a_server(
    filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vicw_sleep.archive.backups.name_at", lambda at: "vicw-20260101T000000Z")
    words = [
        ("export", "--to", "{}/e"),
        ("export", "--to", "{}/e", "--tenant", "nosuch"),
        ("export", "--to", "{}/other", "--context", "other", "--no-vectors"),
        ("backup", "--to", "{}/backups", "--compress", "--keep", "1"),
        ("import", "{}/e"),
        ("restore", "{}/e"),
        ("export", "--to", "/"),
    ]

    def run_all(folder: Path) -> list[tuple[int, str, str]]:
        done = [run(filled, *(word.format(folder) for word in one)) for one in words]
        return [
            (one.exit_code, one.stdout.replace(str(folder), ""), one.stderr.replace(str(folder), "")) for one in done
        ]

    alone = run_all(tmp_path / "alone")
    with serve_store(filled):
        assert run_all(tmp_path / "served") == alone
    assert [code for code, _, _ in alone] == [0, 1, 0, 0, 1, 1, 1]
    assert_same_exports(tmp_path / "alone/e", tmp_path / "served/e")


def test_an_import_into_a_running_server_is_found_at_once(filled: Path, tmp_path: Path) -> None:
    assert vicw("export", "--to", tmp_path / "e", "--data-dir", filled).exit_code == 0
    other = tmp_path / "other"

    async def fill() -> None:
        async with open_memory(other) as memory:
            memory.tenant = "another"
            await memory.ingest({"id": "y", "text": "of another"}, context="other")

    asyncio.run(fill())
    with serve_store(other) as served:
        done = run(other, "import", str(tmp_path / "e"))
        assert (done.exit_code, done.stdout.splitlines()[-1]) == (0, "clean"), done.output
        assert "not imported" not in done.stderr
        served.settle()
        memory = Memory(served.standalone, HashEmbedder())
        assert served.portal.call(lambda: memory.found("turn 3", limit=1)) == ["m3"]
        assert "has data in this store" in run(other, "import", str(tmp_path / "e")).stderr
        refused = run(other, "restore", str(tmp_path / "e"), "--replace")
        assert (refused.exit_code, "which no process may have open" in refused.stderr) == (1, True)
    assert replaced_folders(other) == []
    assert "clean" in vicw("check", "--data-dir", other).stdout


def test_the_jobs_of_a_server_rest_while_an_import_is_incomplete(
    filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert vicw("export", "--to", tmp_path / "e", "--data-dir", filled).exit_code == 0

    def jobs(served: Served) -> bool:
        async def names() -> set[str]:
            await asyncio.sleep(0.05)
            return {task.get_name() for task in asyncio.all_tasks()}

        return "expiry" in served.portal.call(names)

    with serve_store(tmp_path / "new") as served:
        with monkeypatch.context() as patch:

            async def die(self: object, *_: object) -> None:
                assert not jobs_now()
                raise StateConflictError("broken off")

            def jobs_now() -> bool:
                return "expiry" in {task.get_name() for task in asyncio.all_tasks()}

            patch.setattr(SqliteTransaction, "put_edges", die)
            assert jobs(served)
            assert "broken off" in run(tmp_path / "new", "import", str(tmp_path / "e")).stderr
        assert not jobs(served)
        assert run(tmp_path / "new", "import", str(tmp_path / "e")).exit_code == 0
        assert jobs(served)


def test_an_almost_full_disk_stops_neither_an_export_nor_a_check(
    filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (filled / "vectors/clean").unlink()
    monkeypatch.setenv("VICW_MIN_FREE_MB", "1000000000")
    assert "clean" in vicw("check", "--data-dir", filled).stdout
    done = vicw("export", "--to", tmp_path / "e", "--data-dir", filled)
    assert (done.exit_code, "without vectors" in done.output) == (0, False), done.output
    refused = vicw("import", tmp_path / "e", "--data-dir", tmp_path / "other")
    assert (refused.exit_code, "VICW_MIN_FREE_MB" in refused.output) == (1, True), refused.output
    assert not (tmp_path / "other").exists()
