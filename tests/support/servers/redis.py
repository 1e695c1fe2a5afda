"""Redis: a job queue that must not lose what it has acknowledged."""

from __future__ import annotations

import secrets
import shutil
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import redis

from support.servers.container import Container
from support.servers.machine import Child, free_port, new_directory
from support.servers.process import ServerProcess, started
from support.servers.run import Kind
from support.servers.sources import NotReady, Source, Unavailable

if TYPE_CHECKING:
    from testcontainers.community.redis import RedisContainer

IMAGE = "redis:7-alpine"
_START_SECONDS = 30


@dataclass(frozen=True, slots=True)
class RedisServer:
    """``url`` has the password, as every client takes it, and no database."""

    url: str = field(repr=False)

    def database(self, number: int) -> str:
        """Return the URL of one of the databases 0 to 15."""
        return f"{self.url}/{number}"

    def client(self, database: int = 0) -> redis.Redis:
        """Return a client that gives strings; the caller closes it."""
        return redis.Redis.from_url(self.url, db=database, decode_responses=True, socket_timeout=10)


type RedisProcess = ServerProcess[RedisServer]


def parse(url: str) -> RedisServer:
    """Read ``redis://user:password@host:port``; a database in it is left out."""
    return RedisServer(urlsplit(url)._replace(path="").geturl())


def ping(server: RedisServer) -> None:
    """Return if the server answers its client; raise ``NotReady``."""
    with server.client() as client:
        try:
            client.ping()
        except redis.RedisError as error:
            raise NotReady(str(error)) from error


def docker() -> RedisProcess:
    port, password = free_port(), secrets.token_urlsafe(16)
    container = Container("VICW_TEST_REDIS_IMAGE", IMAGE, partial(_container, password), {6379: port})
    server = RedisServer(f"redis://:{password}@{container.host}:{port}")
    return started(server, container, ping, within=_START_SECONDS)


def _container(password: str, image: str) -> RedisContainer:
    from testcontainers.community.redis import RedisContainer

    durable = ["--appendonly", "yes", "--appendfsync", "always", "--save", ""]
    command = ["redis-server", *durable, "--requirepass", password]
    return RedisContainer(image, password=password).with_command(command)


def local() -> RedisProcess:
    """Start ``redis-server`` from PATH; every write is on disk before it is acknowledged."""
    binary = shutil.which("redis-server")
    if binary is None:
        raise Unavailable("no redis-server on PATH (Debian, Ubuntu: apt install redis-server)")
    directory = new_directory("redis")
    port, password = free_port(), secrets.token_urlsafe(16)
    # In a file, for a command line is everyone's to read.
    settings = directory / "redis.conf"
    settings.write_text(
        f"bind 127.0.0.1\nport {port}\nrequirepass {password}\ndir {directory}\n"
        'appendonly yes\nappendfsync always\nsave ""\n'
    )
    server = RedisServer(f"redis://:{password}@127.0.0.1:{port}")
    return started(server, Child(directory, [binary, settings]), ping, within=_START_SECONDS)


REDIS = Kind("redis", "VICW_TEST_REDIS_URL", parse, ping, [Source("Docker", docker), Source("redis-server", local)])
