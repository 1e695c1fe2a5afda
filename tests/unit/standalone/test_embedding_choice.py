"""Which model a memory is told to use, which it remembers, and what it puts before queries."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support.fakes.embedding_server import serve_embeddings
from support.fakes.hash_embedder import SIZE, HashEmbedder
from support.models import tiny_gguf
from support.stores.memory import Memory, settings_for
from vicw_embedding.models import model_files
from vicw_shared.errors import ModelMismatchError, SettingsError
from vicw_shared.ports import ModelIdentity
from vicw_shared.settings import EmbeddingSettings
from vicw_standalone.embedding_model.choice import remedy
from vicw_standalone.settings import CHOICES, StandaloneSettings, read_settings
from vicw_standalone.wiring import Standalone


@asynccontextmanager
async def opened(settings: StandaloneSettings, embedder: HashEmbedder | None = None) -> AsyncIterator[Memory]:
    standalone = Standalone(settings, embedder)
    await standalone.open()
    standalone.start_indexer()
    try:
        yield Memory(standalone, embedder or HashEmbedder())
    finally:
        await standalone.close()


def settings_with_url(url: str, store: Path, **embedding: Any) -> StandaloneSettings:
    return replace(settings_for(store), embedding=EmbeddingSettings(url=url, **embedding))


async def test_an_external_servers_model_is_recorded_under_its_own_name(store: Path) -> None:
    async with serve_embeddings("their-model") as foreign, opened(settings_with_url(foreign.url, store)) as memory:
        await memory.ingest({"id": "a", "text": "a zebra crosses"})
        assert await memory.found("zebra") == ["a"]
        known = (await memory.standalone.graph.record.models()).used
        assert known is not None
        assert (known.name, known.size) == ("their-model", SIZE)
        assert set(foreign.asked_for) == {"their-model"}


async def test_an_external_server_that_changed_its_model_is_refused_at_start(store: Path) -> None:
    async with serve_embeddings("their-model") as foreign:
        async with opened(settings_with_url(foreign.url, store)) as memory:
            await memory.ingest({"id": "a", "text": "a zebra crosses"})
        foreign.models = ["a-better-model"]
        with pytest.raises(ModelMismatchError, match=r"vectors of their-model .* has a-better-model.*vicw reindex"):
            async with opened(settings_with_url(foreign.url, store)):
                pass
        foreign.models = ["their-model"]
        async with opened(settings_with_url(foreign.url, store)) as memory:
            assert await memory.found("zebra") == ["a"]


async def test_an_external_server_is_asked_for_the_configured_model(store: Path) -> None:
    async with serve_embeddings("small", "large") as foreign:
        with pytest.raises(SettingsError, match="VICW_EMBEDDING_MODEL to one of small, large"):
            async with opened(settings_with_url(foreign.url, store)):
                pass
        async with opened(settings_with_url(foreign.url, store, model="large")) as memory:
            known = (await memory.standalone.graph.record.models()).used
            assert known is not None
            assert known.name == "large"
        assert set(foreign.asked_for) == {"large"}


def test_the_model_is_chosen_by_command_environment_or_data_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VICW_EMBEDDING_MODEL", raising=False)

    def chosen(model: str | None = None) -> str | None:
        return read_settings(data_dir=tmp_path, port=0, model=model).embedding.chosen_model

    assert chosen() is None
    assert chosen(model="all-MiniLM-L6-v2") == "all-MiniLM-L6-v2", "the default may be chosen, too"
    (tmp_path / CHOICES).write_text("VICW_EMBEDDING_MODEL=of-the-directory\n")
    assert chosen() == "of-the-directory"
    monkeypatch.setenv("VICW_EMBEDDING_MODEL", "of-the-environment")
    assert chosen() == "of-the-environment"
    assert chosen(model="of-the-command") == "of-the-command"


def test_a_wrong_setting_is_reported_with_its_file_or_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / CHOICES).write_text("VICW_EMBEDDING_THREADS=many\n")
    with pytest.raises(SettingsError) as raised:
        read_settings(data_dir=tmp_path)
    assert raised.value.detail.startswith(f"VICW_EMBEDDING_THREADS is 'many' in {tmp_path / CHOICES}, but should be")
    monkeypatch.setenv("VICW_EMBEDDING_THREADS", "most")
    with pytest.raises(SettingsError, match="VICW_EMBEDDING_THREADS is 'most' in the environment"):
        read_settings(data_dir=tmp_path)


@pytest.mark.parametrize(
    ("served", "prefix", "passage_prefix"),
    [
        ("snowflake-arctic-embed-l-v2.0", "query: ", ""),
        ("multilingual-e5-small", "query: ", "passage: "),
        ("their-model", "", ""),
        ("all-MiniLM-L6-v2", "", ""),
    ],
)
async def test_a_registered_model_gets_its_prefixes_on_external_servers(
    store: Path, served: str, prefix: str, passage_prefix: str
) -> None:
    async with serve_embeddings(served) as foreign, opened(settings_with_url(foreign.url, store)) as memory:
        await memory.ingest({"id": "a", "text": "a zebra crosses"}, domain="coding")
        await memory.retrieve("which zebra?", domain="coding")
        assert foreign.texts[-2:] == [
            f"{passage_prefix}[Domain: coding] [Type: document] a zebra crosses",
            f"{prefix}[Domain: coding] which zebra?",
        ]


@pytest.mark.parametrize("model", ["a-file-of-mine", "snowflake-arctic-embed-l-v2.0"])
async def test_a_configured_query_prefix_precedes_queries_of_any_model(
    store: Path, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VICW_EMBEDDING_QUERY_PREFIX", "search: ")
    async with opened(settings_for(store), HashEmbedder(model)) as memory:
        await memory.ingest({"id": "a", "text": "a zebra crosses"})
        await memory.retrieve("which zebra?", domain="coding")
        first = memory.embedder.seen[0][1]
    assert first == "[Domain: general] [Type: document] a zebra crosses"
    assert memory.embedder.questions() == ["search: [Domain: coding] which zebra?"]


@pytest.mark.parametrize("installed", [True, False])
def test_a_store_of_a_file_that_is_still_there_may_keep_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, installed: bool
) -> None:
    file = tiny_gguf.encoder(tmp_path / "of mine.gguf")
    (tmp_path / "broken.gguf").write_bytes(b"GGUF")
    (tmp_path / "another.gguf").write_bytes(file.path.read_bytes())
    if not installed:
        monkeypatch.setattr(model_files, "engine_problem", lambda card: "install it")
    known = ModelIdentity("of mine", 64, file.digest, 1)
    wanted = ModelIdentity("all-MiniLM-L6-v2", 384, "1" * 64, 1)

    advice = remedy(known, wanted, tmp_path)
    assert advice.startswith("Run `vicw reindex` to embed everything again, or keep its vectors and their model: ")
    assert advice.endswith(f"`vicw model use '{tmp_path}/of mine.gguf'`")
    assert ("pip install 'vicw[gguf]'" in advice) == (not installed)
    file.path.unlink()
    assert remedy(known, wanted, tmp_path) == "Run `vicw reindex` to embed everything again"
