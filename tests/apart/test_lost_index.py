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
from vicw_shared.settings import QdrantSettings
from vicw_stores.qdrant import QdrantCollections, connect

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
        assert ask_for(made, "heron")["degraded"] == []
        yield made


def ask_for(platform: Platform, animal: str, **fields: Any) -> dict[str, Any]:
    """Ask for an animal, which has to be found; return the answer."""
    answer: dict[str, Any] = platform.ask(animal, **fields).raise_for_status().json()
    assert [result["id"] for result in answer["results"]][:1] == [animal], answer["degraded"]
    return answer


def degraded_of_all(platform: Platform) -> set[tuple[str, ...]]:
    """Ask for every animal; return what answers did without."""
    return {tuple(sorted(ask_for(platform, animal)["degraded"])) for animal in ANIMALS}


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


def get_readiness(service: Service) -> dict[str, Any]:
    told: dict[str, Any] = httpx.get(f"{service.url}/readyz", timeout=30, trust_env=False).json()
    return told


def require_rebuilt(platform: Platform) -> None:
    eventually(lambda: degraded_of_all(platform), lambda left_out: left_out == {()}, 120, "nothing is left out")
    assert {hit["channel"] for hit in ask_for(platform, "otter")["results"][0]["channels"]} == {"dense", "bm25"}
    assert "rebuilding" not in get_readiness(platform.retrieval)
    eventually(
        lambda: get_readiness(platform.ingest), lambda told: "rebuilding" not in told, 10, "ingest has heard of it"
    )
    checked = platform.vicw("check", "--platform")
    assert (checked.returncode, ", 0 waiting" in checked.stdout) == (0, True), checked.stdout + checked.stderr


def test_a_collection_lost_while_stopped_is_rebuilt_and_answers_are_degraded(stored: Platform) -> None:
    for service in (stored.ingest, stored.retrieval):
        service.stop()
    lose_collection(stored)
    for service in (stored.retrieval, stored.ingest):
        service.start()
    assert degraded_of_all(stored) == {LEFT_OUT}
    assert (get_readiness(stored.retrieval)["status"], "rebuilding" in get_readiness(stored.retrieval)) == (
        "ready",
        True,
    )
    insisting = stored.ask("heron", channels=["bm25"]).json()
    assert (insisting["results"], insisting["degraded"]) == ([], ["bm25"])
    assert stored.remember({"id": "seal", "text": "A seal swam by."}).status_code == 201
    assert stored.found("seal", limit=1) == ["seal"]

    stored.sleeper().start()
    stored.beat().start()
    eventually(
        lambda: get_readiness(stored.ingest)["passages_waiting"], lambda n: n == len(ANIMALS), 60, "all are queued"
    )
    assert degraded_of_all(stored) == {LEFT_OUT}, "no worker embeds yet"
    stored.worker().start()
    require_rebuilt(stored)


def test_a_collection_lost_while_services_run_is_rebuilt(stored: Platform) -> None:
    running = [stored.sleeper().start(), stored.beat().start(), stored.worker().start()]
    lose_collection(stored)
    assert degraded_of_all(stored) == {LEFT_OUT}
    eventually(lambda: "rebuilding" in get_readiness(stored.ingest), bool, 60, "it is marked")
    require_rebuilt(stored)
    assert all(service.running() for service in running)
    assert stored.remember({"id": "seal", "text": "A seal swam by."}).status_code == 201
    assert stored.found("seal", limit=1) == ["seal"]
