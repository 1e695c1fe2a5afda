"""The one-shot that has the model at hand before the servers start."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.fakes.model_hub import REPOSITORY, Hub, serve_hub
from support.models.onnx_folder import write_folder
from unit.embedding.models.test_hub import FILE, NAME, set_endpoint
from vicw_embedding import fetch as one_shot
from vicw_minilm import FOLDER
from vicw_runtime import exit_codes
from vicw_shared.settings.concerns import EmbeddingSettings

CONTENT = os.urandom(1_000_000)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with serve_hub(Hub({FILE: CONTENT})) as running:
        set_endpoint(monkeypatch, running.url)
        yield running


def test_a_model_file_in_an_offered_folder_is_copied_without_network(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    offered, models = tmp_path / "offered", tmp_path / "models"
    offered.mkdir()
    (offered / FILE).write_bytes(CONTENT)
    monkeypatch.setenv("VICW_EMBEDDING_MODEL", NAME)
    monkeypatch.setenv("VICW_EMBEDDING_MODELS_DIR", str(models))

    assert one_shot.main([str(tmp_path / "nothing"), str(offered)]) == 0
    assert hub.gets == 0
    assert (models / FILE).read_bytes() == CONTENT
    assert {path.name for path in models.iterdir()} == {FILE}
    assert f"copying {FILE}" in capsys.readouterr().out
    assert one_shot.main([str(offered)]) == 0
    assert "copying" not in capsys.readouterr().out, "what is there stays"


def test_a_missing_model_is_pulled_from_the_hub_with_progress_lines(
    hub: Hub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = one_shot.fetch(EmbeddingSettings(model=NAME, repository=REPOSITORY), tmp_path, [])
    assert model.path.read_bytes() == CONTENT
    assert hub.gets > 0
    assert 1 < len(capsys.readouterr().out.splitlines()) <= 12


def test_an_onnx_model_in_an_offered_folder_is_copied_whole(tmp_path: Path) -> None:
    offered = write_folder(tmp_path / "offered" / "multilingual-e5-small")
    model = one_shot.fetch(EmbeddingSettings(model="multilingual-e5-small"), tmp_path / "models", [offered.parent])
    assert model.path == tmp_path / "models" / "multilingual-e5-small" / "model.onnx"
    assert model.path.read_bytes() == (offered / "model.onnx").read_bytes()
    assert model.tokenizer is not None
    assert model.tokenizer.read_bytes() == (offered / "tokenizer.json").read_bytes()


def test_the_installed_default_model_is_neither_copied_nor_fetched(tmp_path: Path) -> None:
    model = one_shot.fetch(EmbeddingSettings(model="all-MiniLM-L6-v2"), tmp_path / "models", [])
    assert model.path == FOLDER / "model.onnx"
    assert list(tmp_path.iterdir()) == []


def test_fetch_without_hub_or_file_exits_for_a_later_retry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    set_endpoint(monkeypatch, "http://127.0.0.1:9")
    monkeypatch.setenv("VICW_EMBEDDING_MODEL", NAME)
    monkeypatch.setenv("VICW_EMBEDDING_MODELS_DIR", str(tmp_path))
    assert one_shot.main([]) == exit_codes.LATER
    assert FILE in capsys.readouterr().err
