"""Models that are made once a run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.models import minilm_gguf, tiny_gguf, tiny_onnx
from vicw_embedding import metrics
from vicw_embedding.engine.engine import Engine, EngineOptions
from vicw_embedding.models.digests import sha256
from vicw_embedding.models.model_files import ModelFile, resolve
from vicw_shared.embedding_models import CONVERTED_MINILM, DEFAULT_MODEL
from vicw_shared.settings.concerns import EmbeddingSettings

FORMATS = ("gguf", "onnx")


@pytest.fixture(scope="session")
def models_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="session")
def tiny_encoder(models_dir: Path) -> ModelFile:
    return tiny_gguf.encoder(models_dir / "tiny-encoder.gguf")


@pytest.fixture(scope="session")
def tiny_decoder(models_dir: Path) -> ModelFile:
    return tiny_gguf.decoder(models_dir / "tiny-decoder.gguf")


@pytest.fixture(scope="session")
def tiny_onnx_encoder(models_dir: Path) -> ModelFile:
    return tiny_onnx.encoder(models_dir / "tiny-encoder")


@pytest.fixture(scope="session")
def tiny_onnx_decoder(models_dir: Path) -> ModelFile:
    return tiny_onnx.decoder(models_dir / "tiny-decoder")


@pytest.fixture(scope="session")
def minilm_file(models_dir: Path) -> ModelFile:
    path = minilm_gguf.ensure(models_dir)
    return ModelFile(CONVERTED_MINILM, path, sha256(path))


@pytest.fixture(scope="session")
def minilm_onnx(models_dir: Path) -> ModelFile:
    return resolve(EmbeddingSettings(model=DEFAULT_MODEL), models_dir)


@pytest.fixture(scope="session", params=FORMATS)
def encoder_file(request: pytest.FixtureRequest, tiny_encoder: ModelFile, tiny_onnx_encoder: ModelFile) -> ModelFile:
    """A tiny encoder in each format."""
    return tiny_encoder if request.param == "gguf" else tiny_onnx_encoder


@pytest.fixture(scope="session", params=FORMATS)
def decoder_file(request: pytest.FixtureRequest, tiny_decoder: ModelFile, tiny_onnx_decoder: ModelFile) -> ModelFile:
    """A tiny decoder in each format."""
    return tiny_decoder if request.param == "gguf" else tiny_onnx_decoder


@pytest.fixture
def engine(encoder_file: ModelFile) -> Iterator[Engine]:
    opened = Engine(encoder_file, EngineOptions(queue_texts=3000, observe=metrics.observe_batch))
    yield opened
    opened.close()


@pytest.fixture(scope="module", params=FORMATS)
def minilm(request: pytest.FixtureRequest, minilm_file: ModelFile, minilm_onnx: ModelFile) -> Iterator[Engine]:
    opened = Engine(minilm_file if request.param == "gguf" else minilm_onnx, EngineOptions())
    yield opened
    opened.close()
