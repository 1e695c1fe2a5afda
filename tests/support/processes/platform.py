"""The platform's services as processes of their own, over real servers."""

from __future__ import annotations

import json
import os
import re
import secrets
import signal
import subprocess
import sys
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx

from support.processes.server import VICW, environment, eventually
from support.servers.machine import free_port
from support.servers.neo4j.server import Neo4jServer
from support.servers.qdrant import QdrantServer
from support.servers.redis import RedisServer
from vicw_runtime.queue.celery_queue import make_celery
from vicw_shared.settings import RedisSettings
from vicw_sleep.schedule.job_lock import key_of

START_SECONDS = 90.0
WORKER = ("celery", "-A", "vicw_ingest.worker", "worker", "-Q", "ingest", "-l", "info")
SLEEPER = ("celery", "-A", "vicw_sleep.worker", "worker", "-Q", "sleep")
_WAITS = re.compile("(worker waits for tasks|beat waits for its lock)")
_ANSWERS = re.compile(r"(?:answers on|vicw-embedding ready) (http://\S+)")


class Service:
    """One process. It may be killed and started again; with ``port`` it keeps its address."""

    def __init__(self, directory: Path, name: str, command: Sequence[str], variables: Mapping[str, str]) -> None:
        self.name = name
        self.log_path = directory / f"{name}-{uuid.uuid4().hex[:6]}.log"
        self.url = ""
        self._command = [sys.executable, "-m", *command]
        self._environment = dict(variables)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def log(self) -> str:
        return self.log_path.read_text("utf-8", "replace") if self.log_path.exists() else ""

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> Service:
        """Start and return when it answers; a worker, when it waits for tasks."""
        before = len(self.log)
        with self.log_path.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=self._environment,
                start_new_session=True,  # a worker's children die with it, see ``kill``
            )

        def ready() -> re.Match[str] | None:
            assert self._process is not None
            ended = self._process.poll()
            assert ended is None, f"{self.name} ended with {ended}:\n{self.log[-4000:]}"
            return _ANSWERS.search(self.log, before) or _WAITS.search(self.log, before)

        found = eventually(ready, bool, START_SECONDS, f"{self.name} starts")
        assert found is not None
        if found[1].startswith("http"):
            self.url = found[1].replace("0.0.0.0", "127.0.0.1")
        return self

    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def kill(self) -> None:
        """``kill -9`` of the process and its children; one that is gone stays gone."""
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(10)

    def stop(self, within: float = 15.0) -> int:
        """Send SIGTERM; return the exit code."""
        assert self._process is not None
        self._process.terminate()
        return self._process.wait(within)


class Platform:
    """Everything around three engines: an embedder, ingest, its worker, retrieval; more of each on demand."""

    def __init__(
        self,
        directory: Path,
        models_dir: Path,
        neo4j: Neo4jServer,
        qdrant: QdrantServer,
        redis: RedisServer,
        *,
        deployed: bool = False,
    ) -> None:
        """``deployed``: all listen where others can reach them, and ask for a key, which is made at the start."""
        self.directory = directory
        self.secret = secrets.token_urlsafe()
        self.headers: dict[str, str] = {}
        self._deployed = deployed
        host = qdrant.url.rpartition(":")[0]
        self.variables = environment(
            models_dir,
            VICW_NEO4J_URL=neo4j.url,
            VICW_NEO4J_USER=neo4j.user,
            VICW_NEO4J_PASSWORD=neo4j.password,
            VICW_QDRANT_URL=f"{host}:{qdrant.grpc_port}",
            VICW_QDRANT_ALIAS=f"test-{uuid.uuid4().hex[:8]}",
            VICW_REDIS_URL=redis.database(1),
            VICW_REDIS_POLL_SECONDS="2",
            VICW_INGEST_WAIT_SECONDS="30",
            VICW_INGEST_BATCH="16",
            VICW_EMBEDDING_API_KEY=self.secret,
        )
        if deployed:
            self.variables["VICW_HOST"] = "0.0.0.0"
        self.made: list[Service] = []
        self.embedding: Service
        self.ingest: Service
        self.retrieval: Service

    def start(self, embedding_url: str | None = None) -> None:
        """Start one of each; no embedder where there is another one."""
        # On ports of their own choice they would come back elsewhere after a kill.
        if embedding_url is None:
            self.embedding = self.add("embedding", "vicw_embedding", VICW_PORT=str(free_port())).start()
            embedding_url = f"{self.embedding.url}/v1"
        self.variables["VICW_EMBEDDING_URL"] = embedding_url
        self.ingest = self.add("ingest", "vicw_ingest", VICW_PORT=str(free_port())).start()
        self.retrieval = self.add("retrieval", "vicw_retrieval", VICW_MCP_INGEST_URL=self.ingest.url).start()
        if self._deployed:
            self.headers = bearer(self.key())

    def add(self, name: str, *command: str, **variables: str) -> Service:
        """Return a further service, which is not started yet."""
        service = Service(self.directory, name, command, self.variables | {"VICW_PORT": "0"} | variables)
        self.made.append(service)
        return service

    def worker(self, **variables: str) -> Service:
        """Return an ingest worker, which is not started yet."""
        return self.add("worker", *WORKER, **variables)

    def sleeper(self, **variables: str) -> Service:
        """Return a sleep worker, which is not started yet."""
        return self.add("sleeper", *SLEEPER, **variables)

    def beat(self, **variables: str) -> Service:
        """Return a clock, which is not started yet."""
        return self.add("beat", "vicw_sleep.beat", **variables)

    def vicw(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the command to its end."""
        return subprocess.run(
            [str(VICW), *arguments], capture_output=True, text=True, env=self.variables, timeout=90, check=False
        )

    def slept(self) -> list[dict[str, Any]]:
        """Return the steps of the sleep cycle's log."""
        done = self.vicw("sleep", "log", "--platform", "--json", "--limit", "1000")
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    def key(self, *options: str) -> str:
        """Make a key."""
        made = self.vicw("keys", "create", "--platform", *options)
        assert made.returncode == 0, made.stderr
        return made.stdout.strip()

    def remember(self, *items: dict[str, Any], context: str = "c", **fields: Any) -> httpx.Response:
        body = {"context": context, "items": items, **fields}
        return httpx.post(f"{self.ingest.url}/ingest", json=body, headers=self.headers, timeout=90, trust_env=False)

    def ask(self, query: str, **fields: Any) -> httpx.Response:
        body = {"query": query, **fields}
        url = f"{self.retrieval.url}/retrieve"
        return httpx.post(url, json=body, headers=self.headers, timeout=90, trust_env=False)

    def found(self, query: str, **fields: Any) -> list[str]:
        return [result["id"] for result in self.ask(query, **fields).raise_for_status().json()["results"]]

    def job(self, job: str) -> dict[str, Any]:
        url = f"{self.ingest.url}/ingest/jobs/{job}"
        answer = httpx.get(url, headers=self.headers, timeout=30, trust_env=False)
        status: dict[str, Any] = answer.raise_for_status().json()
        return status

    def close(self) -> None:
        """Kill whatever runs."""
        for service in self.made:
            service.kill()


def bearer(token: str) -> dict[str, str]:
    """Return the header of a request with a key, or a secret."""
    return {"Authorization": f"Bearer {token}"}


def send_anew(redis: RedisServer, task: str) -> None:
    """Send a task as the clock does. The key of a killed chain would hold the next up for a quarter of an hour."""
    with redis.client(1) as client:
        client.delete(key_of(task))
    send(redis, task)


def send(redis: RedisServer, task: str) -> None:
    """Send a task as the clock does; while its chain is under way it does nothing."""
    app = make_celery("test", RedisSettings.model_validate({"url": redis.database(1)}))
    app.send_task(task)
    app.close()
