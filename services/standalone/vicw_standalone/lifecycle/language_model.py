"""The language model of the settings: a server's, or a process of our own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vicw_embedding.process.supervisor import ChatProcess

if TYPE_CHECKING:
    from contextlib import AsyncExitStack

    from vicw_runtime.model_servers.openai_language import OpenAILanguageModel
    from vicw_shared.settings import LlmSettings

_START_SECONDS = 300.0
"""A large file may have to be read from a slow disk."""
_STOP_SECONDS = 1.0


async def open_language_model(settings: LlmSettings, stack: AsyncExitStack) -> OpenAILanguageModel | None:
    """Return the model of the settings, closed by ``stack``; None if none is enabled.

    Raises SettingsError or UnavailableError.
    """
    if not settings.enabled:
        return None
    from vicw_runtime.model_servers import openai_language

    if settings.url is not None:
        model = openai_language.open_language_model(settings)
    else:
        process = ChatProcess(settings, start_seconds=_START_SECONDS, stop_seconds=_STOP_SECONDS)
        stack.push_async_callback(process.close)
        await process.start()
        model = openai_language.OpenAILanguageModel(**process.connection, timeout_seconds=settings.timeout_seconds)
    stack.push_async_callback(model.close)
    return model
