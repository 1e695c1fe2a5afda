"""The language model of the settings, a server's or a process of our own, and what extracts with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vicw_embedding.process.supervisor import ChatProcess
from vicw_ingest.llm_queue.service import PendingExtractor

if TYPE_CHECKING:
    from contextlib import AsyncExitStack

    from vicw_runtime.model_servers.openai_language import OpenAILanguageModel
    from vicw_shared.model import EdgeRegistry
    from vicw_shared.ports import Store
    from vicw_shared.settings import LlmSettings
    from vicw_standalone.settings import StandaloneSettings

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


def open_extractor(
    graph: Store,
    model: OpenAILanguageModel | None,
    registry: EdgeRegistry,
    settings: StandaloneSettings,
    stack: AsyncExitStack,
) -> PendingExtractor | None:
    """Return what extracts from pending items with ``model``, closed by ``stack``; None if there is no model."""
    if model is None:
        return None
    extractor = PendingExtractor.of(graph, model, registry, settings.llm, settings.limits, settings.ingest)
    stack.push_async_callback(extractor.close)
    return extractor
