"""Which embedder the settings ask for, and what its model wants before a question."""

from __future__ import annotations

from vicw_shared.adapters.openai_embedder import OpenAIEmbedder
from vicw_shared.embedding_models import MODELS
from vicw_shared.errors import SettingsError
from vicw_shared.ports import ModelIdentity
from vicw_shared.settings import EmbeddingSettings


def open_embedder(settings: EmbeddingSettings, *, retry_seconds: float = 20.0) -> OpenAIEmbedder:
    """Return the embedder over the server at ``settings.url``; the model is its own unless one was chosen."""
    if settings.url is None:
        raise SettingsError("VICW_EMBEDDING_URL is not set: name the embedding server, http://HOST:PORT/v1")
    return OpenAIEmbedder(
        base_url=settings.url,
        # Not ``model``: its default names the model of our own process, which that server may not have.
        model=settings.chosen_model,
        api_key=settings.api_key.get_secret_value() if settings.api_key else None,
        dimensions=settings.dimensions,
        timeout_seconds=settings.timeout_seconds,
        retry_seconds=retry_seconds,
    )


def query_prefix(settings: EmbeddingSettings, model: ModelIdentity) -> str:
    """Return the prefix that was set, else the one of the registered model that answers, else none."""
    if settings.query_prefix is not None:
        return settings.query_prefix
    card = MODELS.get(model.name)
    return card.query_prefix if card is not None else ""
