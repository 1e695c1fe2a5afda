"""The embedders of one process: remote servers, or child processes, one per model."""

from __future__ import annotations

import asyncio
import contextlib
import re
from dataclasses import dataclass

import httpx

from vicw_embedding.models import model_files
from vicw_embedding.process.supervisor import EmbeddingProcess
from vicw_runtime.model_servers.embedders import EmbeddingServers
from vicw_runtime.model_servers.openai_embedder import OpenAIEmbedder
from vicw_shared.errors import ModelMismatchError, UnavailableError
from vicw_shared.ports import NO_MODEL, Embedder, ModelIdentity
from vicw_standalone.settings import StandaloneSettings
from vicw_stores.null_engines import NullEmbedder

_STOP_SECONDS = 1.0
_METRICS_SECONDS = 2.0
_MODEL_METRIC = re.compile("(# (HELP|TYPE) )?vicw_embedding_")


@dataclass(frozen=True, slots=True)
class RunningEmbedder:
    """A running embedder. ``source``: its value of VICW_EMBEDDING_MODEL; None for remote servers."""

    model: ModelIdentity
    embedder: Embedder
    source: str | None = None
    process: EmbeddingProcess | None = None

    async def close(self) -> None:
        """Close the connection, and end the process if there is one."""
        await self.embedder.close()
        if self.process is not None:
            await self.process.close()


class Embedders:
    """Starts and ends embedders. ``given`` ones are selected by the names of their models."""

    def __init__(self, settings: StandaloneSettings, *given: Embedder) -> None:
        self._settings = settings
        self._given = given
        self._servers = EmbeddingServers(settings.embedding) if settings.embedding.urls and not given else None
        self._started: dict[ModelIdentity, RunningEmbedder] = {}

    async def first(self, used: ModelIdentity | None) -> RunningEmbedder:
        """Start the embedder of the settings; of several remote servers, the one with the model ``used``.

        Raises ModelMismatchError, SettingsError or UnavailableError.
        """
        if self._settings.storage.embedder == "none":
            return self._add(RunningEmbedder(NO_MODEL, NullEmbedder()))
        if self._given:
            return self._add(RunningEmbedder(await self._given[0].identity(), self._given[0]))
        if self._servers is None:
            return await self._start(self._settings.embedding.model)
        if used is None:
            embedder, model = await self._servers.first()
            return self._add(RunningEmbedder(model, embedder))
        return self._add(RunningEmbedder(used, await self._servers.find(used)))

    async def another(self, name: str, used: ModelIdentity | None) -> RunningEmbedder:
        """Start the model ``name``, or the GGUF file at that path. Raises as ``first`` does."""
        for given in self._given:
            if (model := await given.identity()).name == name:
                return self._add(RunningEmbedder(model, given))
        if self._given:
            raise ModelMismatchError(f"there is no embedder named {name}")
        if self._servers is None:
            return await self._start(name)
        embedder, model = await self._servers.find_by_name(name, but=used)
        return self._add(RunningEmbedder(model, embedder))

    async def require(self, name: str) -> None:
        """Raise SettingsError, ModelMismatchError or UnavailableError if ``another`` cannot start this model."""
        if not self._given and self._servers is None:
            settings = self._settings.embedding.model_copy(update={"model": name})
            await asyncio.to_thread(model_files.resolve, settings, self._settings.models_dir)
        else:
            await self.another(name, None)

    def of(self, model: ModelIdentity) -> Embedder:
        """Return the embedder of a model. Raises ModelMismatchError if none was started."""
        if model not in self._started:
            raise ModelMismatchError(f"no embedder of {model} is running")
        return self._started[model].embedder

    def source(self, model: ModelIdentity) -> str | None:
        """Return the value of VICW_EMBEDDING_MODEL that selects a model."""
        return self._started[model].source

    def process(self, model: ModelIdentity) -> EmbeddingProcess | None:
        """Return the process that runs a model; None for a remote server."""
        return self._started[model].process

    async def probe(self, model: ModelIdentity) -> None:
        """Raise if the embedder of a model does not answer."""
        process = self.process(model)
        if process is not None and not process.ready:
            raise UnavailableError("embedding", "the embedding process is starting")
        await self.of(model).identity()

    async def metrics(self, model: ModelIdentity) -> bytes:
        """Return the metrics of a model's process; empty while there is none or it does not answer."""
        process = self.process(model)
        if process is None or not process.ready:
            return b""
        connection = process.connection
        uds, key = connection.get("uds"), connection.get("api_key")
        url = connection.get("base_url", "http://embedding/v1").removesuffix("/v1")
        try:
            async with httpx.AsyncClient(
                transport=httpx.AsyncHTTPTransport(uds=str(uds) if uds else None),
                headers={"Authorization": f"Bearer {key}"} if key else {},
                timeout=_METRICS_SECONDS,
            ) as client:
                exposition = (await client.get(f"{url}/metrics")).raise_for_status().text
        except httpx.HTTPError:
            return b""
        # The rest (requests, memory …) has the same names here and would be reported twice.
        return "".join(line for line in exposition.splitlines(keepends=True) if _MODEL_METRIC.match(line)).encode()

    async def end(self, model: ModelIdentity) -> None:
        """End the embedder of a model that is no longer in use."""
        started = self._started.pop(model, None)
        if started is not None and started.process is not None:
            await started.close()

    async def close(self) -> None:
        """End all. Safe to call twice."""
        while self._started:
            _, started = self._started.popitem()
            await started.close()
        if self._servers is not None:
            await self._servers.close()

    async def _start(self, source: str) -> RunningEmbedder:
        settings = self._settings.embedding.model_copy(update={"model": source})
        async with contextlib.AsyncExitStack() as stack:
            process = EmbeddingProcess(settings, self._settings.models_dir, stop_seconds=_STOP_SECONDS)
            stack.push_async_callback(process.close)
            await process.start()
            embedder = OpenAIEmbedder(
                **process.connection, dimensions=settings.dimensions, timeout_seconds=settings.timeout_seconds
            )
            stack.push_async_callback(embedder.close)
            model = await embedder.identity()
            stack.pop_all()
        if model in self._started:  # it is running already
            await RunningEmbedder(model, embedder, source, process).close()
            return self._started[model]
        return self._add(RunningEmbedder(model, embedder, source, process))

    def _add(self, started: RunningEmbedder) -> RunningEmbedder:
        self._started.setdefault(started.model, started)
        return self._started[started.model]
