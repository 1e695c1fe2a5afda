"""The process of the settings' embedding model. Light to import: it starts before anything slow is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vicw_embedding.process.supervisor import EmbeddingProcess

if TYPE_CHECKING:
    from vicw_shared.settings import EmbeddingSettings
    from vicw_standalone.settings import StandaloneSettings

_STOP_SECONDS = 1.0


def new_process(settings: StandaloneSettings, embedding: EmbeddingSettings | None = None) -> EmbeddingProcess:
    """Return the process of the settings' model, or of that of other ``embedding`` settings; it is not started."""
    return EmbeddingProcess(embedding or settings.embedding, settings.models_dir, stop_seconds=_STOP_SECONDS)


def first_process(settings: StandaloneSettings) -> EmbeddingProcess | None:
    """Return the process that a server of these settings needs; None if its vectors come from elsewhere, or none do."""
    is_here = settings.storage.embedder != "none" and not settings.embedding.urls
    return new_process(settings) if is_here else None
