"""The re-ranker of one process: a server elsewhere, or a GGUF file in a process of its own."""

from __future__ import annotations

from contextlib import AsyncExitStack

from vicw_embedding.supervisor import RerankProcess
from vicw_shared.adapters import http_reranker
from vicw_shared.adapters.http_reranker import HttpReranker
from vicw_shared.settings import RerankSettings

_STOP_SECONDS = 1.0


async def open_reranker(settings: RerankSettings, stack: AsyncExitStack) -> HttpReranker | None:
    """Return the model that the settings name, closed by ``stack``; None: none is named.

    Raises SettingsError or UnavailableError.
    """
    if not settings.enabled:
        return None
    if settings.url is not None:
        reranker = http_reranker.open_reranker(settings)
    else:
        process = RerankProcess(settings, stop_seconds=_STOP_SECONDS)
        stack.push_async_callback(process.close)
        await process.start()
        reranker = HttpReranker(uds=process.uds, timeout_seconds=settings.timeout_seconds)
    stack.push_async_callback(reranker.close)
    return reranker
