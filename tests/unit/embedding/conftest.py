"""Models that are made once a run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.models import tiny_gguf
from vicw_embedding import metrics
from vicw_embedding.engine.engine import Engine, EngineOptions
from vicw_embedding.models import model_files
from vicw_embedding.models.model_files import ModelFile
from vicw_shared.settings.concerns import EmbeddingSettings


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
def minilm_file(models_dir: Path) -> ModelFile:
    return model_files.resolve(EmbeddingSettings(model="all-MiniLM-L6-v2"), models_dir)


@pytest.fixture
def engine(tiny_encoder: ModelFile) -> Iterator[Engine]:
    opened = Engine(tiny_encoder, EngineOptions(queue_texts=3000, observe=metrics.observe_batch))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def minilm(minilm_file: ModelFile) -> Iterator[Engine]:
    opened = Engine(minilm_file, EngineOptions())
    yield opened
    opened.close()
