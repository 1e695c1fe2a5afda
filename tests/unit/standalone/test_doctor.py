"""The doctor names what is wrong, and what to do about it, and touches nothing that is stored."""

from __future__ import annotations

import asyncio
import atexit
import os
import shutil
import socket
import sqlite3
from contextlib import closing
from dataclasses import replace
from functools import cache
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from support.fakes.embedding_server import serve_embeddings
from support.fakes.hash_embedder import SIZE, HashEmbedder
from support.fakes.model_hub import Hub, serve_hub
from support.models import tiny_gguf
from support.stores.memory import open_memory, settings_for
from vicw_embedding.models.model_files import ModelFile
from vicw_shared.errors import DataDirError
from vicw_shared.settings import EmbeddingSettings, ServerSettings
from vicw_shared.settings.former_names import REMOVED, RENAMED
from vicw_shared.settings.variables import VARIABLES
from vicw_standalone.doctor import machine
from vicw_standalone.doctor.findings import Finding, Severity
from vicw_standalone.doctor.service import examine
from vicw_standalone.doctor.variables import variables
from vicw_standalone.settings import CHOICES, StandaloneSettings
from vicw_stores.data_dir import DataDir

NAME = "all-MiniLM-L6-v2"


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("VICW_")]:
        monkeypatch.delenv(name)


@cache
def own_model() -> ModelFile:
    """A model file with the name of a registered model."""
    folder = TemporaryDirectory()
    atexit.register(folder.cleanup)
    return tiny_gguf.encoder(Path(folder.name) / f"{NAME}.gguf")


def embedder_of() -> HashEmbedder:
    """Return an embedder that answers as the model of ``settings_of``."""
    return HashEmbedder(NAME, own_model().digest)


def settings_of(store: Path, **embedding: Any) -> StandaloneSettings:
    """Return settings that agree with a store filled by ``embedder_of()``, or with the server they name."""
    own = {} if "url" in embedding else {"model": str(own_model().path)}
    chosen: dict[str, Any] = {"dimensions": SIZE, "models_dir": store / "models", **own, **embedding}
    return replace(settings_for(store), embedding=EmbeddingSettings(**chosen))


def findings(settings: StandaloneSettings) -> dict[str, Finding]:
    return {finding.what: finding for finding in examine(settings)}


def problems(settings: StandaloneSettings) -> list[tuple[str, str]]:
    """Return what is wrong, with what to do."""
    found = findings(settings).values()
    return [(one.what, f"{one.detail}. {one.fix}") for one in found if one.verdict is Severity.PROBLEM]


@pytest.fixture
def filled(store: Path) -> Path:
    """A store that was filled by a model and closed properly."""

    async def fill() -> None:
        async with open_memory(store, embedder_of()) as memory:
            await memory.ingest({"id": "a", "text": "a zebra crosses"})

    asyncio.run(fill())
    return store


def test_doctor_finds_no_problem_without_a_store(store: Path) -> None:
    found = findings(settings_of(store))
    assert [one for one in found.values() if one.verdict is Severity.PROBLEM] == []
    assert found["store"].detail == "nothing is stored yet"
    assert found["server"].fix == "Start it with `vicw serve`"


def test_doctor_finds_no_problem_without_llama_cpp(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def installed(package: str) -> str:
        if package == "llama-cpp-python":
            raise PackageNotFoundError(package)
        return "1.28.0"

    monkeypatch.setattr("vicw_standalone.doctor.machine.version", installed)
    found = findings(settings_of(store))["engines"]
    assert (found.verdict, found.detail) == (Severity.FINE, f"SQLite {sqlite3.sqlite_version}, onnxruntime 1.28.0")


@pytest.mark.parametrize("has_llama_cpp", [True, False])
def test_doctor_notes_a_processor_for_which_llama_cpp_was_not_built(
    store: Path, monkeypatch: pytest.MonkeyPatch, has_llama_cpp: bool
) -> None:
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    monkeypatch.setattr(Path, "read_text", lambda path, *_: "flags: sse2")
    monkeypatch.setattr("vicw_standalone.doctor.machine.find_spec", lambda name: name if has_llama_cpp else None)
    found = machine.processor(settings_of(store))
    assert (found.verdict is Severity.NOTE) == has_llama_cpp
    assert ("Use an ONNX model" in found.fix) == has_llama_cpp


def test_doctor_finds_a_sound_store_fine_and_leaves_it_unchanged(filled: Path) -> None:
    def contents() -> dict[str, bytes]:
        files = (path for path in filled.rglob("*") if path.is_file() and path.name != "vicw.lock")
        return {str(path): path.read_bytes() for path in files}

    before = contents()
    found = findings(settings_of(filled))
    assert [one for one in found.values() if one.verdict is Severity.PROBLEM] == []
    assert found["store"].detail == f"has vectors of {NAME} ({SIZE}-d, file {own_model().digest[:12]}, wrapper 1)"
    assert found["vector index"] == Finding("vector index", Severity.FINE, "closed properly")
    assert contents() == before


@pytest.mark.parametrize(
    ("variable", "meant"),
    [
        ("VICW_PROT", "VICW_PORT"),
        ("VICW_EMBED_MODEL", "VICW_EMBEDDING_MODEL"),
        ("VICW_DATADIR", "VICW_DATA_DIR"),
        ("vicw_retrieval_aplha", "VICW_RETRIEVAL_ALPHA"),
        ("VICW_ULR", "VICW_URL"),
    ],
)
def test_doctor_notes_an_unknown_variable_with_the_closest_setting(
    store: Path, monkeypatch: pytest.MonkeyPatch, variable: str, meant: str
) -> None:
    monkeypatch.setenv(variable, "1")
    monkeypatch.setenv(meant, "")
    said = f"{variable} in the environment has no effect"
    noted = Finding("settings", Severity.NOTE, said, f"Did you mean {meant}?")
    assert [one for one in examine(settings_of(store)) if one.what == "settings"] == [noted]


def test_doctor_notes_settings_without_effect_in_the_data_directory_file(store: Path) -> None:
    store.mkdir()
    file = store / CHOICES
    file.write_text(f"VICW_EMBEDDING_MODEL={NAME}\nVICW_PORT=80\nVICW_EMBEDDING_TREADS=2\nPATH=x\n")
    noted = [(one.detail, one.fix) for one in examine(settings_of(store)) if one.what == "settings"]
    assert noted == [
        (f"VICW_EMBEDDING_TREADS in {file} has no effect", "Did you mean VICW_EMBEDDING_THREADS?"),
        (f"VICW_PORT in {file} has no effect", "Set it in the environment"),
    ]
    file.unlink()
    assert findings(settings_of(store))["settings"].verdict is Severity.FINE


def test_doctor_names_a_disk_without_enough_free_space(store: Path) -> None:
    settings = replace(settings_of(store), storage=settings_for(store, min_free_mb=10**9).storage)
    ((what, says),) = problems(settings)
    assert what == "disk"
    assert "writes are refused" in says
    assert "Free some space" in says
    assert "VICW_MIN_FREE_MB" in says


def test_doctor_names_a_missing_model_file_and_the_pull_command(store: Path) -> None:
    ((what, says),) = problems(settings_of(store, model="Qwen3-Embedding-0.6B"))
    assert what == "model"
    assert "vicw model pull Qwen3-Embedding-0.6B" in says


def test_doctor_names_a_taken_port(store: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        ((what, says),) = problems(replace(settings_of(store), server=ServerSettings(port=port)))
    assert what == "server"
    assert f"cannot listen on 127.0.0.1:{port}: Address already in use" in says
    assert "VICW_PORT" in says


def test_doctor_says_that_a_server_off_loopback_answers_to_any_name(store: Path) -> None:
    def names(host: str, allowed_hosts: str = "") -> Finding:
        server = ServerSettings(host=host, allowed_hosts=allowed_hosts)
        return findings(replace(settings_of(store), server=server))["names"]

    assert names("127.0.0.1").verdict is names("0.0.0.0", "memory").verdict is Severity.FINE
    found = names("0.0.0.0")
    assert (found.verdict, found.fix and "VICW_ALLOWED_HOSTS" in found.fix) == (Severity.NOTE, True)


def test_doctor_names_a_port_where_another_program_answers(store: Path) -> None:
    with serve_hub(Hub({})) as other:
        port = int(other.url.rpartition(":")[2])
        ((what, says),) = problems(replace(settings_of(store), server=ServerSettings(port=port)))
    assert what == "server"
    assert f"not VICW answers on 127.0.0.1:{port}" in says
    assert "VICW_PORT" in says


def test_doctor_asks_the_server_that_has_the_data_directory_open(store: Path) -> None:
    settings = replace(settings_of(store), server=ServerSettings(port=9))
    with serve_hub(Hub({})) as other, DataDir(store) as held:
        held.record_address(other.url)
        ((what, says),) = problems(settings)
        assert what == "server"
        assert f"not VICW answers on {other.url.removeprefix('http://')}" in says
        held.record_address("http://127.0.0.1:9")
        assert problems(settings)[0][1].startswith("the one that has the data directory open does not answer on 127")


@pytest.mark.parametrize("changed", [{"dimensions": 32}, {"model": "tiny.gguf"}])
def test_doctor_names_a_store_of_another_model(filled: Path, tmp_path: Path, changed: dict[str, Any]) -> None:
    if "model" in changed:
        changed = {"model": str(tiny_gguf.encoder(tmp_path / "tiny.gguf").path)}
    ((what, says),) = problems(settings_of(filled, **changed))
    assert what == "store"
    assert f"has vectors of {NAME} (64-d" in says
    assert "vicw reindex" in says
    assert (f"VICW_EMBEDDING_MODEL={NAME}" in says) == ("model" in changed)


def test_doctor_names_another_model_file_under_the_same_name(store: Path, tmp_path: Path) -> None:
    model = tiny_gguf.encoder(tmp_path / "tiny.gguf")

    async def fill() -> None:
        async with open_memory(store, HashEmbedder("tiny")):
            pass

    asyncio.run(fill())
    ((what, says),) = problems(settings_of(store, model=str(model.path)))
    assert what == "store"
    assert "has vectors of tiny (64-d, file 000000000000" in says
    assert f"the model is now tiny (64-d, file {model.digest[:12]}" in says


async def test_doctor_asks_an_external_embedding_server_for_its_model(store: Path) -> None:
    async with serve_embeddings(NAME) as foreign, open_memory(store, HashEmbedder(NAME)):
        settings = settings_of(store, url=foreign.url)
        found = await asyncio.to_thread(findings, settings)
        assert found["model"].detail.startswith(f"{foreign.url} answers as {NAME} ({SIZE}-d")
        foreign.models = ["a-better-model"]
        ((what, says),) = await asyncio.to_thread(problems, settings)
    assert (what, "the model is now a-better-model" in says) == ("store", True)


async def test_doctor_notes_an_external_embedding_server_that_cuts_passages(store: Path) -> None:
    async with serve_embeddings(NAME) as foreign:
        settings = settings_of(store, url=foreign.url)
        assert (await asyncio.to_thread(findings, settings))["model"].verdict is Severity.FINE
        foreign.reads = 1000
        note = (await asyncio.to_thread(findings, settings))["model"]
        assert note.verdict is Severity.NOTE
        assert f"{foreign.url} does not embed a passage of 1200 characters to its end" in note.detail
        assert "VICW_INGEST_CHUNK_CHARS" in note.fix
        foreign.reads, foreign.refuses = None, "keeper"
        assert (await asyncio.to_thread(findings, settings))["model"].verdict is Severity.NOTE


def test_doctor_names_an_unreachable_external_embedding_server(store: Path) -> None:
    ((what, says),) = problems(settings_of(store, url="http://127.0.0.1:9/v1"))
    assert what == "model"
    assert "unset VICW_EMBEDDING_URL" in says


def test_doctor_notes_a_missing_vector_index(filled: Path) -> None:
    shutil.rmtree(filled / "vectors")
    found = findings(settings_of(filled))["vector index"]
    assert (found.verdict, found.detail) == (Severity.NOTE, f"{filled / 'vectors'} is missing")
    assert "`vicw serve` rebuilds it" in found.fix


def test_doctor_notes_a_vector_index_that_is_being_rebuilt(filled: Path) -> None:
    shutil.rmtree(filled / "vectors")

    async def start() -> None:
        embedder = embedder_of()
        embedder.down = True
        async with open_memory(filled, embedder):
            pass

    asyncio.run(start())
    found = findings(settings_of(filled))["vector index"]
    assert (found.verdict, found.detail) == (Severity.NOTE, "is being rebuilt")


def test_doctor_notes_a_vector_index_that_was_not_closed(filled: Path) -> None:
    (filled / "vectors" / "clean").unlink()
    found = findings(settings_of(filled))["vector index"]
    assert (found.verdict, found.detail) == (Severity.NOTE, "was not closed properly")
    assert "vicw serve" in found.fix


def test_doctor_names_a_schema_newer_than_the_program(filled: Path) -> None:
    with closing(sqlite3.connect(filled / "graph.sqlite3")) as graph:
        graph.execute("PRAGMA user_version = 999")
    ((what, says),) = problems(settings_of(filled))
    assert what == "store"
    assert "schema version 999" in says
    assert "Upgrade VICW" in says


def test_doctor_names_a_graph_that_cannot_be_read(store: Path) -> None:
    store.mkdir()
    (store / "graph.sqlite3").write_bytes(b"not a database at all" * 100)
    ((what, says),) = problems(settings_of(store))
    assert what == "store"
    assert "cannot be read" in says
    assert "backup" in says


def test_doctor_names_a_data_directory_that_cannot_be_used() -> None:
    found = problems(settings_of(Path("/dev/null/a/b")))
    assert [what for what, _ in found] == ["data directory"]
    assert "VICW_DATA_DIR" in found[0][1]


async def test_doctor_examines_an_open_store_without_disturbing_its_process(store: Path) -> None:
    async with open_memory(store, embedder_of()) as memory:
        await memory.ingest({"id": "a", "text": "a zebra crosses"})
        found = await asyncio.to_thread(findings, settings_of(store))
        assert [one for one in found.values() if one.verdict is not Severity.FINE] == [found["server"]]
        assert "in use by another VICW process" in found["data directory"].detail
        assert found["vector index"].detail == "open in the running process"
        with pytest.raises(DataDirError, match="in use"):
            DataDir(store).open()
        await memory.ingest({"id": "b", "text": "a yak grazes"})
        assert sorted(map(str, await memory.found("zebra yak"))) == ["a", "b"]


async def test_doctor_reads_a_store_left_by_a_killed_process(store: Path, tmp_path: Path) -> None:
    async with open_memory(store, embedder_of()) as memory:
        await memory.ingest({"id": "a", "text": "a zebra crosses"})
        left = await asyncio.to_thread(shutil.copytree, store, tmp_path / "left")
    assert (left / "graph.sqlite3-wal").stat().st_size > 0
    found = await asyncio.to_thread(findings, settings_of(left))
    assert found["store"].detail.startswith(f"has vectors of {NAME}")
    assert found["vector index"].verdict is Severity.NOTE


@pytest.mark.parametrize(
    ("variable", "fix"),
    [
        *((name, f"It is now called {now}") for name, now in RENAMED.items()),
        *((name, "This setting no longer exists: remove it") for name in sorted(REMOVED)),
    ],
)
def test_doctor_names_a_renamed_or_removed_setting(
    variable: str, fix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "1")
    noted = Finding("settings", Severity.NOTE, f"{variable} in the environment has no effect", fix)
    assert list(variables(settings_of(tmp_path))) == [noted]


def test_renamed_settings_point_to_existing_ones() -> None:
    assert set(RENAMED.values()) <= VARIABLES
    assert not (RENAMED.keys() | REMOVED) & VARIABLES
