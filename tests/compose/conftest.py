"""The platform in containers, as a user starts it; `make test-compose` runs these tests, nothing else does."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import httpx
import pytest

from support.servers.machine import free_port

ROOT = Path(__file__).parents[2]
_CONTEXT = "containers"


class Compose:
    """A project of docker compose with volumes and ports of its own."""

    def __init__(self, name: str) -> None:
        self.ingest, self.retrieval = free_port(), free_port()
        self.seconds = 0.0
        self.variables = os.environ | {
            "COMPOSE_PROJECT_NAME": name,
            "INGEST_PORT": str(self.ingest),
            "RETRIEVAL_PORT": str(self.retrieval),
            "VICW_YES": "1",
        }

    def __call__(self, *arguments: str, within: float = 300, stdin: str | None = None) -> str:
        """Run ``docker compose ARGUMENTS``; return what it printed."""
        return self.run(["docker", "compose", *arguments], within=within, stdin=stdin)

    def run(self, command: Sequence[str], *, within: float = 300, stdin: str | None = None) -> str:
        """Run a command that finds this project; return what it printed."""
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=self.variables,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=within,
            check=False,
        )
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
        return done.stdout

    def up(self) -> None:
        """Start everything; return when all is healthy."""
        began = time.monotonic()
        self("up", "-d", "--wait", within=900)
        self.seconds = time.monotonic() - began

    def states(self) -> dict[str, str]:
        """Return the health of each service that runs; its state where it has none."""
        lines = [json.loads(line) for line in self("ps", "-a", "--format", "json").splitlines()]
        return {each["Service"]: each["Health"] or f"{each['State']} {each['ExitCode']}" for each in lines}

    def container(self, service: str) -> str:
        """Return the id of a service's container."""
        return self("ps", "-q", service).strip()

    def key(self, *options: str) -> str:
        """Make a key."""
        return self("run", "--rm", "-T", "vicw", "keys", "create", "--platform", *options).strip()

    def ingest_url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.ingest}{path}"

    def ask(self, key: str | None, query: str) -> httpx.Response:
        """Ask about what ``remember`` has stored."""
        return httpx.post(
            f"http://127.0.0.1:{self.retrieval}/retrieve",
            json={"query": query, "context": _CONTEXT},
            headers={"authorization": f"Bearer {key}"} if key else {},
            timeout=60,
            trust_env=False,
        )

    def remember(self, key: str | None, *items: dict[str, object]) -> httpx.Response:
        """Store items."""
        return httpx.post(
            self.ingest_url("/ingest"),
            json={"context": _CONTEXT, "items": list(items)},
            headers={"authorization": f"Bearer {key}"} if key else {},
            timeout=120,
            trust_env=False,
        )


@pytest.fixture(scope="session")
def compose() -> Iterator[Compose]:
    """The platform, built and healthy, on empty volumes."""
    if "VICW_TEST_COMPOSE" not in os.environ:
        pytest.skip("`make test-compose` runs it: it builds the images, which takes a while")
    if shutil.which("docker") is None:
        pytest.fail("docker is not installed")
    project = Compose("vicw-test")
    project("build", within=3600)
    project("down", "--volumes", "--remove-orphans")
    try:
        project.up()
        yield project
    finally:
        print(project("logs", "--no-color", "--tail", "30"))
        project("down", "--volumes", "--remove-orphans")
