"""The collection of the platform is lost: answers say so, find everything by words, and all comes back by itself."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from apart.conftest import Prepared
from support.processes.platform import Platform, Service
from support.processes.server import eventually
from vicw_shared.adapters.qdrant import QdrantCollections, connect
from vicw_shared.settings import QdrantSettings

pytestmark = [pytest.mark.process, pytest.mark.timeout(600)]
ANIMALS = ("heron", "otter", "badger", "lynx", "walrus", "marten", "plover", "weasel", "gannet", "beaver")
LEFT_OUT = ("bm25", "dense")


@pytest.fixture
def stored(prepared: Prepared, models_dir: Path) -> Iterator[Platform]:
    """A platform with ten animals, without workers."""
    with prepared(models_dir) as made:
        made.variables |= {"VICW_REINDEX_POLL_SECONDS": "0.5", "VICW_SLEEP_POLL_SECONDS": "2"}
        # A busy machine is no reason to leave anything out.
        made.variables |= {"VICW_RETRIEVAL_GRAPH_MS": "30000", "VICW_RETRIEVAL_CHANNEL_MS": "30000"}
        made.start()
        items = [{"id": animal, "text": f"A {animal} was seen in the harbour."} for animal in ANIMALS]
        assert made.remember(*items).status_code == 201
        assert asked(made, "heron")["degraded"] == []
        yield made


def asked(platform: Platform, animal: str, **fields: Any) -> dict[str, Any]:
    """Ask for an animal, which has to be found; return the answer."""
    answer: dict[str, Any] = platform.ask(animal, **fields).raise_for_status().json()
    assert [result["id"] for result in answer["results"]][:1] == [animal], answer["degraded"]
    return answer


def all_asked(platform: Platform) -> set[tuple[str, ...]]:
    """Ask for every animal; return what answers did without."""
    return {tuple(sorted(asked(platform, animal)["degraded"])) for animal in ANIMALS}


def lose_collection(platform: Platform) -> None:
    async def delete() -> None:
        variables = platform.variables
        settings = QdrantSettings(url=variables["VICW_QDRANT_URL"], alias=variables["VICW_QDRANT_ALIAS"])
        client = connect(settings)
        current = await QdrantCollections(client, settings.alias).current()
        assert current is not None
        await client.delete_collection(current.name)
        await client.close()

    asyncio.run(delete())


def ready(service: Service) -> dict[str, Any]:
    told: dict[str, Any] = httpx.get(f"{service.url}/readyz", timeout=30, trust_env=False).json()
    return told


def require_whole(platform: Platform) -> None:
    eventually(lambda: all_asked(platform), lambda left_out: left_out == {()}, 120, "nothing is left out")
    assert {hit["channel"] for hit in asked(platform, "otter")["results"][0]["channels"]} == {"dense", "bm25"}
    assert "rebuilding" not in ready(platform.retrieval)
    eventually(lambda: ready(platform.ingest), lambda told: "rebuilding" not in told, 10, "ingest has heard of it")
    checked = platform.vicw("check", "--platform")
    assert (checked.returncode, ", 0 waiting" in checked.stdout) == (0, True), checked.stdout + checked.stderr


def test_what_was_lost_while_nothing_ran_is_rebuilt_and_answers_say_so(stored: Platform) -> None:
    for service in (stored.ingest, stored.retrieval):
        service.stop()
    lose_collection(stored)
    for service in (stored.retrieval, stored.ingest):
        service.start()
    assert all_asked(stored) == {LEFT_OUT}
    assert (ready(stored.retrieval)["status"], "rebuilding" in ready(stored.retrieval)) == ("ready", True)
    insisting = stored.ask("heron", channels=["bm25"]).json()
    assert (insisting["results"], insisting["degraded"]) == ([], ["bm25"])
    assert stored.remember({"id": "seal", "text": "A seal swam by."}).status_code == 201
    assert stored.found("seal", limit=1) == ["seal"]

    stored.sleeper().start()
    stored.beat().start()
    eventually(lambda: ready(stored.ingest)["passages_waiting"], lambda n: n == len(ANIMALS), 60, "all are queued")
    assert all_asked(stored) == {LEFT_OUT}, "nobody embeds yet"
    stored.worker().start()
    require_whole(stored)


def test_what_is_lost_while_all_runs_comes_back_by_itself(stored: Platform) -> None:
    running = [stored.sleeper().start(), stored.beat().start(), stored.worker().start()]
    lose_collection(stored)
    assert all_asked(stored) == {LEFT_OUT}
    eventually(lambda: "rebuilding" in ready(stored.ingest), bool, 60, "it is marked")
    require_whole(stored)
    assert all(service.running() for service in running)
    assert stored.remember({"id": "seal", "text": "A seal swam by."}).status_code == 201
    assert stored.found("seal", limit=1) == ["seal"]
