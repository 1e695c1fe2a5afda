"""Pulling, against a server of our own, with the real client library."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.fakes.model_hub import REPOSITORY, Hub, serve_hub
from vicw_embedding.models import hub as model_hub
from vicw_embedding.models import model_files
from vicw_minilm import FOLDER
from vicw_shared.embedding_models import MODELS
from vicw_shared.errors import SettingsError, StateConflictError, UnavailableError
from vicw_shared.settings.concerns import EmbeddingSettings

NAME = "snowflake-arctic-embed-l-v2.0"
FILE = MODELS[NAME].file or ""
CONTENT = os.urandom(3_000_000)
DIGEST = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with serve_hub(Hub({FILE: CONTENT})) as running:
        set_endpoint(monkeypatch, running.url)
        yield running


def set_endpoint(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    from huggingface_hub import constants

    # The library reads HF_ENDPOINT when it is imported; these are what it keeps of it.
    monkeypatch.setattr(constants, "ENDPOINT", url)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", url + "/{repo_id}/resolve/{revision}/{filename}")


def test_a_pulled_model_is_whole_and_found(hub: Hub, tmp_path: Path) -> None:
    seen: list[tuple[int, int | None]] = []
    pulled = model_hub.pull(NAME, tmp_path, repository=REPOSITORY, progress=lambda *step: seen.append(step))

    assert pulled.path.read_bytes() == CONTENT
    assert pulled.digest == DIGEST
    assert seen[0] == (0, len(CONTENT))
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    assert model_files.resolve(EmbeddingSettings(model=NAME), tmp_path) == pulled
    assert {path.name for path in tmp_path.iterdir()} == {FILE}


def test_a_second_pull_fetches_nothing(hub: Hub, tmp_path: Path) -> None:
    first = model_hub.pull(NAME, tmp_path, repository=REPOSITORY)

    assert model_hub.pull(NAME, tmp_path, repository=REPOSITORY) == first
    assert hub.gets == 1


def test_a_pull_resumes_after_a_broken_connection(hub: Hub, tmp_path: Path) -> None:
    chunk = 10 * 1024 * 1024  # what the library reads at once; it keeps whole chunks
    hub.files[FILE] = content = os.urandom(chunk) * 2
    hub.break_after = chunk + 1000

    assert model_hub.pull(NAME, tmp_path, repository=REPOSITORY).path.read_bytes() == content
    assert hub.ranges == [None, f"bytes={chunk}-"]


def test_a_pull_that_was_killed_is_continued_by_the_next(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / f".{FILE}.{DIGEST}.part").write_bytes(CONTENT[:2_000_000])

    assert model_hub.pull(NAME, tmp_path, repository=REPOSITORY).digest == DIGEST
    assert hub.ranges == ["bytes=2000000-"]


def test_a_download_with_another_digest_is_discarded(hub: Hub, tmp_path: Path) -> None:
    hub.etag = "0" * 64

    with pytest.raises(SettingsError, match="announced"):
        model_hub.pull(NAME, tmp_path, repository=REPOSITORY)
    assert list(tmp_path.iterdir()) == []


def test_two_pulls_at_once_are_a_conflict(hub: Hub, tmp_path: Path) -> None:
    import fcntl

    with (tmp_path / f".{FILE}.{DIGEST}.part").open("ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(StateConflictError):
            model_hub.pull(NAME, tmp_path, repository=REPOSITORY)


def test_an_unknown_repository_and_an_unreachable_hub_are_distinguished(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SettingsError, match="VICW_EMBEDDING_REPOSITORY"):
        model_hub.pull(NAME, tmp_path, repository="someone/else")
    set_endpoint(monkeypatch, "http://127.0.0.1:9")
    by_hand = f"put the file {FILE} of the repository {REPOSITORY} at {tmp_path / FILE} by hand"
    with pytest.raises(UnavailableError, match=f"model hub.*could not be pulled.*{re.escape(by_hand)}"):
        model_hub.pull(NAME, tmp_path, repository=REPOSITORY)


def test_an_unknown_model_name_error_lists_the_known_models(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=NAME):
        model_hub.pull("no-such-model", tmp_path)


def test_the_installed_default_model_needs_no_hub_and_no_folder(tmp_path: Path) -> None:
    assert model_hub.pull("all-MiniLM-L6-v2", tmp_path / "models").path == FOLDER / "model.onnx"
    assert list(tmp_path.iterdir()) == []


def test_an_onnx_model_is_pulled_with_its_tokenizer_into_a_folder_of_its_own(hub: Hub, tmp_path: Path) -> None:
    hub.files = {"onnx/model_quantized.onnx": CONTENT, "tokenizer.json": b"{}"}
    pulled = model_hub.pull("multilingual-e5-small", tmp_path, repository=REPOSITORY)
    assert pulled.path == tmp_path / "multilingual-e5-small" / "model.onnx"
    assert pulled.tokenizer == tmp_path / "multilingual-e5-small" / "tokenizer.json"
    assert pulled.path.read_bytes() == CONTENT
    assert model_files.resolve(EmbeddingSettings(model="multilingual-e5-small"), tmp_path) == pulled


def test_a_pull_whose_tokenizer_is_missing_names_it_and_is_continued_later(hub: Hub, tmp_path: Path) -> None:
    hub.files = {"onnx/model_quantized.onnx": CONTENT}
    with pytest.raises(SettingsError, match=f"no file tokenizer.json in {REPOSITORY}"):
        model_hub.pull("multilingual-e5-small", tmp_path, repository=REPOSITORY)
    with pytest.raises(SettingsError, match="vicw model pull multilingual-e5-small"):
        model_files.resolve(EmbeddingSettings(model="multilingual-e5-small"), tmp_path)


def test_a_folder_that_cannot_be_written_is_named_with_its_setting(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / "models").write_text("a file where the folder should be")
    with pytest.raises(SettingsError, match=r"models cannot be written .*VICW_EMBEDDING_MODELS_DIR"):
        model_hub.pull(NAME, tmp_path / "models", repository=REPOSITORY)
