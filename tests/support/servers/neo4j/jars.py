"""Neo4j Community as jars, collected by Maven once a machine."""

from __future__ import annotations

import shutil
from pathlib import Path
from xml.etree import ElementTree

from support.servers.fetched import fetched, have_fetched
from support.servers.sources import Unavailable

POM = Path(__file__).with_name("pom.xml")
_FETCH_SECONDS = 900


def version() -> str:
    """Return the version that the pom pins."""
    found = ElementTree.parse(POM).findtext(".//{*}neo4j.version")
    assert found is not None
    return found


def jars() -> Path:
    """Return the folder of the jars; have Maven fetch them if this machine has none."""
    return fetched(f"neo4j-{version()}", _fetch)


def _fetch(folder: Path) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise Unavailable("no mvn on PATH to fetch Neo4j with (Debian, Ubuntu: apt install maven)")
    command = [maven, "-B", "-q", "-f", str(POM), "dependency:copy-dependencies"]
    options = ["-DincludeScope=runtime", f"-DoutputDirectory={folder}"]
    have_fetched([*command, *options], "Maven", "Neo4j", _FETCH_SECONDS)
