"""The commands that need no server, as a person runs them."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from support.fakes import embedding_server
from support.fakes.model_hub import REPOSITORY, Hub, serve_hub
from support.models.onnx_folder import write_folder
from support.processes.server import VICW, environment
from support.stores.memory import open_memory
from vicw_shared.embedding_models import MODELS
from vicw_stores.data_dir import DataDir

pytestmark = pytest.mark.process

NAME = "snowflake-arctic-embed-l-v2.0"
FILE = MODELS[NAME].file or ""
CONTENT = os.urandom(1_000_000)

UNKNOWN = (
    f"no-such-model is neither a registered model nor a GGUF or ONNX file. Name one of {', '.join(MODELS)} (`vicw model"
)

type Vicw = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def hub() -> Iterator[Hub]:
    with serve_hub(Hub({FILE: CONTENT})) as running:
        yield running


@pytest.fixture
def vicw(store: Path, hub: Hub) -> Vicw:
    """Run the command on this test's data directory, with the hub of this test."""

    def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        clean = environment(
            store / "models", HF_ENDPOINT=hub.url, HF_HOME=str(store / "hf"), NO_PROXY="127.0.0.1", **variables
        )
        command = [str(VICW), *arguments, "--data-dir", str(store)]
        return subprocess.run(command, capture_output=True, text=True, env=clean, timeout=90, check=False)

    return run


def model_states(listed: subprocess.CompletedProcess[str]) -> dict[str, list[str]]:
    """Return what ``vicw model list`` says of each model: whether it is here, whether it is used."""
    assert listed.returncode == 0, listed.stderr
    lines = [line for line in listed.stdout.splitlines() if line and not line.startswith((" ", "Used"))]
    return {name: states.split(", ") for name, states in re.findall(r"^(\S+) \((.*)\)$", "\n".join(lines), re.M)}


def test_a_model_is_pulled_listed_and_used(vicw: Vicw, hub: Hub, store: Path) -> None:
    listed = model_states(vicw("model", "list"))
    assert listed == {name: ["not here"] for name in MODELS} | {"all-MiniLM-L6-v2": ["here", "used"]}
    assert not store.exists(), "looking makes nothing"

    pulled = vicw("model", "pull", NAME, "--repository", REPOSITORY)
    assert pulled.returncode == 0, pulled.stderr
    assert str(store / "models" / FILE) in pulled.stdout
    assert hashlib.sha256(CONTENT).hexdigest() in pulled.stdout
    assert (store / "models" / FILE).read_bytes() == CONTENT
    assert hub.paths == {f"/{REPOSITORY}/resolve/main/{FILE}"}, "nothing else is asked of the hub"
    asked = hub.gets
    assert vicw("model", "pull", NAME, VICW_EMBEDDING_REPOSITORY=REPOSITORY).returncode == 0
    assert hub.gets == asked > 0, "what is here is not fetched again"
    assert model_states(vicw("model", "list"))[NAME] == ["here"]

    used = vicw("model", "use", NAME)
    assert used.returncode == 0, used.stderr
    assert "1024-d" in used.stdout
    assert "vicw reindex" in used.stdout
    assert "634 MB to download, 900 MB of memory" in used.stdout
    states = model_states(vicw("model", "list"))
    assert (states[NAME], states["all-MiniLM-L6-v2"]) == (["here", "used"], ["here"])
    overruled = model_states(vicw("model", "list", VICW_EMBEDDING_MODEL="all-MiniLM-L6-v2"))
    assert (overruled[NAME], overruled["all-MiniLM-L6-v2"]) == (["here"], ["here", "used"])


def test_use_fetches_a_registered_model_that_is_not_here(vicw: Vicw, hub: Hub, store: Path) -> None:
    hub.files = {"onnx/model_quantized.onnx": onnx_model(store), "tokenizer.json": b"{}"}
    used = vicw("model", "use", "multilingual-e5-small", VICW_EMBEDDING_REPOSITORY=REPOSITORY)
    assert used.returncode == 0, used.stderr
    assert "135 MB to download" in used.stderr, "before it is fetched"
    assert {path.name for path in (store / "models" / "multilingual-e5-small").iterdir()} == {
        "model.onnx",
        "tokenizer.json",
    }
    assert "VICW_EMBEDDING_MODEL='multilingual-e5-small'" in (store / "vicw.env").read_text()


def onnx_model(store: Path) -> bytes:
    return (write_folder(store.parent / "made") / "model.onnx").read_bytes()


def test_model_use_writes_the_model_to_vicw_env(vicw: Vicw, store: Path) -> None:
    store.mkdir()
    (store / "vicw.env").write_text("# kept\nVICW_EMBEDDING_THREADS='2'\n")
    assert vicw("model", "use", "all-MiniLM-L6-v2").returncode == 0
    assert (store / "vicw.env").read_text().splitlines() == [
        "# kept",
        "VICW_EMBEDDING_THREADS='2'",
        "VICW_EMBEDDING_MODEL='all-MiniLM-L6-v2'",
    ]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["use", "no-such-model"], UNKNOWN),
        (["use", NAME], f"The hub has no file {FILE} in {MODELS[NAME].repository}. Check --repository"),
        (["pull", "no-such-model"], "no-such-model is not a registered model. Name one of"),
        (["pull", NAME, "--repository", "someone/else"], "--repository or VICW_EMBEDDING_REPOSITORY"),
    ],
)
def test_an_unusable_model_is_refused_and_nothing_is_written(
    vicw: Vicw, store: Path, arguments: list[str], says: str
) -> None:
    refused = vicw("model", *arguments)
    assert refused.returncode == 1
    assert says in " ".join(refused.stderr.split())
    assert "Traceback" not in refused.stderr
    assert [path for path in store.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("command", [["serve", "--port", "0"], ["reindex"]])
def test_an_unknown_model_is_refused_with_the_registered_models(vicw: Vicw, store: Path, command: list[str]) -> None:
    asyncio.run(fill(store))
    refused = vicw(*command, "--model", "no-such-model")
    assert refused.returncode == 1
    assert " ".join(refused.stderr.split()).count(UNKNOWN) == 1
    assert "VICW_EMBEDDING_MODEL" not in refused.stderr


async def fill(store: Path) -> None:
    async with open_memory(store) as memory:
        turns = ({"id": f"m{n}", "text": f"turn {n}", "speaker": "Ana"} for n in range(4))
        await memory.ingest(*turns, flow_id="f")


async def test_reindex_embeds_with_the_model_of_a_remote_server(vicw: Vicw, store: Path) -> None:
    await fill(store)
    async with embedding_server.serve_embeddings("their-model") as foreign:
        done = await asyncio.to_thread(vicw, "reindex", VICW_EMBEDDING_URL=foreign.url)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "4 passages embedded with their-model\n"
    assert set(foreign.asked_for) == {"their-model"}
    assert vicw("check").returncode == 0


def test_check_prints_clean_or_lists_the_violations(vicw: Vicw, store: Path) -> None:
    asyncio.run(fill(store))
    clean = vicw("check")
    assert clean.returncode == 0, clean.stdout + clean.stderr
    counts, verdict = clean.stdout.splitlines()
    assert counts.endswith(", 4 points, 0 waiting")
    assert verdict == "clean"

    with closing(sqlite3.connect(store / "graph.sqlite3", isolation_level=None)) as graph:
        graph.execute("DELETE FROM edge WHERE id = (SELECT id FROM edge WHERE type = 'NEXT' LIMIT 1)")
        graph.execute("UPDATE edge SET type = 'HATES' WHERE type = 'INITIATED'")
    spoilt = vicw("check")
    assert spoilt.returncode == 1
    _, *violations = spoilt.stdout.splitlines()
    assert len([line for line in violations if line.startswith("NEXT chain is broken")]) == 1
    assert len([line for line in violations if "'HATES' is not registered" in line]) == 4
    assert "clean" not in violations
    assert vicw("check").stdout == spoilt.stdout, "a look changes nothing"


def test_check_without_a_store_fails_and_creates_none(vicw: Vicw, store: Path) -> None:
    refused = vicw("check")
    assert refused.returncode == 2
    assert "could not check" in refused.stderr
    assert "holds no store" in refused.stderr
    assert not store.exists()


def test_check_exits_with_2_for_a_store_that_cannot_be_checked(vicw: Vicw, store: Path) -> None:
    asyncio.run(fill(store))
    assert vicw("check", VICW_PORT="http").returncode == 2
    with DataDir(store):
        in_use = vicw("check")
    assert (in_use.returncode, "in use" in in_use.stderr) == (2, True)
    (store / "graph.sqlite3").write_bytes(b"not a database at all" * 100)
    unreadable = vicw("check")
    assert (unreadable.returncode, "Traceback" in unreadable.stderr) == (2, False), unreadable.stderr
