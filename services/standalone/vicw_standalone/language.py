"""The language model of one process: a remote server, or a GGUF file in a child process."""

from __future__ import annotations

from contextlib import AsyncExitStack

from vicw_embedding.supervisor import ChatProcess
from vicw_shared.adapters import language_servers
from vicw_shared.adapters.openai_language import OpenAILanguageModel
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
    if settings.url is not None:
        model = language_servers.open_language_model(settings)
    else:
        process = ChatProcess(settings, start_seconds=_START_SECONDS, stop_seconds=_STOP_SECONDS)
        stack.push_async_callback(process.close)
        await process.start()
        model = OpenAILanguageModel(uds=process.uds, timeout_seconds=settings.timeout_seconds)
    stack.push_async_callback(model.close)
    return model
