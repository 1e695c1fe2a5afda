"""Neo4j Community as jars, collected by Maven once a machine."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from xml.etree import ElementTree

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
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "vicw"
    folder = cache / f"neo4j-{version()}"
    if folder.is_dir():
        return folder
    cache.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".lock").open("w") as lock:
        # Runs that start together fetch once; the folder gets its name when it is whole.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            with tempfile.TemporaryDirectory(dir=cache, prefix=".neo4j-") as aside:
                _fetch(Path(aside) / "jars")
                (Path(aside) / "jars").rename(folder)
    return folder


def _fetch(folder: Path) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise Unavailable("no mvn on PATH to fetch Neo4j with (Debian, Ubuntu: apt install maven)")
    command = [maven, "-B", "-q", "-f", str(POM), "dependency:copy-dependencies"]
    options = ["-DincludeScope=runtime", f"-DoutputDirectory={folder}"]
    try:
        run = subprocess.run(
            [*command, *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_FETCH_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise Unavailable(f"Maven had not fetched Neo4j within {_FETCH_SECONDS} s") from error
    if run.returncode != 0:
        raise Unavailable(f"Maven could not fetch Neo4j:\n{run.stdout[-3000:]}")
