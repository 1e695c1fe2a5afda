"""What a command with `--platform` says where an engine does not answer."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


@pytest.mark.process
@pytest.mark.parametrize(
    ("command", "code"),
    [("keys list", 1), ("jobs list", 1), ("check", 2), ("reindex --status", 1)],
)
@pytest.mark.parametrize("server", ["bolt://127.0.0.1:9", "bolt://neo4j.invalid:7687"])
def test_an_unreachable_neo4j_is_reported_in_one_line_with_its_setting(command: str, code: int, server: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from vicw_standalone.cli import main; main()", *command.split(), "--platform"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": ":".join(sys.path),
            "VICW_NEO4J_URL": server,
            "VICW_NEO4J_RETRY_SECONDS": "0.2",
            "VICW_EMBEDDING_URL": "http://127.0.0.1:9/v1",
        },
    )
    assert done.returncode == code
    (line,) = done.stderr.splitlines()
    assert f"Neo4j does not answer at {server} (VICW_NEO4J_URL)" in line
    assert "`docker compose up -d`" in line
