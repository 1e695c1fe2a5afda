"""Supervisor of a model server: runs it as a child process and restarts it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypedDict

import structlog

from vicw_embedding.process.serving import FATAL, PARENT_HOLDS_STDIN, READY
from vicw_shared.errors import SettingsError, UnavailableError, VicwError

if TYPE_CHECKING:
    from asyncio.subprocess import Process

    from vicw_shared.settings import EmbeddingSettings, LlmSettings

_log = structlog.get_logger()
_LOOPBACK = "127.0.0.1"
_SECRET = "API_KEY"  # noqa: S105 - the name of a variable
_FIRST_DELAY_SECONDS = 0.1
_MAX_DELAY_SECONDS = 10.0
_STABLE_SECONDS = 30.0


def _has_unix_sockets() -> bool:
    """Return whether Python, and its event loop, have unix domain sockets here."""
    return hasattr(socket, "AF_UNIX") and sys.platform != "win32"


def _free_port() -> int:
    with socket.create_server((_LOOPBACK, 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


class Connection(TypedDict, total=False):
    """How clients reach a model's process, as arguments of theirs: by its socket, or by its port with a secret."""

    uds: Path
    base_url: str
    api_key: str


class ModelProcess(ABC):
    """A child process that serves a model to its parent, restarted whenever it dies.

    It listens on a unix domain socket that only this user may open. Where there are none, it listens on a port of
    loopback and asks for a secret of this run; what takes the port while no child has it gets the secret.
    Either keeps its address over restarts; the adapter repeats calls that were interrupted. The child has its own
    session, so Ctrl-C reaches only the parent, with which the child dies.
    """

    module: ClassVar[str]
    dependency: ClassVar[str]

    def __init__(self, *, start_seconds: float = 120.0, stop_seconds: float = 10.0) -> None:
        self._start_seconds = start_seconds
        self._stop_seconds = stop_seconds
        # Not in the data directory: a socket's path has at most 107 bytes.
        self._directory = Path(tempfile.mkdtemp(prefix="vicw-"))
        self._port = None if _has_unix_sockets() else _free_port()
        self._secret = secrets.token_urlsafe()
        self._process: Process | None = None
        self._supervision: asyncio.Task[None] | None = None
        self._first: asyncio.Future[None] | None = None
        self._spawned = asyncio.Event()
        self._ready = False
        self._closing = False

    @property
    def uds(self) -> Path:
        """The path of the unix domain socket, where there are such sockets."""
        return self._directory / f"{self.dependency}.sock"

    @property
    def connection(self) -> Connection:
        """How to reach the child."""
        if self._port is None:
            return {"uds": self.uds}
        return {"base_url": f"http://{_LOOPBACK}:{self._port}/v1", "api_key": self._secret}

    @property
    def pid(self) -> int | None:
        """The child's process id; None while it does not run."""
        return self._process.pid if self._process and self._process.returncode is None else None

    @property
    def ready(self) -> bool:
        """Whether the child has reported that it is ready, and has not died since."""
        return self._ready

    @property
    def has_loaded(self) -> bool:
        """Whether the child has been ready once; it may have died and be restarting since."""
        return self._first is not None and self._first.done() and self._first.exception() is None

    async def begin(self) -> None:
        """Start the child, unless it was begun before, and return while it loads the model."""
        if self._supervision is None:
            self._first = asyncio.get_running_loop().create_future()
            self._first.add_done_callback(lambda first: first.exception())  # nobody may come to ask how it ended
            self._supervision = asyncio.create_task(self._supervise(self._first), name=f"{self.dependency}-process")
        await self._spawned.wait()

    async def loaded(self) -> None:
        """Return when the child that was begun is ready.

        Raises SettingsError with the child's message if a setting is wrong or the model is missing, UnavailableError if
        it dies or is not ready in time; no child runs then.
        """
        assert self._first is not None, "begin it first"
        try:
            async with asyncio.timeout(self._start_seconds):
                await asyncio.shield(self._first)  # others may wait, too
        except TimeoutError as error:
            await self.close()
            raise UnavailableError(self.dependency, f"not ready within {self._start_seconds:g} s") from error
        except VicwError:
            await self.close()
            raise

    async def start(self) -> None:
        """Start the child and return when it is ready. Raises the errors of ``loaded``; no child runs then."""
        try:
            await self.begin()
            await self.loaded()
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Stop the child: SIGTERM, and SIGKILL if it does not stop or still loads. Safe to call twice."""
        self._closing = True
        if self._first is not None and not self._first.done():
            self._first.set_exception(UnavailableError(self.dependency, "the process is being stopped"))
        try:
            await self._end()
        finally:
            await asyncio.to_thread(shutil.rmtree, self._directory, ignore_errors=True)

    async def _end(self) -> None:
        if self._supervision:
            await self._stop()
            self._supervision.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._supervision
            await self._stop()  # a child that was just starting
            self._supervision = None

    async def _stop(self) -> None:
        process = self._process
        if process is None or process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            # One that still loads has no request to finish, and may not heed SIGTERM until it has loaded.
            process.terminate() if self._ready else process.kill()
        try:
            async with asyncio.timeout(self._stop_seconds):
                await process.wait()
        except TimeoutError:
            _log.warning("a model server did not stop and is killed", model=self.dependency, pid=process.pid)
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    async def _supervise(self, first: asyncio.Future[None]) -> None:
        delay = _FIRST_DELAY_SECONDS
        while True:
            started = time.monotonic()
            failure = await self._run_once(first)
            if self._closing:
                return
            if not first.done():
                first.set_exception(failure)
                return
            if time.monotonic() - started > _STABLE_SECONDS:
                delay = _FIRST_DELAY_SECONDS
            _log.warning(
                f"the {self.dependency} process ended and is restarted", reason=failure.detail, delay_seconds=delay
            )
            await asyncio.sleep(delay * random.uniform(0.5, 1.0))  # noqa: S311 - jitter
            delay = min(delay * 2, _MAX_DELAY_SECONDS)

    async def _run_once(self, first: asyncio.Future[None]) -> VicwError:
        """Run a child to its end; return why it ended."""
        try:
            self._process = process = await self._spawn()
        except OSError as error:  # out of processes or file descriptors, perhaps temporarily
            return UnavailableError(self.dependency, f"the process cannot be started: {error.strerror or error}")
        finally:
            self._spawned.set()
        assert process.stdout is not None
        failure: VicwError | None = None
        try:
            async for raw in process.stdout:
                line = raw.decode("utf-8", "replace").strip()
                if line.startswith(READY):
                    self._ready = True
                    if not first.done():
                        first.set_result(None)
                elif line.startswith(FATAL):
                    failure = SettingsError(line.removeprefix(FATAL).strip())
            code = await process.wait()
        finally:
            self._ready = False
        return failure or UnavailableError(self.dependency, f"the process ended with code {code}")

    async def _spawn(self) -> Process:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", self.module),
            *self._address(),
            *("--parent-pid", str(os.getpid())),
            stdin=asyncio.subprocess.PIPE if PARENT_HOLDS_STDIN else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            env=self._environment(),
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),  # Windows' session, for Ctrl-C
        )

    def _address(self) -> tuple[str, ...]:
        if self._port is None:
            return "--uds", str(self.uds)
        return "--host", _LOOPBACK, "--port", str(self._port)

    def _environment(self) -> dict[str, str]:
        prefix, values = self._settings()
        values |= {_SECRET: self._secret} if self._port is not None else {}
        others = {name: value for name, value in os.environ.items() if not name.startswith(prefix)}
        # Otherwise the C library keeps a pool of freed memory for each thread of a lane.
        others.setdefault("MALLOC_ARENA_MAX", "2")
        return others | {f"{prefix}{key}": str(value) for key, value in values.items() if value is not None}

    @abstractmethod
    def _settings(self) -> tuple[str, dict[str, object]]:
        """Return the prefix of the child's variables and their values; it gets no other variables of this prefix."""


class EmbeddingProcess(ModelProcess):
    """The process of an embedding model."""

    module = "vicw_embedding"
    dependency = "embedding"

    def __init__(self, settings: EmbeddingSettings, models_dir: Path, **seconds: float) -> None:
        """``seconds``: the time limits of ``ModelProcess``."""
        super().__init__(**seconds)
        self._embedding = settings
        self._models_dir = models_dir

    def _settings(self) -> tuple[str, dict[str, object]]:
        values: dict[str, object] = {
            "MODEL": self._embedding.model,
            "DIMENSIONS": self._embedding.dimensions,
            "THREADS": self._embedding.threads,
            "QUEUE_TEXTS": self._embedding.queue_texts,
            "MODELS_DIR": self._models_dir,
        }
        return "VICW_EMBEDDING_", values


class ChatProcess(ModelProcess):
    """The process of a language model."""

    module = "vicw_embedding.chat"
    dependency = "llm"

    def __init__(self, settings: LlmSettings, **seconds: float) -> None:
        """``seconds``: the time limits of ``ModelProcess``."""
        super().__init__(**seconds)
        self._llm = settings

    def _settings(self) -> tuple[str, dict[str, object]]:
        names = ("model", "threads", "context_tokens")
        return "VICW_LLM_", {name.upper(): getattr(self._llm, name) for name in names}
