"""Maven is asked once a machine, and a fetch that failed leaves nothing that looks whole."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from support.servers.neo4j.jars import jars, version
from support.servers.sources import Unavailable

pytestmark = pytest.mark.process
FETCHES = """#!/bin/sh
for word; do case "$word" in -DoutputDirectory=*) folder="${word#*=}";; esac; done
mkdir -p "$folder" && touch "$folder/neo4j.jar"
"""


@pytest.fixture
def maven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in for Maven, to be written."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    program = tmp_path / "mvn"
    program.touch(0o755)
    return program


def test_the_neo4j_jars_are_fetched_once(maven: Path, tmp_path: Path) -> None:
    maven.write_text(FETCHES)
    folder = jars()
    assert folder == tmp_path / "cache" / "vicw" / f"neo4j-{version()}"
    assert [jar.name for jar in folder.iterdir()] == ["neo4j.jar"]
    maven.write_text("#!/bin/sh\nexit 1\n")
    assert jars() == folder


def test_a_failed_fetch_of_the_jars_is_reported_and_retried(maven: Path) -> None:
    maven.write_text(FETCHES + "echo 'no such artifact'\nexit 1\n")
    with pytest.raises(Unavailable, match="Maven could not fetch Neo4j:\nno such artifact"):
        jars()
    maven.write_text(FETCHES)
    assert jars().is_dir()


def test_without_maven_the_jars_are_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unavailable, match="no mvn on PATH"):
        jars()
