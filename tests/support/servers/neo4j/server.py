"""Neo4j Community: one database a server, so tests keep apart by tenant or empty it between them."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from support.servers.container import Container
from support.servers.machine import Child, free_port, new_directory
from support.servers.neo4j.jars import jars
from support.servers.process import ServerProcess, started
from support.servers.run import Kind
from support.servers.sources import NotReady, Source, Unavailable

if TYPE_CHECKING:
    from neo4j import Driver
    from testcontainers.community.neo4j import Neo4jContainer

IMAGE = "neo4j:5.26.28-community"
_FIRST_PASSWORD = "neo4j"
_START_SECONDS = 150.0
_JAVA = 17

_SETTINGS = """
server.bolt.listen_address=127.0.0.1:{port}
server.http.enabled=false
server.memory.pagecache.size={page_cache}
dbms.usage_report.enabled=false
# Else each database takes 256 MiB of disk for a log of a few kilobytes.
db.tx_log.preallocate=false
# Between tests the store is emptied, and a planner that looks every 10 seconds would plan all queries anew each time.
dbms.cypher.min_replan_interval=5m
"""
# Up in half the time: the servers of tests do not live long enough to gain from more.
# With one compiler alone Java keeps room for 48 MB of code, which the planner by itself nearly fills; once it is full,
# nothing more is compiled.
_SHORT_LIVED = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:ReservedCodeCacheSize=240m", "-XX:-UsePerfData")
_OPTIONS = [
    "-Xmx512m",
    *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in ("java.nio", "java.io", "sun.nio.ch")),
]


@dataclass(frozen=True, slots=True)
class Neo4jServer:
    """``url`` is of the bolt scheme and has no user or password in it."""

    url: str
    user: str
    password: str = field(repr=False)

    def driver(self) -> Driver:
        """Return a new driver; the caller closes it."""
        # Imported by those who use it: every run of pytest loads this module.
        from neo4j import GraphDatabase

        return GraphDatabase.driver(self.url, auth=(self.user, self.password), connection_timeout=10)


type Neo4jProcess = ServerProcess[Neo4jServer]


def ping(server: Neo4jServer) -> None:
    """Return if the server answers its driver; raise ``NotReady``."""
    _run(server, "neo4j", "RETURN 1")


def parse(url: str) -> Neo4jServer:
    """Read ``bolt://user:password@host:port``."""
    parts = urlsplit(url)
    address = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
    return Neo4jServer(address, unquote(parts.username or "neo4j"), unquote(parts.password or ""))


def docker() -> Neo4jProcess:
    port, password = free_port(), secrets.token_urlsafe(16)
    settings = {
        "NEO4J_server_memory_heap_max__size": "512m",
        "NEO4J_server_memory_pagecache_size": "64m",
        "NEO4J_dbms_usage__report_enabled": "false",
    }
    # One that was killed left its process id there, and another process may have it at the next start.
    make = partial(_container, password)
    fleeting = ["/var/lib/neo4j/run"]
    container = Container("VICW_TEST_NEO4J_IMAGE", IMAGE, make, {7687: port}, settings, fleeting)
    server = Neo4jServer(f"bolt://{container.host}:{port}", "neo4j", password)
    return started(server, container, ping, within=_START_SECONDS)


def _container(password: str, image: str) -> Neo4jContainer:
    from testcontainers.community.neo4j import Neo4jContainer

    return Neo4jContainer(image, password=password)


def local(options: Sequence[str] = _SHORT_LIVED, page_cache: str = "64m") -> Neo4jProcess:
    """Start the jars that Maven fetches, with a password of this server's own; ``options`` are Java's."""
    java = _java()
    classes = jars()
    home = new_directory("neo4j")
    port = free_port()
    (home / "conf").mkdir()
    (home / "conf" / "neo4j.conf").write_text(_SETTINGS.format(port=port, page_cache=page_cache))
    main = ["org.neo4j.server.CommunityEntryPoint", f"--home-dir={home}", f"--config-dir={home / 'conf'}"]
    server = Neo4jServer(f"bolt://127.0.0.1:{port}", "neo4j", secrets.token_urlsafe(16))
    child = Child(home, [java, *_OPTIONS, *options, "-cp", f"{classes}/*", *main])
    return started(server, child, ping, _set_password, within=_START_SECONDS)


def _set_password(server: Neo4jServer) -> None:
    first = replace(server, password=_FIRST_PASSWORD)
    _run(
        first,
        "system",
        "ALTER CURRENT USER SET PASSWORD FROM $old TO $new",
        old=_FIRST_PASSWORD,
        new=server.password,
    )


def _run(server: Neo4jServer, database: str, query: str, **values: str) -> None:
    from neo4j import Query
    from neo4j.exceptions import DriverError, Neo4jError

    with server.driver() as driver:
        try:
            # Not `execute_query`: it tries again for 30 seconds.
            with driver.session(database=database) as session:
                session.run(Query(query), values).consume()
        except (DriverError, Neo4jError) as error:
            raise NotReady(str(error)) from error


def _java() -> Path:
    home = os.environ.get("JAVA_HOME")
    java = shutil.which(f"{home}/bin/java") if home else shutil.which("java")
    if java is None:
        raise Unavailable(f"no Java on PATH (Debian, Ubuntu: apt install openjdk-{_JAVA}-jre-headless)")
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "(\d+)', said)
    if found is None or int(found[1]) < _JAVA:
        raise Unavailable(f"Neo4j needs Java {_JAVA} or later; {java} is:\n{said}")
    return Path(java)


NEO4J = Kind("neo4j", "VICW_TEST_NEO4J_URL", parse, ping, [Source("Docker", docker), Source("jars", local)])
