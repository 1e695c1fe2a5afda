from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from vicw_embedding.models.model_files import ModelFile as File
from vicw_embedding.models.model_files import read_card, resolve
from vicw_minilm import FOLDER
from vicw_shared.embedding_models import Pooling
from vicw_shared.errors import SettingsError
from vicw_shared.settings.concerns import EmbeddingSettings


def test_the_default_model_is_there_without_any_download(tmp_path: Path) -> None:
    found = resolve(EmbeddingSettings(model="all-MiniLM-L6-v2"), tmp_path)

    files = FOLDER / "model.onnx", FOLDER / "tokenizer.json"
    assert (found.path, found.tokenizer) == files
    parts = [hashlib.sha256(path.read_bytes()).hexdigest() for path in files]
    assert found.digest == hashlib.sha256("".join(parts).encode()).hexdigest()
    assert list(tmp_path.iterdir()) == []


def test_a_missing_file_names_the_command_that_gets_it(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"vicw model pull Qwen3-Embedding-0\.6B"):
        resolve(EmbeddingSettings(model="Qwen3-Embedding-0.6B"), tmp_path)


def test_a_model_name_neither_registered_nor_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"Name one of all-MiniLM-L6-v2, .* \(`vicw model list`"):
        resolve(EmbeddingSettings(model="no-such-model"), tmp_path)


def test_any_gguf_can_be_named_by_its_path(tiny_encoder: File, tiny_decoder: File, tmp_path: Path) -> None:
    encoder = resolve(EmbeddingSettings(model=str(tiny_encoder.path)), tmp_path)
    decoder = resolve(EmbeddingSettings(model=str(tiny_decoder.path)), tmp_path)

    assert (encoder.card.name, encoder.card.size, encoder.card.pooling) == ("tiny-encoder", 1024, Pooling.CLS)
    assert (decoder.card.pooling, decoder.card.max_tokens) == (Pooling.LAST, 512)
    assert encoder.digest == tiny_encoder.digest
    assert list(tmp_path.iterdir()) == [], "a file of the caller's own stays where it is"


@pytest.mark.parametrize("content", [b"", b"not a model", b"GGUF", b"GGUF\x03\0\0\0" + b"\xff" * 64])
def test_a_file_that_is_no_gguf_is_a_settings_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken.gguf"
    path.write_bytes(content)

    with pytest.raises(SettingsError, match=r"broken\.gguf"):
        read_card(path)
