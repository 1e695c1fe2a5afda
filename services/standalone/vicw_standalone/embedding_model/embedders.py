"""The embedders of one process: remote servers, or child processes, one per model."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vicw_embedding.models import model_files
from vicw_shared.errors import ModelMismatchError, UnavailableError
from vicw_shared.ports import NO_MODEL, Embedder, ModelIdentity
from vicw_standalone.embedding_model.process import new_process
from vicw_standalone.settings import StandaloneSettings
from vicw_stores.null_engines import NullEmbedder

if TYPE_CHECKING:
    from vicw_embedding.process.supervisor import EmbeddingProcess
    from vicw_runtime.model_servers.embedders import EmbeddingServers

_METRICS_SECONDS = 2.0
_MODEL_METRIC = re.compile("(# (HELP|TYPE) )?vicw_embedding_")


@dataclass(frozen=True, slots=True)
class RunningEmbedder:
    """A running embedder. ``source``: its value of VICW_EMBEDDING_MODEL; None for remote servers."""

    model: ModelIdentity
    embedder: Embedder
    source: str | None = None
    process: EmbeddingProcess | None = None

    async def loaded(self) -> None:
        """Return when the model is loaded. Raises SettingsError or UnavailableError, as the process' ``loaded``."""
        if self.process is not None:
            await self.process.loaded()

    async def close(self) -> None:
        """Close the connection, and end the process if there is one."""
        await self.embedder.close()
        if self.process is not None:
            await self.process.close()


class Embedders:
    """Starts and ends embedders. ``given`` ones are selected by the names of their models.

    ``process``: that of the settings' model, if it has begun already.
    """

    def __init__(self, settings: StandaloneSettings, *given: Embedder, process: EmbeddingProcess | None = None) -> None:
        self._settings = settings
        self._given = given
        self._remote: EmbeddingServers | None = None
        self._begun = process
        self._started: dict[ModelIdentity, RunningEmbedder] = {}

    async def first(self, used: ModelIdentity | None) -> RunningEmbedder:
        """Start the embedder of the settings; of several remote servers, the one with the model ``used``.

        It may still be loading its model: see ``RunningEmbedder.loaded``. Raises ModelMismatchError, SettingsError or
        UnavailableError.
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
        """Start the model ``name``, or the file at that path; return when it is loaded. Raises as ``first`` does."""
        for given in self._given:
            if (model := await given.identity()).name == name:
                return self._add(RunningEmbedder(model, given))
        if self._given:
            raise ModelMismatchError(f"there is no embedder named {name}")
        if self._servers is None:
            started = await self._start(name)
            await started.loaded()
            return started
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

    def is_loading(self, model: ModelIdentity) -> bool:
        """Return whether the process of a model has not been ready yet."""
        process = self.process(model)
        return process is not None and not process.has_loaded

    async def loaded(self) -> None:
        """Return when all models are loaded. Raises the first error of ``RunningEmbedder.loaded``."""
        for started in tuple(self._started.values()):
            await started.loaded()

    async def probe(self, model: ModelIdentity) -> None:
        """Raise if the embedder of a model does not answer."""
        process = self.process(model)
        if process is not None and not process.ready:
            doing = "restarting" if process.has_loaded else "loading the model; until then, answers come from words"
            raise UnavailableError("embedding", f"the process is {doing}")
        await self.of(model).identity()

    async def metrics(self, model: ModelIdentity) -> bytes:
        """Return the metrics of a model's process; empty while there is none or it does not answer."""
        process = self.process(model)
        if process is None or not process.ready:
            return b""
        import httpx

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
        if self._begun is not None:
            await self._begun.close()
        while self._started:
            _, started = self._started.popitem()
            await started.close()
        if self._remote is not None:
            await self._remote.close()

    @property
    def _servers(self) -> EmbeddingServers | None:
        """The remote servers; None if the models run here."""
        if self._remote is None and self._settings.embedding.urls and not self._given:
            from vicw_runtime.model_servers.embedders import EmbeddingServers

            self._remote = EmbeddingServers(self._settings.embedding)
        return self._remote

    async def _start(self, source: str) -> RunningEmbedder:
        """Start a process for a model, unless one runs, and return while it loads."""
        from vicw_runtime.model_servers.openai_embedder import OpenAIEmbedder

        settings = self._settings.embedding.model_copy(update={"model": source})
        model = await asyncio.to_thread(model_files.identity, settings, self._settings.models_dir)
        if model in self._started:
            return self._started[model]
        if self._begun is not None and source == self._settings.embedding.model:
            process, self._begun = self._begun, None
        else:
            process = new_process(self._settings, settings)
        embedder = OpenAIEmbedder(
            **process.connection,
            dimensions=settings.dimensions,
            timeout_seconds=settings.timeout_seconds,
            expected=model,
        )
        started = self._add(RunningEmbedder(model, embedder, source, process))
        await process.begin()
        return started

    def _add(self, started: RunningEmbedder) -> RunningEmbedder:
        self._started.setdefault(started.model, started)
        return self._started[started.model]
