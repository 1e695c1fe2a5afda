"""Builds the server from its settings."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from vicw_embedding import library, metrics
from vicw_embedding.batcher import Batcher
from vicw_embedding.engine import Engine, EngineOptions
from vicw_shared.errors import SettingsError
from vicw_shared.http import SecretGate, is_loopback

if TYPE_CHECKING:
    from vicw_embedding.library import ModelFile
    from vicw_shared.settings.concerns import EmbeddingSettings, StorageSettings

_SECRET = "VICW_EMBEDDING_API_KEY"  # noqa: S105 - the name of its variable


@dataclass(frozen=True, slots=True)
class Served:
    """A loaded model and its door."""

    file: ModelFile
    engine: Engine
    batcher: Batcher

    def close(self) -> None:
        """Free the model. Safe to call twice."""
        self.engine.close()


def models_dir(settings: EmbeddingSettings, storage: StorageSettings) -> Path:
    """Return where model files are kept."""
    return settings.models_dir or storage.data_dir / "models"


def gate(settings: EmbeddingSettings, host: str | None) -> SecretGate:
    """Return what admits to a server on ``host``; None: on a unix domain socket.

    Raises SettingsError where others can reach it and there is no secret to ask for, or where the secret is empty.
    """
    secret = settings.api_key.get_secret_value().strip() if settings.api_key is not None else None
    if secret == "" or (secret is None and host is not None and not is_loopback(host)):
        raise SettingsError(
            f"{_SECRET} is {'not set' if secret is None else 'empty'}: without a secret the embedding server listens "
            f"on loopback or a unix domain socket only. Set {_SECRET}, or {_SECRET}_FILE, to the same for it and for "
            "all that ask it, or set VICW_HOST=127.0.0.1"
        )
    return SecretGate(secret, variable=_SECRET)


def load(settings: EmbeddingSettings, directory: Path) -> Served:
    """Find and load the model; blocks. Raises SettingsError."""
    file = library.resolve(settings, directory)
    options = EngineOptions(threads=settings.threads, queue_texts=settings.queue_texts, observe=metrics.observe_batch)
    engine = Engine(file, options)
    try:
        batcher = Batcher(engine, settings.dimensions)
    except BaseException:
        engine.close()
        raise
    metrics.watch(engine)
    return Served(file, engine, batcher)
