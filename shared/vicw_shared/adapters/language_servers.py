"""Language model server of the settings."""

from __future__ import annotations

from vicw_shared.adapters.openai_language import OpenAILanguageModel
from vicw_shared.errors import SettingsError
from vicw_shared.settings import LlmSettings


def open_language_model(settings: LlmSettings) -> OpenAILanguageModel:
    """Return the model at VICW_LLM_URL. Raises SettingsError if there is no URL."""
    if settings.url is None:
        raise SettingsError(
            f"VICW_LLM_MODEL is {settings.model}, and VICW_LLM_URL is not set: only `vicw serve` runs a GGUF file "
            f"itself. Set VICW_LLM_URL to a server that has it (`python -m vicw_embedding.chat` is one)"
        )
    return OpenAILanguageModel(
        base_url=settings.url.strip(),
        model=settings.model,
        api_key=settings.api_key.get_secret_value() if settings.api_key is not None else None,
        timeout_seconds=settings.timeout_seconds,
    )
