"""Embedding servers of the settings: look-up of a model on them, and failover."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextvars import Context

import structlog

from vicw_runtime.model_servers.openai_embedder import OpenAIEmbedder
from vicw_shared.errors import (
    ModelMismatchError,
    RetryableError,
    SettingsError,
    UnavailableError,
    UnknownHostError,
    VicwError,
)
from vicw_shared.ports import ModelIdentity
from vicw_shared.settings import EmbeddingSettings

_STARTUP_SECONDS = 20.0
_LIST_SECONDS = 5.0
_PAUSE_SECONDS = 0.5
_log = structlog.get_logger()


class EmbeddingServers:
    """The servers of ``VICW_EMBEDDING_URL``. Each may have one model or several, and may be down.

    The embedder of a model fails over to another server with that model when its server is down or has changed its
    model. The search for the other server runs in the background: no call waits for it longer than for the failed one.
    """

    def __init__(self, settings: EmbeddingSettings, pause_seconds: float = 2.0) -> None:
        """Store the settings. Raises SettingsError if they name no server.

        After a search for another server, none begins for ``pause_seconds``.
        """
        if not settings.urls:
            raise SettingsError("VICW_EMBEDDING_URL is not set: name the embedding server, http://HOST:PORT/v1")
        self._settings = settings
        self._pause_seconds = pause_seconds
        self._open: dict[ModelIdentity, OpenAIEmbedder] = {}
        self._searches: dict[ModelIdentity, asyncio.Task[None]] = {}

    async def first(self) -> tuple[OpenAIEmbedder, ModelIdentity]:
        """Return the embedder and model for an empty store: of the first server, the chosen model or else its own.

        Raises UnavailableError, OverloadedError, SettingsError.
        """
        url = self._settings.urls[0]
        model = await self._identity(url, self._settings.chosen_model)
        return self._embedder(url, model), model

    async def find(self, model: ModelIdentity, *, seconds: float = _STARTUP_SECONDS) -> OpenAIEmbedder:
        """Return the embedder of a model on any server; wait up to ``seconds`` for servers that are down.

        Raises UnavailableError while a server is down, else ModelMismatchError; both list each server's models.
        """
        embedder, _ = await self._search(model.name, lambda identity: identity == model, str(model), seconds)
        return embedder

    async def find_by_name(
        self, name: str, *, but: ModelIdentity | None = None
    ) -> tuple[OpenAIEmbedder, ModelIdentity]:
        """Return the embedder of a model by its name; if servers have several files of it, prefer another than ``but``.

        Raises the errors of ``find``.
        """
        return await self._search(name, lambda identity: True, name, _STARTUP_SECONDS, but)

    async def close(self) -> None:
        """Close all connections. Safe to call twice."""
        embedders = list(self._open.values())
        self._open.clear()  # stops all searches
        searches = list(self._searches.values())
        for task in searches:
            task.cancel()
        await asyncio.gather(*searches, return_exceptions=True)
        for embedder in embedders:
            await embedder.close()

    async def _search(
        self,
        name: str,
        accepts: Callable[[ModelIdentity], bool],
        description: str,
        seconds: float,
        but: ModelIdentity | None = None,
    ) -> tuple[OpenAIEmbedder, ModelIdentity]:
        deadline = time.monotonic() + seconds
        while True:
            answers = {url: await self._ask(url, name) for url in self._settings.urls}
            identities = [(url, answer) for url, answer in answers.items() if isinstance(answer, ModelIdentity)]
            for url, answer in sorted(identities, key=lambda each: each[1] == but):
                if accepts(answer):
                    return self._embedder(url, answer), answer
            down = any(map(_may_come_up, answers.values())) or all(
                isinstance(a, RetryableError) for a in answers.values()
            )
            if not down or time.monotonic() > deadline:
                break
            await asyncio.sleep(_PAUSE_SECONDS)
        reports = "; ".join(f"{url} {_report(answer)}" for url, answer in answers.items())
        if down:
            raise UnavailableError("embedding", f"no server of VICW_EMBEDDING_URL answers as {description}: {reports}")
        raise ModelMismatchError(f"No server of VICW_EMBEDDING_URL has {description}: {reports}")

    async def _ask(self, url: str, name: str) -> ModelIdentity | list[str] | VicwError:
        """Return a server's identity of the model ``name``, or its error, or its models' names if it lacks this one."""
        try:
            names = await self._names(url)
            # Ask for the model although the list does not name it: some servers have no list, and a list may lack the
            # chosen name.
            if names and name not in names and name != self._settings.chosen_model:
                return names
            return await self._identity(url, name)
        except VicwError as error:
            return error

    async def _names(self, url: str) -> list[str]:
        embedder = open_embedder(self._settings, url, None, retry_seconds=0, timeout_seconds=_LIST_SECONDS)
        try:
            return await embedder.listed()
        finally:
            await embedder.close()

    async def _identity(self, url: str, name: str | None) -> ModelIdentity:
        embedder = open_embedder(self._settings, url, name)
        try:
            return await embedder.identity()
        finally:
            await embedder.close()

    def _embedder(self, url: str, model: ModelIdentity) -> OpenAIEmbedder:
        embedder = self._open.get(model)
        if embedder is None:
            embedder = self._open[model] = open_embedder(
                self._settings,
                url,
                model.name,
                expected=model,
                on_failure=lambda failed: self._search_other_servers(model, failed),
            )
        embedder.switch_to(url)
        return embedder

    def _search_other_servers(self, model: ModelIdentity, failed: str) -> None:
        """Start a search for another server with the model, unless one is running or has switched already."""
        embedder, others = self._open.get(model), [url for url in self._settings.urls if url != failed]
        if embedder is None or embedder.base_url != failed or model in self._searches or not others:
            return
        # In a context of its own: the task outlives the request that met the failure.
        task = asyncio.create_task(self._switch(embedder, model, others), name="embedding-servers", context=Context())
        self._searches[model] = task
        task.add_done_callback(lambda _: self._searches.pop(model, None))

    async def _switch(self, embedder: OpenAIEmbedder, model: ModelIdentity, others: Sequence[str]) -> None:
        """Switch to the first of these servers that reports the model, if any; then pause before the next search."""

        async def ask(url: str) -> tuple[str, ModelIdentity | list[str] | VicwError]:
            return url, await self._ask(url, model.name)

        queries = [asyncio.create_task(ask(url)) for url in others]
        try:
            for each in asyncio.as_completed(queries):
                url, answer = await each
                if answer == model:
                    before = embedder.base_url
                    embedder.switch_to(url)
                    _log.info("turned to another embedding server", model=str(model), before=before, now=url)
                    break
        finally:
            for task in queries:
                task.cancel()
            await asyncio.gather(*queries, return_exceptions=True)
        await asyncio.sleep(self._pause_seconds)


def open_embedder(
    settings: EmbeddingSettings,
    url: str,
    model: str | None,
    *,
    retry_seconds: float = 20.0,
    timeout_seconds: float | None = None,
    expected: ModelIdentity | None = None,
    on_failure: Callable[[str], None] = lambda _: None,
) -> OpenAIEmbedder:
    """Return the embedder of the server at ``url``; without a ``model`` it uses the server's own."""
    return OpenAIEmbedder(
        base_url=url,
        # Not the model setting: its default names the model of our own process, which that server may not have.
        model=model,
        api_key=settings.api_key.get_secret_value() if settings.api_key else None,
        dimensions=settings.dimensions,
        timeout_seconds=settings.timeout_seconds if timeout_seconds is None else timeout_seconds,
        retry_seconds=retry_seconds,
        expected=expected,
        on_failure=on_failure,
    )


def _may_come_up(answer: ModelIdentity | list[str] | VicwError) -> bool:
    """Return whether a server is down and may come up with the model. An unknown host name does not count as down."""
    return isinstance(answer, RetryableError) and not isinstance(answer, UnknownHostError)


def _report(answer: ModelIdentity | list[str] | VicwError) -> str:
    if isinstance(answer, VicwError):
        return f"says: {answer.detail}"
    return f"has {answer}" if isinstance(answer, ModelIdentity) else f"has {', '.join(answer[:20])}"
