"""Metrics endpoint of processes without an HTTP port: workers, summed over their processes, and the clock."""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from wsgiref.simple_server import WSGIRequestHandler, make_server

from prometheus_client import REGISTRY, CollectorRegistry, Metric, make_wsgi_app
from prometheus_client.exposition import ThreadingWSGIServer
from prometheus_client.mmap_dict import MmapedDict
from prometheus_client.multiprocess import MultiProcessCollector

from vicw_runtime.browser_guard import BrowserGuard
from vicw_runtime.telemetry.shared_metrics import DIRECTORY
from vicw_shared.errors import SettingsError, VicwError
from vicw_shared.settings import MetricsSettings, ServerSettings
from vicw_shared.wire.problem import MEDIA_TYPE, problem_of

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

_ENDED = "ended"


@contextlib.contextmanager
def merged(directory: Path) -> Iterator[None]:
    """Merge the files of ended processes, killed ones included, and lock the directory against concurrent merges."""
    with (directory / "folding").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            _merge(directory)
            yield
        finally:
            fcntl.flock(lock, fcntl.LOCK_UN)  # closing does not suffice: a process forked meanwhile has it open, too


def _merge(directory: Path) -> None:
    for file in directory.glob("*.db"):
        kind, _, pid = file.stem.rpartition("_")
        if pid == _ENDED or _is_running(int(pid)):
            continue
        if not kind.startswith("gauge"):  # gauges are of running processes only
            _add(file, directory / f"{kind}_{_ENDED}.db")
        file.unlink()


def _add(file: Path, sums: Path) -> None:
    if not file.stat().st_size:
        return  # the process was killed before it counted anything
    total = MmapedDict(str(sums))  # type: ignore[no-untyped-call]
    try:
        for key, value, _, _ in MmapedDict.read_all_values_from_file(file):  # type: ignore[no-untyped-call]
            before, _ = total.read_value(key)  # type: ignore[no-untyped-call]
            total.write_value(key, before + value, 0.0)  # type: ignore[no-untyped-call]
    finally:
        total.close()  # type: ignore[no-untyped-call]


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


class _SummedMetrics(MultiProcessCollector):
    """Sums the metrics of all processes, ended ones included; gauges are of running processes only."""

    def __init__(self, registry: CollectorRegistry, directory: str) -> None:
        self._directory = Path(directory)
        super().__init__(registry, directory)  # type: ignore[no-untyped-call]

    def collect(self) -> Iterable[Metric]:
        with merged(self._directory):
            metrics: Iterable[Metric] = super().collect()  # type: ignore[no-untyped-call]
        return metrics


class _IPv6Server(ThreadingWSGIServer):
    address_family = socket.AF_INET6


class _QuietHandler(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        pass


def _guarded(app: WSGIApplication, guard: BrowserGuard) -> WSGIApplication:
    """Return an application that answers what the guard refuses, and else ``app``."""

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        def values(name: str) -> list[str]:
            variable = f"HTTP_{name.upper().replace('-', '_')}"
            return [environ[variable]] if variable in environ else []  # one sent twice is joined by a comma

        try:
            guard.check(environ["REQUEST_METHOD"], values, int(environ["SERVER_PORT"]))
        except VicwError as error:
            start_response(f"{error.status} {error.title}", [("Content-Type", MEDIA_TYPE)])
            return [problem_of(error, None).model_dump_json(exclude_defaults=True).encode()]
        return app(environ, start_response)

    return answer


def serve_metrics(settings: MetricsSettings, callers: ServerSettings) -> Callable[[], None]:
    """Serve Prometheus metrics on ``settings.port``, if set, from a thread, to those whom ``callers`` allows.

    Return a function that a process forked later has to call: otherwise it keeps the port open after this process ends,
    and the files of ended processes accumulate. Raises SettingsError if the port is taken.
    """
    if settings.port is None:
        return lambda: None
    registry = REGISTRY
    directory = os.environ.get(DIRECTORY)
    if directory is not None:
        registry = CollectorRegistry()
        _SummedMetrics(registry, directory)
    try:
        server = make_server(
            settings.host,
            settings.port,
            _guarded(make_wsgi_app(registry), BrowserGuard.of(callers, settings.host)),
            _IPv6Server if ":" in settings.host else ThreadingWSGIServer,
            _QuietHandler,
        )
    except OSError as error:
        raise SettingsError(
            f"VICW_METRICS_PORT: cannot listen on {settings.host}:{settings.port}: {error.strerror or error}"
        ) from error
    threading.Thread(target=server.serve_forever, name="metrics", daemon=True).start()
    owner = os.getpid()

    def release_port() -> None:
        if os.getpid() != owner:
            server.socket.close()
            if directory is not None:
                with merged(Path(directory)):
                    pass  # this process may replace one that ended

    return release_port
