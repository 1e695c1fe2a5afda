"""ONNX models named by their folder or file: what is read of them, and what is refused."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from pathlib import Path

import pytest

from support.models.onnx_folder import write_folder
from vicw_embedding.models import digests, model_files
from vicw_embedding.models.model_files import ModelFile, identity, resolve
from vicw_embedding.models.onnx_file import read_outline
from vicw_minilm import FOLDER
from vicw_shared.embedding_models import ModelFormat, Pooling
from vicw_shared.errors import SettingsError
from vicw_shared.settings.concerns import EmbeddingSettings


def named(path: Path, **settings: int) -> EmbeddingSettings:
    return EmbeddingSettings(model=str(path), **settings)  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def engines(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the engines of both formats were installed."""
    monkeypatch.setattr(model_files, "engine_problem", lambda card: None)


def test_a_folder_is_read_with_what_lies_beside_the_model(tmp_path: Path) -> None:
    folder = write_folder(
        tmp_path / "my-model",
        files={
            "sentence_bert_config.json": {"max_seq_length": 256},
            "1_Pooling/config.json": {"pooling_mode_mean_tokens": False, "pooling_mode_cls_token": True},
        },
    )
    model = resolve(named(folder), tmp_path)

    assert model.path == folder / "model.onnx"
    assert model.tokenizer == folder / "tokenizer.json"
    assert (model.card.name, model.card.format, model.card.size) == ("my-model", ModelFormat.ONNX, 8)
    assert (model.card.pooling, model.card.max_tokens) == (Pooling.CLS, 256)
    assert resolve(named(folder / "model.onnx"), tmp_path) == model


def test_a_bare_file_has_the_mean_of_its_tokens_and_windows_of_512(tmp_path: Path) -> None:
    card = resolve(named(write_folder(tmp_path / "bare")), tmp_path).card
    assert (card.pooling, card.max_tokens, card.licence) == (Pooling.MEAN, 512, "unknown")


def test_a_graph_that_leaves_its_size_open_takes_that_of_its_config(tmp_path: Path) -> None:
    config = {"hidden_size": 768, "max_position_embeddings": 130}
    card = resolve(named(write_folder(tmp_path / "open", size="hidden", files={"config.json": config})), tmp_path).card
    assert (card.size, card.max_tokens) == (768, 130)
    with pytest.raises(SettingsError, match=r"config\.json has no hidden_size"):
        resolve(named(write_folder(tmp_path / "closed", size="hidden")), tmp_path)


def test_a_tokenizer_limit_that_means_none_is_no_limit(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "limit", files={"tokenizer_config.json": {"model_max_length": 1e30}})
    assert resolve(named(folder), tmp_path).card.max_tokens == 512


def test_the_folder_of_a_repository_has_the_model_in_a_folder_of_its_own(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "repository")
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx" / "model_quantized.onnx")
    model = resolve(named(folder), tmp_path)
    assert (model.card.name, model.tokenizer) == ("repository", folder / "tokenizer.json")


def test_a_model_without_its_tokenizer_is_refused(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "half")
    (folder / "tokenizer.json").unlink()
    (tmp_path / "tokenizer.json").write_text("{}")  # another model's
    with pytest.raises(SettingsError, match=r"has no tokenizer\.json beside it"):
        resolve(named(folder), tmp_path)


def test_a_model_of_something_else_than_text_is_refused(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "pictures", inputs=("pixel_values",))
    with pytest.raises(SettingsError, match=r"takes pixel_values instead of input_ids"):
        resolve(named(folder), tmp_path)


@pytest.mark.parametrize("keep", [0, 1, 100, -1])
def test_a_file_that_was_cut_off_is_refused(tmp_path: Path, keep: int) -> None:
    path = write_folder(tmp_path / "cut") / "model.onnx"
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(SettingsError, match=r"model\.onnx is not a readable ONNX file, or it is cut off"):
        resolve(named(path), tmp_path)


@pytest.mark.parametrize("content", [b"not a model", b"\xff" * 64, b"PK\x03\x04" + b"\0" * 64, json.dumps({}).encode()])
def test_a_file_of_another_kind_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other.onnx"
    path.write_bytes(content)
    with pytest.raises(SettingsError, match=r"other\.onnx is not a readable ONNX file"):
        resolve(named(path), tmp_path)


def test_a_folder_without_a_model_or_with_several_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"no model\.onnx and no GGUF file"):
        resolve(named(tmp_path), tmp_path)
    for name in ("a.gguf", "b.gguf"):
        (tmp_path / name).touch()
    with pytest.raises(SettingsError, match="several model files"):
        resolve(named(tmp_path), tmp_path)


def test_the_digest_covers_the_model_its_tokenizer_and_its_outside_weights(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "model")
    seen = [resolve(named(folder), tmp_path).digest]
    (folder / "model.onnx_data").write_bytes(b"weights")
    seen.append(resolve(named(folder), tmp_path).digest)
    (folder / "tokenizer.json").write_text('{"other": 1}')
    seen.append(resolve(named(folder), tmp_path).digest)
    assert len(set(seen)) == 3


def test_the_identity_is_known_from_files_alone(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "model")
    known = identity(named(folder, dimensions=4), tmp_path)
    assert (known.name, known.size, known.digest) == ("model", 4, resolve(named(folder), tmp_path).digest)
    with pytest.raises(SettingsError, match=r"VICW_EMBEDDING_DIMENSIONS: model supports 1 to 8"):
        identity(named(folder, dimensions=9), tmp_path)


def test_the_digest_of_a_large_file_is_remembered_until_the_file_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Path] = []
    monkeypatch.setattr(digests, "LARGE_BYTES", 1)

    def compute(path: Path) -> str:
        read.append(path)
        return hashlib.sha256(path.read_bytes()).hexdigest()

    monkeypatch.setattr(digests, "sha256", compute)
    path = tmp_path / "large.gguf"
    path.write_bytes(b"one")
    for _ in range(2):
        assert digests.of_file(path, tmp_path) == hashlib.sha256(b"one").hexdigest()
    assert read == [path]
    path.write_bytes(b"two")  # of the same size
    assert digests.of_file(path, tmp_path) == hashlib.sha256(b"two").hexdigest()
    assert len(json.loads((tmp_path / ".digests.json").read_text())) == 1
    (tmp_path / ".digests.json").write_text("cut o")
    assert digests.of_file(path, tmp_path) == hashlib.sha256(b"two").hexdigest()
    assert digests.of_file(path, tmp_path / "nowhere") == hashlib.sha256(b"two").hexdigest()


def test_the_outline_of_the_installed_model() -> None:
    outline = read_outline(FOLDER / "model.onnx")
    assert outline.inputs == {"input_ids", "attention_mask"}
    assert outline.outputs == {"last_hidden_state": (None, None, 384)}


def test_a_model_whose_engine_is_not_installed_names_what_to_install(
    tiny_encoder: ModelFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "llama_cpp" else found(name))
    with pytest.raises(SettingsError, match=r"tiny-encoder cannot run here\. .*pip install 'vicw\[gguf\]'"):
        resolve(named(tiny_encoder.path), tmp_path)
