"""``vicw forget`` over a data directory: what it says, does and proves. Every file is searched for the erased bytes."""

from __future__ import annotations

import asyncio
import json
import random
import shutil
import sqlite3
import subprocess
import sys
import time
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from support.clients.served import keep_logs
from support.fakes.hash_embedder import HashEmbedder
from support.stores.memory import open_memory
from vicw_ingest.erasure.sentences import proven
from vicw_shared.errors import InvalidInputError, MissingRecordError
from vicw_standalone.cli import app
from vicw_standalone.wiring import Standalone
from vicw_stores.edge import EdgeVectorStore
from vicw_stores.edge.rewrite import recover_all
from vicw_stores.sqlite.database import SqliteDatabase
from vicw_stores.sqlite.erasure import SqliteErasures

SECRET = "Quirin Zeltner keeps the vermilion lockbox under the third stair of the Halde observatory."
AGAIN = f"{SECRET[:-1]}, wrapped in ochre sailcloth, as of May."
WORDS = (b"vermilion", b"lockbox", b"Zeltner", b"zeltner", b"sailcloth", b"halde-archive", b"Halde")
_DRIVER = """
import sys
sys.path.insert(0, {tests!r})
from support.clients.served import keep_logs
from support.fakes.hash_embedder import HashEmbedder
from vicw_standalone.wiring import Standalone
init = Standalone.__init__
Standalone.__init__ = lambda self, settings, *given: init(self, settings, *(given or (HashEmbedder(),)))
from vicw_standalone.cli import app
app(sys.argv[1:])
"""


async def fill(store: Path, *, turns: int = 12) -> dict[str, str]:
    """Tell of everyday things and of a secret, which is changed once; return the uids of the items by their ids."""
    async with open_memory(store) as memory:
        topics = ("the amulet of Porto", "a broken build", "Ben and 3 tests", "no ship on Friday", "my sister Mara")
        items: list[dict[str, Any]] = [
            {"id": f"n{n}", "text": f"We talked about {topics[n % 5]} in round {n}.", "flow_id": "f", "speaker": "Ana"}
            for n in range(turns)
        ]
        secret = {"id": "s", "flow_id": "f", "speaker": "Ana", "tags": ["halde-archive"]}
        items.insert(4, {**secret, "text": SECRET, "metadata": {"where": "Halde, the cellar of the observatory"}})
        await memory.ingest(*items)
        await memory.ingest({**secret, "text": AGAIN})
        found: dict[str, str] = {}
        for key in (f"n{n}" for n in range(turns)):
            found[key] = (await memory.standalone.graph.items("default", key, ["ctx"]))[0].uid
        return found | {"s": (await memory.standalone.graph.items("default", "s", ["ctx"]))[0].uid}


@pytest.fixture
def uids(store: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    found = asyncio.run(fill(store))
    keep_logs(monkeypatch)
    init = Standalone.__init__
    monkeypatch.setattr(
        Standalone, "__init__", lambda self, settings, *given: init(self, settings, *(given or (HashEmbedder(),)))
    )
    return found


def vicw(store: Path, *words: str | Path) -> Result:
    return CliRunner().invoke(app, [*map(str, words), "--data-dir", str(store)])


def files_with(folder: Path, needles: Iterable[bytes]) -> dict[str, list[bytes]]:
    """Return which files have which of these bytes: read whole, by nothing of what is tested."""
    found: dict[str, list[bytes]] = {}
    for path in folder.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            if there := [needle for needle in needles if needle in data]:
                found[str(path.relative_to(folder))] = there
    return found


def bytes_of_uid(uid: str) -> list[bytes]:
    return [uid.encode(), uuid.UUID(uid).bytes]


def test_no_byte_is_left_of_what_passes_a_filter(uids: dict[str, str], store: Path) -> None:
    by_filter = ("forget", "item", "--filter")
    sent = '{"tags": "HALDE-archive", "not": {"id": {"in": ["n1"]}}}'
    dry = vicw(store, *by_filter, sent, "--dry-run")
    assert (dry.exit_code, dry.stdout) == (0, "1 item of context 'ctx'\n"), dry.output
    done = vicw(store, *by_filter, sent, "--yes")
    assert (done.exit_code, "proven: nothing is left" in done.stdout) == (0, True), done.output
    assert files_with(store, [*WORDS, *bytes_of_uid(uids["s"])]) == {}
    again = vicw(store, *by_filter, sent, "--yes")
    assert isinstance(again.exception, MissingRecordError), again.output
    whole = vicw(store, *by_filter, "{}", "--yes")
    assert isinstance(whole.exception, InvalidInputError), whole.output
    assert vicw(store, *by_filter, "{}", "--all", "--dry-run").stdout == "12 items of context 'ctx'\n"
    for wrong in (("n1", "--filter", "{}"), (), ("--filter", '{"metadata.where": {"prefix": "H"}}')):
        assert vicw(store, "forget", "item", *wrong, "--dry-run").exit_code == 2, wrong


def test_no_byte_of_an_erased_item_is_left_in_any_file(uids: dict[str, str], store: Path) -> None:
    needles = [*WORDS, *bytes_of_uid(uids["s"])]
    assert {"graph.sqlite3"} <= files_with(store, needles).keys()
    dry = vicw(store, "forget", "item", "s", "--dry-run")
    assert (dry.exit_code, dry.stdout) == (0, "1 item of context 'ctx'\n"), dry.output
    assert files_with(store, [b"vermilion"]), "nothing went"
    done = vicw(store, "forget", "item", "s", "--yes")
    assert done.exit_code == 0, done.output
    assert "proven: nothing is left in the store" in done.stdout
    assert files_with(store, needles) == {}
    assert files_with(store, [b"amulet"]), "the others are there"
    checked = vicw(store, "check")
    assert checked.stdout.endswith("clean\n"), checked.output
    assert " 0 waiting" in checked.stdout


def test_forget_item_erases_its_consolidated_and_logged_copies(uids: dict[str, str], store: Path) -> None:
    assert vicw(store, "sleep", "consolidate", "--hours", "0", "-q").exit_code == 0
    done = vicw(store, "forget", "item", "s", "-y")
    assert done.exit_code == 0, done.output
    assert files_with(store, [*WORDS, *bytes_of_uid(uids["s"])]) == {}
    assert vicw(store, "check").stdout.endswith("clean\n")
    assert vicw(store, "sleep", "consolidate", "--hours", "0", "-q").exit_code == 0, (
        "the others may be consolidated anew"
    )
    assert vicw(store, "check").stdout.endswith("clean\n")


TAG = "projekt nachtfalter geheim"
STORM = "The winter storm broke the old lighthouse near the harbour last night"


def tag(store: Path, **fields: Any) -> None:
    """Have a dream give the tag of one item to two others, which are like it."""
    texts = (f"{STORM}.", f"{STORM}, said the keeper.", f"{STORM}, said the mayor.")
    items: list[dict[str, Any]] = [{"id": f"a{n}", "text": text, **fields} for n, text in enumerate(texts)]
    items[0]["tags"] = [TAG]

    async def tell() -> None:
        async with open_memory(store) as memory:
            await memory.ingest(*items)

    asyncio.run(tell())
    dreamt = vicw(store, "sleep", "dream", "--hours", "0")
    assert dreamt.stdout.count(f"tag      {TAG}") == 2, dreamt.output


@pytest.mark.parametrize("undone", [False, True])
def test_forget_item_erases_its_tag_that_a_dream_has_spread(uids: dict[str, str], store: Path, undone: bool) -> None:
    tag(store)
    if undone:
        for line in vicw(store, "sleep", "log", "--json").stdout.splitlines():
            assert vicw(store, "sleep", "undo", json.loads(line)["id"]).exit_code == 0
    assert files_with(store, [TAG.encode()])
    done = vicw(store, "forget", "item", "a0", "-y")
    assert done.exit_code == 0, done.output
    assert "proven: nothing is left in the store" in done.stdout
    assert files_with(store, [b"nachtfalter"]) == {}
    assert vicw(store, "check").stdout.endswith("clean\n")


def test_forget_erases_nothing_without_confirmation(uids: dict[str, str], store: Path) -> None:
    asked = CliRunner().invoke(app, ["forget", "item", "s", "--data-dir", str(store)], input="n\n")
    assert asked.exit_code == 0
    assert "nothing was erased" in asked.output
    assert files_with(store, [b"vermilion"])


def test_forget_item_rebuilds_the_configured_mirror(
    uids: dict[str, str], store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mirror = tmp_path / "mirror"
    monkeypatch.setenv("VICW_MIRROR_PATH", str(mirror))
    assert vicw(store, "mirror", "build").exit_code == 0
    assert files_with(mirror, [b"vermilion"])
    done = vicw(store, "forget", "item", "s", "-y")
    assert done.exit_code == 0, done.output
    assert files_with(tmp_path, [*WORDS, *bytes_of_uid(uids["s"])]) == {}
    assert vicw(store, "mirror", "status").exit_code == 0, "it is up to date"


def test_mirror_sync_removes_an_erased_item_from_an_unconfigured_mirror(
    uids: dict[str, str], store: Path, tmp_path: Path
) -> None:
    mirror = tmp_path / "mirror"
    assert vicw(store, "mirror", "build", "--path", mirror).exit_code == 0
    assert vicw(store, "forget", "item", "s", "-y").exit_code == 0
    assert files_with(mirror, [b"vermilion"]), "nobody told of it"
    assert vicw(store, "mirror", "status", "--path", mirror).exit_code == 1
    assert vicw(store, "mirror", "sync", "--path", mirror).exit_code == 0
    assert files_with(mirror, [*WORDS, *bytes_of_uid(uids["s"])]) == {}


@pytest.mark.parametrize("packed", [False, True])
def test_an_erasure_is_not_proven_while_a_backup_contains_the_item(
    uids: dict[str, str], store: Path, tmp_path: Path, packed: bool
) -> None:
    backups = tmp_path / "backups"
    assert vicw(store, "backup", "--to", backups, *(["--compress"] if packed else [])).exit_code == 0
    (backup,) = backups.iterdir()
    done = vicw(store, "forget", "item", "s", "-y", "--copies", backups)
    assert done.exit_code == 1
    assert f"still found in the copy {backup}" in done.stdout
    assert "not proven" in done.stdout
    assert files_with(store, WORDS) == {}, "the store has nothing of it, nor has the note"
    assert vicw(store, "forget", "resume", "--copies", backups).exit_code == 1
    backup.rename(tmp_path / "elsewhere")
    assert vicw(store, "backup", "--to", backups).exit_code == 0
    again = vicw(store, "forget", "resume", "--copies", backups)
    assert (again.exit_code, "proven: nothing is left" in again.stdout) == (0, True), again.output
    assert vicw(store, "forget", "resume").stdout == "", "nothing is pending"


@pytest.mark.parametrize("words", [("resume",), ("item", "n1", "-y")])
def test_forget_searches_copies_of_a_pending_erasure_again(
    uids: dict[str, str], store: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    backups = tmp_path / "backups"
    assert vicw(store, "backup", "--to", backups).exit_code == 0
    (backup,) = backups.iterdir()
    assert vicw(store, "forget", "item", "s", "-y", "--copies", backups).exit_code == 1
    again = vicw(store, "forget", *words)
    assert again.exit_code == (1 if words == ("resume",) else 0), again.output
    told = again.stdout.index(f"still found in the copy {backup}")
    if words != ("resume",):
        assert 0 <= again.stdout.index("an erasure from an earlier run:") < told, "its own is proven"
    shutil.rmtree(backups)
    done = vicw(store, "forget", "resume", "--copies", backups)
    assert done.exit_code == 0, done.output
    assert f"{backups} no longer exists: it counts as removed\nproven: nothing is left" in done.stdout
    assert vicw(store, "forget", "resume").stdout == "", "nothing is pending"


def test_forget_refuses_a_copies_folder_that_does_not_exist(uids: dict[str, str], store: Path, tmp_path: Path) -> None:
    refused = vicw(store, "forget", "item", "s", "-y", "--copies", tmp_path / "nope")
    assert (refused.exit_code, "nope does not exist" in refused.output) == (2, True), refused.output
    assert files_with(store, [b"vermilion"]), "nothing went"


@pytest.mark.parametrize("how", ["-y", "--dry-run"])
def test_forget_of_a_person_only_mentioned_by_others_requires_mentions(
    uids: dict[str, str], store: Path, how: str
) -> None:
    async def tell() -> None:
        async with open_memory(store) as memory:
            for n, text in enumerate(("Ana met {} in Porto.", "Ben wrote to {} on Friday.")):
                text = text.format("Egon Quastenflosser")
                await memory.ingest({"id": f"q{n}", "text": text, "speaker": "Mara"}, extract="rules")

    asyncio.run(tell())
    refused = vicw(store, "forget", "person", "Egon Quastenflosser", how)
    assert refused.exit_code == 2, refused.output
    assert "--mentions erases 2 items of others that mention them" in refused.output
    assert "proven" not in refused.output
    assert vicw(store, "forget", "resume").stdout == "", "nothing was begun"
    if how == "-y":
        done = vicw(store, "forget", "person", "Egon Quastenflosser", how, "--mentions")
        assert (done.exit_code, "proven" in done.stdout) == (0, True), done.output
        assert files_with(store, [b"Quastenflosser"]) == {}


def test_forget_context_leaves_no_byte_of_it_nor_its_empty_tenant(uids: dict[str, str], store: Path) -> None:
    done = vicw(store, "forget", "context", "ctx", "-y")
    assert done.exit_code == 0, done.output
    assert files_with(store, [*WORDS, b"amulet", *(one for uid in uids.values() for one in bytes_of_uid(uid))]) == {}
    assert vicw(store, "check").stdout.endswith("clean\n")
    again = vicw(store, "forget", "tenant", "default", "-y")
    assert "Nothing of tenant 'default' is stored; there is none" in str(again.exception), "it had no other context"
    assert "proven" not in again.output


@pytest.mark.parametrize(
    "words",
    [
        ("tenant", "nosuch"),
        ("tenant", "../x"),
        ("person", "Nosuch"),
        ("person", "Ana", "--tenant", "nosuch"),
        ("context", "nosuch"),
        ("item", "nosuch"),
    ],
)
def test_forget_of_an_unknown_target_fails_without_a_proof(
    uids: dict[str, str], store: Path, words: tuple[str, ...]
) -> None:
    refused = vicw(store, "forget", *words, "-y")
    assert refused.exit_code == 1
    assert isinstance(refused.exception, MissingRecordError)
    assert "proven" not in refused.output
    assert vicw(store, "forget", "resume").stdout == "", "nothing was begun"


@pytest.mark.parametrize("words", [("resume",), ("tenant", "default", "-y")])
def test_an_interrupted_erasure_of_a_tenant_continues(
    uids: dict[str, str], store: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    async def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("vicw_ingest.erasure.service.prove", die)
        assert vicw(store, "forget", "tenant", "default", "-y").exit_code != 0
    done = vicw(store, "forget", *words)
    assert done.exit_code == 0, done.output
    assert "proven: nothing is left in the store" in done.stdout
    assert files_with(store, [*WORDS, b"amulet", *(one for uid in uids.values() for one in bytes_of_uid(uid))]) == {}
    assert vicw(store, "forget", "resume").stdout == "", "it is over"


@pytest.fixture
def without_secure_delete(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have SQLite keep what is deleted in free pages: some builds of it overwrite that by themselves."""
    connect = SqliteDatabase.connect

    def connecting(self: SqliteDatabase) -> sqlite3.Connection:
        connection = connect(self)
        connection.execute("PRAGMA secure_delete = OFF")
        return connection

    monkeypatch.setattr(SqliteDatabase, "connect", connecting)


def test_free_pages_of_the_graphs_file_are_written_anew(
    uids: dict[str, str], store: Path, without_secure_delete: None
) -> None:
    done = vicw(store, "forget", "item", "s", "-y")
    assert done.exit_code == 0, done.output
    assert files_with(store, [*WORDS, *bytes_of_uid(uids["s"])]) == {}


@pytest.mark.parametrize("left_out", ["scrub", "rewrite"])
def test_the_erasure_proof_finds_deleted_text_left_in_engine_files(
    uids: dict[str, str], store: Path, monkeypatch: pytest.MonkeyPatch, without_secure_delete: None, left_out: str
) -> None:
    async def nothing(self: object) -> None:
        return None

    if left_out == "scrub":
        monkeypatch.setattr(SqliteErasures, "scrub", nothing)
    else:
        monkeypatch.setattr(EdgeVectorStore, "rewrite", nothing)
    done = vicw(store, "forget", "item", "s", "-y")
    assert done.exit_code == 1, done.output
    assert f"still found in {store / ('graph.sqlite3' if left_out == 'scrub' else 'vectors')}" in done.stdout


def test_an_interrupted_rewrite_of_the_index_is_recovered(uids: dict[str, str], store: Path) -> None:
    (store / "vectors").rename(store / "vectors.old")
    (store / "vectors.rewritten").mkdir()
    recover_all(store)
    assert sorted(path.name for path in store.glob("vectors*")) == ["vectors"]
    assert vicw(store, "check").stdout.endswith("clean\n")


def _run(store: Path, *words: str, seconds: float | None = None) -> float | None:
    """Run the command in a process of its own; kill it after ``seconds``. Its time, or ``None`` if it was killed."""
    driver = _DRIVER.format(tests=str(Path(__file__).parents[2]))
    command = [sys.executable, "-c", driver, "forget", *words, "--data-dir", str(store)]
    began = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            return None
    assert seconds is not None or process.returncode == 0
    return time.monotonic() - began


@pytest.mark.process
@pytest.mark.crash
@pytest.mark.timeout(600)
def test_an_erasure_killed_at_any_moment_is_completed_by_resume(uids: dict[str, str], store: Path) -> None:
    # The moments are parts of what the command takes where the test runs: fixed seconds miss it on a faster machine.
    idle, draw, killed = _run(store, "resume"), random.Random(7), 0
    shutil.copytree(store, whole := store.with_name("whole"))
    took = _run(whole, "item", "s", "--yes")
    assert idle is not None
    assert took is not None
    for n in range(4):
        shutil.copytree(store, tried := store.with_name(f"tried{n}"))
        for words in (("item", "s", "--yes"), ("resume",)):
            moment = idle * 0.7 + (took - idle * 0.7) * draw.random()
            killed += _run(tried, *words, seconds=moment) is None
        done = vicw(tried, "forget", "resume")
        assert done.exit_code == 0, done.output
        if "proven" not in done.stdout and files_with(tried, [b"vermilion"]):
            assert vicw(tried, "forget", "item", "s", "-y").exit_code == 0, "it had not begun"
        assert files_with(tried, [*WORDS, *bytes_of_uid(uids["s"])]) == {}
        assert sorted(path.name for path in tried.glob("vectors*")) == ["vectors"]
        assert vicw(tried, "check").stdout.endswith("clean\n")
    assert killed


@pytest.mark.parametrize(
    ("read", "said"),
    [(0, "the graph or the vectors; the engines' own files"), (7, "the vectors or 7 bytes of the mirror; the")],
)
def test_the_platform_erasure_proof_excludes_the_engines_own_files(read: int, said: str) -> None:
    assert said in proven(read, files=False)
    assert proven(read, files=True) == f"nothing is left in the store or in {read} bytes of files"
