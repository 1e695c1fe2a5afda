"""Redis: a job queue that must not lose what it has acknowledged."""

from __future__ import annotations

import secrets
import shutil
from dataclasses import dataclass, field

import redis

from servers.machine import Child, free_port, new_directory
from servers.process import ServerProcess
from servers.run import Kind
from servers.sources import NotReady, Source, Unavailable


@dataclass(frozen=True, slots=True)
class RedisServer:
    """``url`` has the password, as every client takes it; database 0."""

    url: str = field(repr=False)

    def client(self, database: int = 0) -> redis.Redis:
        """Return a client that gives strings; the caller closes it."""
        return redis.Redis.from_url(self.url, db=database, decode_responses=True, socket_timeout=10)


type RedisProcess = ServerProcess[RedisServer]


def ping(server: RedisServer) -> None:
    """Return if the server answers its client; raise ``NotReady``."""
    with server.client() as client:
        try:
            client.ping()
        except redis.RedisError as error:
            raise NotReady(str(error)) from error


def local() -> RedisProcess:
    """Start ``redis-server`` from PATH; every acknowledged write is on disk."""
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
    server = RedisServer(f"redis://:{password}@127.0.0.1:{port}/0")
    process = ServerProcess(server, Child(directory, [binary, settings]), ping, within=20)
    process.start()
    return process


REDIS = Kind("redis", "VICW_TEST_REDIS_URL", RedisServer, ping, own=[Source("redis-server", local)])
