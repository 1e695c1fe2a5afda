"""A language model beside the platform's services: its own worker, killed while it reads; who waits needs none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from apart.conftest import Prepared
from support.fakes.chat_server import Chat, extraction_json, serve_chat_in_thread
from support.processes.platform import Platform
from support.processes.server import eventually

pytestmark = [pytest.mark.servers, pytest.mark.process]
READER = ("celery", "-A", "vicw_ingest.worker", "worker", "-Q", "extract", "-l", "info")
ITEM = {"id": "x", "text": "Mara took the amulet. So Edran rode north, because the vault was open."}
GOOD = extraction_json(
    entities=[{"id": "e1", "name": "Mara", "subtype": "thief"}],
    events=[{"id": "v1", "name": "Mara steals the amulet", "quote": "Mara took the amulet"}],
    relations=[{"source": "e1", "type": "INITIATED", "target": "v1", "certainty": None, "desc": None}],
)


@pytest.fixture(scope="module")
def chat() -> Iterator[Chat]:
    with serve_chat_in_thread(GOOD, pause=1.0) as opened:
        yield opened


@pytest.fixture(scope="module")
def platform(prepared: Prepared, models_dir: Path, chat: Chat) -> Iterator[Platform]:
    with prepared(models_dir) as made:
        made.variables["VICW_LLM_URL"] = chat.url
        made.start()
        yield made


def state(platform: Platform, job: str) -> tuple[int, str | None]:
    status: dict[str, Any] = platform.job(job)
    result = status["result"]
    return status["extractions_waiting"], result["items"][0]["extraction"] if result is not None else None


def test_the_ingest_service_extracts_for_a_request_that_waits(platform: Platform) -> None:
    answer = platform.remember(ITEM, extract="llm")
    assert (answer.status_code, answer.json()["items"][0]["extraction"]) == (201, "done")


def test_a_second_worker_extracts_what_a_killed_one_left_pending(platform: Platform, chat: Chat) -> None:
    job = platform.remember(
        ITEM | {"id": "y", "text": f"{ITEM['text']} It was noon."}, extract="auto", wait=False
    ).json()["job"]
    indexer = platform.worker().start()
    eventually(lambda: state(platform, job), lambda seen: seen == (1, "pending"), 60, "it is indexed, and not read")
    asked = len(chat.asked)
    first = platform.add("reader", *READER).start()
    eventually(lambda: len(chat.asked), lambda count: count > asked, 60, "a worker that starts finds the wake-up")
    first.kill()
    assert state(platform, job) == (1, "pending")
    platform.add("reader", *READER).start()
    platform.beat().start()
    eventually(lambda: state(platform, job), lambda seen: seen == (0, "done"), 90, "another takes it up")
    unread = platform.vicw("jobs", "list", "--llm", "--platform")
    assert (unread.returncode, "0 waiting, 0 of them failing, 0 dead" in unread.stderr) == (0, True)
    indexer.kill()
    checked = platform.vicw("check", "--platform")
    assert checked.returncode == 0, checked.stdout
