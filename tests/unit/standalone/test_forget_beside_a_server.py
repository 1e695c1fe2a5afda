"""``vicw forget …`` and ``vicw sleep expire`` beside a server: it erases, rewrites its files and proves it itself."""

from __future__ import annotations

import asyncio
import shutil
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.clients.served import Served, command, keep_logs, serve_store
from support.clients.sleep_command import without_model
from support.stores.memory import open_memory
from unit.standalone.test_forget_command import AGAIN, WORDS, bytes_of_uid, files_with, fill
from vicw_ingest.erasure.api import ItemsToForget
from vicw_ingest.erasure.eraser import Eraser
from vicw_ingest.erasure.selection import choose_items
from vicw_shared.errors import UnavailableError
from vicw_standalone.stores.engine_files import EmbeddedFiles


@pytest.fixture
def uids(store: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    found = asyncio.run(fill(store))
    without_model(monkeypatch)
    keep_logs(monkeypatch)
    return found


class Asker(threading.Thread):
    """Asks a server and stores new items, again and again, until ``halt``."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self.url = url
        self.halt = threading.Event()
        self.answers = 0
        self.failure: str = ""

    def run(self) -> None:
        with httpx.Client(base_url=self.url, timeout=60, trust_env=False) as http:
            while not self.halt.is_set():
                item = {"id": f"new{self.answers}", "text": f"Round {self.answers} of the amulet.", "flow_id": "g"}
                for path, body in (
                    ("/ingest", {"context": "ctx", "items": [item]}),
                    ("/retrieve", {"query": "Where is the amulet?"}),
                ):
                    answer = http.post(path, json=body)
                    if not answer.is_success:
                        self.failure = answer.text
                        return
                self.answers += 1


def url_of(served: Served, store: Path) -> str:
    url = served.standalone.data_dir.read_address(store)
    assert url is not None
    return url


def ids_found(url: str, query: str) -> list[str]:
    answer = httpx.post(f"{url}/retrieve", json={"query": query}, timeout=60, trust_env=False)
    return [str(result["id"]) for result in answer.json()["results"]]


def test_a_server_erases_every_byte_of_an_item_while_it_answers(uids: dict[str, str], store: Path) -> None:
    needles = [*WORDS, *bytes_of_uid(uids["s"])]
    with serve_store(store) as served:
        url = url_of(served, store)
        assert "s" in ids_found(url, AGAIN)
        dry = command(store, "forget", "item", "s", "--dry-run")
        assert (dry.exit_code, dry.stdout) == (0, "1 item of context 'ctx'\n"), dry.stderr
        asker = Asker(url)
        asker.start()
        done = command(store, "forget", "item", "s", "--yes")
        asker.halt.set()
        asker.join()
        assert (done.exit_code, "proven: nothing is left in the store" in done.stdout) == (0, True), done.output
        assert files_with(store, needles) == {}, "the server has its files open"
        assert asker.failure == ""
        assert asker.answers > 1, "it answered meanwhile"
        assert "s" not in ids_found(url, AGAIN)
        served.settle()
        assert command(store, "check").stdout.endswith("clean\n")
        assert command(store, "forget", "resume").stdout == "", "nothing is pending"
        again = command(store, "forget", "item", "s", "--yes")
        assert (again.exit_code, "There is no item 's'" in again.stderr) == (1, True), again.output
    assert files_with(store, needles) == {}, "nothing came back when it ended"
    assert files_with(store, [b"amulet"]), "the others are there"
    assert command(store, "check").stdout.endswith("clean\n")


def test_forget_item_beside_a_server_searches_copies(uids: dict[str, str], store: Path, tmp_path: Path) -> None:
    backups = tmp_path / "backups"
    assert command(store, "backup", "--to", str(backups)).exit_code == 0
    (backup,) = backups.iterdir()
    with serve_store(store):
        missing = command(store, "forget", "item", "s", "-y", "--copies", str(tmp_path / "nope"))
        assert (missing.exit_code, "nope does not exist" in missing.output) == (2, True), missing.output
        done = command(store, "forget", "item", "s", "-y", "--copies", str(backups))
        assert (done.exit_code, f"still found in the copy {backup}" in done.stdout) == (1, True), done.output
        backup.rename(tmp_path / "elsewhere")
        assert "proven" in command(store, "forget", "resume").stdout


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_forget_needs_the_owner_of_the_data_directory(uids: dict[str, str], store: Path, host: str) -> None:
    with serve_store(store, host) as served:
        request = {"target": ItemsToForget(what="items", ids=("s",)).model_dump(mode="json")}
        refused = httpx.post(f"{url_of(served, store)}/admin/forget", json=request, timeout=60, trust_env=False)
        assert refused.status_code in {401, 403}, refused.text
        assert files_with(store, [b"vermilion"]), "nothing went"
        done = command(store, "forget", "item", "s", "-y")
        assert (done.exit_code, "proven" in done.stdout) == (0, True), done.output


def test_an_erasure_that_fails_in_a_server_is_finished_by_resume(
    uids: dict[str, str], store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise UnavailableError("vectors", "the disk is away")

    with serve_store(store):
        with monkeypatch.context() as patch:
            patch.setattr(EmbeddedFiles, "rewrite", fail)
            failed = command(store, "forget", "item", "s", "-y")
            assert (failed.exit_code, "the disk is away" in failed.stderr) == (1, True), failed.output
        done = command(store, "forget", "resume")
        assert (done.exit_code, "proven" in done.stdout) == (0, True), done.output
        assert files_with(store, WORDS) == {}


def test_an_erasure_on_a_full_disk_is_refused_room_and_finished_by_resume(
    uids: dict[str, str], store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(store)
    with serve_store(store) as served:
        with monkeypatch.context() as patch:
            patch.setattr("shutil.disk_usage", lambda path: usage._replace(free=2**26))
            failed = command(store, "forget", "item", "s", "-y")
            assert failed.exit_code == 1, failed.output
            assert "64 MiB free and needs" in failed.stderr
        assert "s" not in ids_found(url_of(served, store), AGAIN)
        done = command(store, "forget", "resume")
        assert (done.exit_code, "proven" in done.stdout) == (0, True), done.output


def test_a_started_server_finishes_an_interrupted_erasure_before_it_answers(uids: dict[str, str], store: Path) -> None:
    async def begin() -> None:
        async with open_memory(store) as memory:
            standalone = memory.standalone
            eraser = Eraser(standalone.graph, standalone.indexes, standalone.registry)
            await eraser.begin(await choose_items(standalone.graph, "default", ["s"], None))

    asyncio.run(begin())
    with serve_store(store) as served:
        assert "s" not in ids_found(url_of(served, store), AGAIN)
        done = command(store, "forget", "resume")
        assert (done.exit_code, "proven" in done.stdout) == (0, True), done.output
        assert files_with(store, WORDS) == {}


@pytest.mark.parametrize("words", [("person", "Ana", "--context", "ctx"), ("context", "ctx"), ("tenant", "default")])
def test_forget_person_context_and_tenant_beside_a_server(
    uids: dict[str, str], store: Path, words: tuple[str, ...]
) -> None:
    with serve_store(store):
        done = command(store, "forget", *words, "-y")
        assert (done.exit_code, "proven" in done.stdout) == (0, True), done.output
        assert files_with(store, [*WORDS, b"amulet"]) == {}
        unknown = command(store, "forget", words[0], "nosuch", "-y")
        assert (unknown.exit_code, "proven" in unknown.output) == (1, False)


def test_capacity_and_expire_beside_a_server(
    uids: dict[str, str], store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    over: dict[str, Any] = {"id": "over", "text": "The bridge is new.", "expires_at": "2999-01-01T00:00:00Z"}
    with serve_store(store) as served:
        url = url_of(served, store)
        stored = httpx.post(f"{url}/ingest", json={"context": "ctx", "items": [over]}, timeout=60, trust_env=False)
        assert stored.is_success, stored.text
        assert command(store, "sleep", "expire").stdout == "0 items retired (expired)\n"
        assert command(store, "sleep", "expire", "--dry-run").stdout == "0 items would be retired (expired)\n"
        dry = command(store, "forget", "capacity", "--items", "3", "--dry-run", "-q")
        assert dry.stdout == "0 items would be erased\n", "all are new"
        assert command(store, "forget", "capacity").exit_code == 2, "no limit is set"
