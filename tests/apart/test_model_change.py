"""The model of the platform is changed while its services serve, and whoever does it may be killed."""

from __future__ import annotations

import asyncio
import itertools
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.models import tiny_gguf
from support.processes.platform import Platform, Service, bearer
from support.processes.server import VICW, eventually
from support.servers.machine import free_port
from support.servers.neo4j.server import Neo4jServer
from support.servers.qdrant import QdrantServer
from support.servers.redis import RedisServer
from support.stores.neo4j import empty_neo4j, open_neo4j
from vicw_shared.settings import QdrantSettings
from vicw_stores.qdrant import QdrantCollections, VectorCollection, connect

pytestmark = [pytest.mark.process, pytest.mark.timeout(900)]
MINILM, OTHER = "all-MiniLM-L6-v2", "other"
LOOK_SECONDS = "0.5"


class Changing(Platform):
    """The platform with a second embedding server, which has another model of another size."""

    other: Service

    def start(self, embedding_url: str | None = None) -> None:
        assert embedding_url is None
        model = tiny_gguf.encoder(self.directory / f"{OTHER}.gguf")
        self.variables |= {"VICW_REINDEX_POLL_SECONDS": LOOK_SECONDS, "VICW_INGEST_BATCH": "8"}
        # A busy machine is no reason to answer from less than everything.
        self.variables |= {"VICW_RETRIEVAL_GRAPH_MS": "30000", "VICW_RETRIEVAL_CHANNEL_MS": "30000"}
        self.other = self.add(
            "other", "vicw_embedding", VICW_PORT=str(free_port()), VICW_EMBEDDING_MODEL=str(model.path)
        ).start()
        self.embedding = self.add("embedding", "vicw_embedding", VICW_PORT=str(free_port())).start()
        self.variables["VICW_EMBEDDING_URL"] = f"{self.embedding.url}/v1, {self.other.url}/v1"
        self.ingest = self.add("ingest", "vicw_ingest", VICW_PORT=str(free_port())).start()
        self.retrieval = self.add("retrieval", "vicw_retrieval").start()

    def collections(self) -> dict[str, VectorCollection]:
        """Return the collections by the names of their models."""

        async def read() -> list[VectorCollection]:
            settings = QdrantSettings(url=self.variables["VICW_QDRANT_URL"], alias=self.variables["VICW_QDRANT_ALIAS"])
            client = connect(settings)
            try:
                return await QdrantCollections(client, settings.alias).all()
            finally:
                await client.close()

        return {each.model.name: each for each in asyncio.run(read())}

    def in_use(self) -> str:
        (current,) = [name for name, each in self.collections().items() if each.current]
        return current

    def embedded(self, service: Service) -> int:
        """Return how many texts an embedding server was sent in bulk."""
        headers = bearer(self.secret)
        told = httpx.get(f"{service.url}/metrics", headers=headers, trust_env=False, timeout=30).raise_for_status().text
        lines = [line for line in told.splitlines() if line.startswith("vicw_embedding_texts_total") and "bulk" in line]
        return int(float(lines[0].split()[-1])) if lines else 0

    def reindex(self, *arguments: str, **variables: str) -> subprocess.Popen[str]:
        """Start the command."""
        return subprocess.Popen(
            [str(VICW), "reindex", "--platform", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=self.variables | variables,
        )


@pytest.fixture
def changing(
    tmp_path: Path,
    models_dir: Path,
    neo4j_server: Neo4jServer,
    qdrant_server: QdrantServer,
    redis_server: RedisServer,
) -> Iterator[Changing]:
    empty_neo4j(neo4j_server)
    made = Changing(tmp_path, models_dir, neo4j_server, qdrant_server, redis_server)
    try:
        made.start()
        yield made
    finally:
        made.close()


def item(number: int) -> dict[str, Any]:
    return {"id": f"i{number}", "text": f"unique{number} the river of light and stone"}


class Client(threading.Thread):
    """Does one thing again and again until it is told to stop; a failure is raised then."""

    def __init__(self, platform: Changing, known: list[int]) -> None:
        super().__init__(daemon=True)
        self.platform, self.known = platform, known
        self.halt = threading.Event()
        self.failure: BaseException | None = None
        self.times = 0

    def run(self) -> None:
        try:
            while not self.halt.is_set():
                self.once(self.times)
                self.times += 1
        except BaseException as error:
            self.failure = error

    def once(self, number: int) -> None:
        raise NotImplementedError

    def finish(self) -> None:
        self.halt.set()
        self.join(120)
        if self.failure is not None:
            raise self.failure


class Writer(Client):
    """Remembers items, waiting for every second one, and edits one item all the while."""

    def once(self, number: int) -> None:
        wait = number % 2 == 0
        answer = self.platform.remember(item(1000 + number), wait=wait)
        assert answer.status_code == (201 if wait else 202), answer.text
        if wait:
            self.known.append(1000 + number)
        assert self.platform.remember({"id": "edited", "text": f"edition{number}"}, wait=False).status_code == 202


class Reader(Client):
    """Asks for items that were found before."""

    def once(self, number: int) -> None:
        wanted = self.known[number * 7 % len(self.known)]
        answer = self.platform.ask(f"unique{wanted}", channels=["bm25"], limit=3)
        assert answer.status_code == 200, answer.text
        body = answer.json()
        assert [result["id"] for result in body["results"]][:1] == [f"i{wanted}"], (wanted, body)
        newest = self.known[-1]
        answer = self.platform.ask(f"unique{newest} the river", limit=50)
        assert answer.status_code == 200, answer.text
        assert set(answer.json()["degraded"]) <= {"pending"}
        assert f"i{newest}" in [result["id"] for result in answer.json()["results"]]


def is_held(server: Neo4jServer) -> bool:
    """Tell whether the graph's record says that indexing rests."""

    async def read() -> bool:
        async with open_neo4j(server) as graph:
            change = (await graph.record.models()).change
            return change is not None and change.held_until > 0

    return asyncio.run(read())


def output_of(command: subprocess.Popen[str], within: float = 300) -> str:
    told, _ = command.communicate(timeout=within)
    assert command.returncode == 0, told
    return told


def test_the_model_is_changed_while_services_serve(changing: Changing) -> None:
    assert changing.remember(*(item(n) for n in range(200))).status_code == 201
    assert changing.in_use() == MINILM
    worker, beat = changing.worker().start(), changing.beat().start()
    known = list(range(200))
    clients = [Writer(changing, known), Reader(changing, known), Reader(changing, known)]
    for client in clients:
        client.start()
    time.sleep(2)
    told = output_of(changing.reindex("--model", OTHER))
    assert f"passages embedded with {OTHER}" in told
    time.sleep(3)
    for client in clients:
        client.finish()
    assert min(client.times for client in clients) > 5
    assert changing.in_use() == OTHER
    assert set(changing.collections()) == {MINILM, OTHER}, "the old one is kept"
    for service in (changing.ingest, changing.retrieval):
        assert "the model in use has changed" in service.log

    eventually(lambda: changing.vicw("check", "--platform").stdout, lambda said: ", 0 waiting" in said, 120, "all done")
    checked = changing.vicw("check", "--platform")
    assert (checked.returncode, checked.stdout.splitlines()[-1]) == (0, "clean"), checked.stdout + checked.stderr
    for number in itertools.chain(known, range(1001, 1000 + clients[0].times, 2)):
        assert changing.found(f"unique{number}", channels=["bm25"], limit=1) == [f"i{number}"]
    worker.kill()
    beat.kill()

    before = changing.embedded(changing.embedding)
    assert changing.remember(item(9000)).status_code == 201
    assert changing.embedded(changing.embedding) == before, "the old model has nothing to do any more"
    assert f"{OTHER} (1024-d" in changing.vicw("reindex", "--platform", "--status").stdout
    dropped = changing.vicw("reindex", "--platform", "--drop-old")
    assert MINILM in dropped.stdout, dropped.stderr
    assert set(changing.collections()) == {OTHER}
    assert changing.found("unique9000", channels=["bm25"], limit=1) == ["i9000"]


@pytest.mark.crash
def test_a_killed_reindex_keeps_the_old_index_and_continues(changing: Changing, neo4j_server: Neo4jServer) -> None:
    assert changing.remember(*(item(n) for n in range(400))).status_code == 201
    for kill_at in (1, 120, 260):
        command = changing.reindex(*(["--model", OTHER] if kill_at == 1 else []))
        eventually(lambda: changing.embedded(changing.other), lambda n, k=kill_at: n >= k, 60, "it embeds")  # type: ignore[misc]
        command.kill()
        command.communicate()
        assert changing.in_use() == MINILM
        assert changing.found("unique7", channels=["bm25"], limit=1) == ["i7"]
        answer = changing.remember(item(1000 + kill_at))
        assert answer.status_code == 201, "nobody writes to the index that is being filled"
    told = output_of(changing.reindex())
    assert f"embedded with {OTHER}" in told
    total = changing.embedded(changing.other)
    # What was under way at each kill: two batches of eight in the server.
    assert 403 <= total <= 403 + 3 * 16, "what was there is not embedded again"
    assert changing.in_use() == OTHER
    eventually(lambda: changing.found("unique1120", channels=["bm25"], limit=1), lambda f: f == ["i1120"], 30, "found")

    # Once more, killed while indexing rests, which ends by itself.
    command = changing.reindex("--model", MINILM)
    eventually(lambda: is_held(neo4j_server), bool, 120, "indexing rests")
    command.send_signal(signal.SIGKILL)
    command.communicate()
    assert changing.in_use() == OTHER
    # No worker runs here: what a request waits for is indexed by the service, once the pause is over.
    eventually(lambda: changing.remember(item(5000)).status_code, lambda status: status == 201, 120, "indexing goes on")
    assert changing.found("unique5000", channels=["bm25"], limit=1) == ["i5000"]
    output_of(changing.reindex())
    assert changing.in_use() == MINILM
    eventually(lambda: changing.found("unique5000", channels=["bm25"], limit=1), lambda f: f == ["i5000"], 30, "found")
    checked = changing.vicw("check", "--platform")
    assert checked.returncode == 0, checked.stdout


def test_services_switch_to_another_embedding_server_without_a_restart(changing: Changing) -> None:
    def moved(name: str, place: Service, **variables: str) -> Service:
        return changing.add(name, "vicw_embedding", VICW_PORT=place.url.rpartition(":")[2], **variables)

    def asked() -> tuple[list[str], list[str]]:
        body = changing.ask("unique7 the river").raise_for_status().json()
        return body["degraded"], sorted(result["id"] for result in body["results"])

    assert changing.remember(item(7)).status_code == 201
    changing.other.kill()
    second = moved("second", changing.other).start()
    changing.embedding.stop()
    assert changing.remember(item(8)).status_code == 201
    eventually(asked, lambda told: told == ([], ["i7", "i8"]), 30, "the other one embeds the question")

    first = moved("first", changing.embedding).start()
    second.kill()
    moved("second-other", second, VICW_EMBEDDING_MODEL=str(changing.directory / f"{OTHER}.gguf")).start()
    assert changing.remember(item(9)).status_code == 201
    eventually(asked, lambda told: told == ([], ["i7", "i8", "i9"]), 30, "the first one embeds the question")
    assert changing.embedded(first) == 1
    for service in (changing.ingest, changing.retrieval):
        assert service.log.count("turned to another embedding server") == 2


def test_a_service_without_a_server_of_the_new_model_reports_behind(changing: Changing) -> None:
    only_old = {"VICW_EMBEDDING_URL": f"{changing.embedding.url}/v1"}
    behind = changing.add("behind", "vicw_retrieval", **only_old).start()
    unable = changing.add("unable", "vicw_ingest", **only_old).start()
    assert changing.remember(*(item(n) for n in range(20))).status_code == 201
    refused = changing.vicw("reindex", "--platform", "--model", "no-such-model")
    assert refused.returncode == 1
    assert f"has {MINILM}" in refused.stderr
    assert f"has {OTHER}" in refused.stderr
    output_of(changing.reindex("--model", OTHER))

    def ready() -> dict[str, Any]:
        body: dict[str, Any] = httpx.get(f"{behind.url}/readyz", trust_env=False, timeout=30).json()
        return body

    told = eventually(ready, lambda body: "behind" in body, 30, "it says that it is behind")
    assert (told["status"], OTHER in told["behind"]) == ("ready", True)
    assert "VICW_EMBEDDING_URL" in behind.log
    body = {"query": "unique7", "channels": ["bm25"], "limit": 1}
    answer = httpx.post(f"{behind.url}/retrieve", json=body, trust_env=False, timeout=30).raise_for_status()
    assert [result["id"] for result in answer.json()["results"]] == ["i7"]
    stored = httpx.post(f"{unable.url}/ingest", json={"context": "c", "items": [item(99)]}, trust_env=False, timeout=30)
    assert (stored.status_code, "VICW_EMBEDDING_URL" in stored.json()["detail"]) == (503, True)

    late = changing.add("late", "vicw_retrieval", **only_old)
    with pytest.raises(AssertionError, match="vicw reindex --platform --model"):
        late.start()
