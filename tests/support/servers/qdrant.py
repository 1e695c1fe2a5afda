"""Qdrant: one server a run, tests keep apart by collection."""

from __future__ import annotations

import os
import shutil
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx

from support.servers.container import Container
from support.servers.machine import Child, free_port, new_directory
from support.servers.process import ServerProcess, started
from support.servers.run import Kind
from support.servers.sources import NotReady, Source, Unavailable

if TYPE_CHECKING:
    from qdrant_client import QdrantClient
    from testcontainers.community.qdrant import QdrantContainer

IMAGE = "qdrant/qdrant:v1.18.2"
_BINARY = "VICW_TEST_QDRANT_BINARY"
_GRPC_PORT = "VICW_TEST_QDRANT_GRPC_PORT"
_START_SECONDS = 60


@dataclass(frozen=True, slots=True)
class QdrantServer:
    """``url`` is of the HTTP interface; gRPC answers on the same host."""

    url: str
    grpc_port: int

    def client(self, *, prefer_grpc: bool = False) -> QdrantClient:
        """Return a new client; the caller closes it."""
        # Imported by those who use it: every run of pytest loads this module.
        from qdrant_client import QdrantClient

        return QdrantClient(
            url=self.url, grpc_port=self.grpc_port, prefer_grpc=prefer_grpc, timeout=30, check_compatibility=False
        )


type QdrantProcess = ServerProcess[QdrantServer]


def parse(url: str) -> QdrantServer:
    """Read ``http://host:port``; the gRPC port is the environment's, or the usual one."""
    return QdrantServer(url, int(os.environ.get(_GRPC_PORT, "6334")))


def ping(server: QdrantServer) -> None:
    """Return if the server answers on both its interfaces; raise ``NotReady``."""
    try:
        httpx.get(f"{server.url}/readyz", timeout=10, trust_env=False).raise_for_status()
        socket.create_connection((urlsplit(server.url).hostname or "", server.grpc_port), timeout=10).close()
    except (httpx.HTTPError, OSError) as error:
        raise NotReady(str(error)) from error


def docker() -> QdrantProcess:
    http, grpc = free_port(), free_port()
    ports = {6333: http, 6334: grpc}
    settings = {"QDRANT__TELEMETRY_DISABLED": "true"}
    container = Container("VICW_TEST_QDRANT_IMAGE", IMAGE, _container, ports, settings)
    return started(QdrantServer(f"http://{container.host}:{http}", grpc), container, ping, within=_START_SECONDS)


def _container(image: str) -> QdrantContainer:
    from testcontainers.community.qdrant import QdrantContainer

    return QdrantContainer(image)


def local() -> QdrantProcess:
    """Start the binary that is named, or the one on PATH."""
    named = os.environ.get(_BINARY)
    binary = shutil.which(named or "qdrant")
    if binary is None:
        raise Unavailable(f"{_BINARY}: {named} is no program" if named else f"no qdrant on PATH, {_BINARY} is not set")
    directory = new_directory("qdrant")
    http, grpc = free_port(), free_port()
    settings = {
        "QDRANT__SERVICE__HOST": "127.0.0.1",
        "QDRANT__SERVICE__HTTP_PORT": str(http),
        "QDRANT__SERVICE__GRPC_PORT": str(grpc),
        "QDRANT__STORAGE__STORAGE_PATH": str(directory / "storage"),
        "QDRANT__STORAGE__SNAPSHOTS_PATH": str(directory / "snapshots"),
        "QDRANT__TELEMETRY_DISABLED": "true",
    }
    child = Child(directory, [binary], settings)
    return started(QdrantServer(f"http://127.0.0.1:{http}", grpc), child, ping, within=_START_SECONDS)


QDRANT = Kind("qdrant", "VICW_TEST_QDRANT_URL", parse, ping, [Source("Docker", docker), Source("binary", local)])
