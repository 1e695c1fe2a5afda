from __future__ import annotations

import subprocess
from pathlib import Path

COMPOSE = Path(__file__).parents[3] / "deploy/compose.sh"
_DOCKER = """#!/bin/sh
case "$*" in
  *"ps -a --services") echo ingest; echo neo4j ;;
  *"ps -aq ingest") echo one; echo two ;;
  *"ps -aq neo4j") echo one ;;
  *) echo "$@" ;;
esac
"""


def _said(tmp_path: Path, line: str) -> str:
    docker = tmp_path / "docker"
    docker.write_text(_DOCKER)
    docker.chmod(0o755)
    done = subprocess.run(
        ["bash", "-euc", f"source {COMPOSE}; {line}"],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_everything_is_started_in_as_many_copies_as_there_were(tmp_path: Path) -> None:
    assert _said(tmp_path, "up_all --no-build") == "compose up -d --wait --no-recreate --scale ingest=2 --no-build"


def test_nothing_is_scaled_but_what_is_started(tmp_path: Path) -> None:
    assert _said(tmp_path, "up neo4j") == "compose up -d --wait --no-recreate neo4j"
