"""Builds the server from its settings."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from vicw_embedding import metrics
from vicw_embedding.engine.batcher import Batcher
from vicw_embedding.engine.engine import Engine, EngineOptions
from vicw_embedding.models import model_files

if TYPE_CHECKING:
    from vicw_embedding.models.model_files import ModelFile
    from vicw_shared.settings.concerns import EmbeddingSettings, StorageSettings


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A loaded model and its asyncio interface."""

    file: ModelFile
    engine: Engine
    batcher: Batcher

    def close(self) -> None:
        """Free the model. Safe to call twice."""
        self.engine.close()


def models_dir(settings: EmbeddingSettings, storage: StorageSettings) -> Path:
    """Return where model files are kept."""
    return settings.models_dir or storage.data_dir / "models"


def load(settings: EmbeddingSettings, directory: Path) -> ServedModel:
    """Find and load the model; blocks. Raises SettingsError."""
    file = model_files.resolve(settings, directory)
    options = EngineOptions(threads=settings.threads, queue_texts=settings.queue_texts, observe=metrics.observe_batch)
    engine = Engine(file, options)
    try:
        batcher = Batcher(engine, settings.dimensions)
    except BaseException:
        engine.close()
        raise
    metrics.watch(engine)
    return ServedModel(file, engine, batcher)
