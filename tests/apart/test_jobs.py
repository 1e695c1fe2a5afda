"""What the embedder refuses for ever is given up by the platform's workers, listed and replayed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from apart.conftest import Prepared
from support.fakes.embedding_server import EmbeddingServer, serve_embeddings_in_thread
from support.processes.platform import Platform
from support.processes.server import eventually

pytestmark = pytest.mark.process


@pytest.fixture
def foreign() -> Iterator[EmbeddingServer]:
    with serve_embeddings_in_thread("their-model") as serving:
        serving.refuses = "poison"
        yield serving


@pytest.fixture
def platform(prepared: Prepared, tmp_path: Path, foreign: EmbeddingServer) -> Iterator[Platform]:
    """The services over the run's servers, with an embedder that can be told what to refuse."""
    with prepared(tmp_path) as made:
        made.variables["VICW_INGEST_MAX_TRIES"] = "1"
        made.start(foreign.url)
        yield made


def test_a_passage_the_embedder_refuses_is_dead_listed_and_replayed(
    platform: Platform, foreign: EmbeddingServer
) -> None:
    platform.worker().start()
    items = [{"id": "bad", "text": "the poison of the harbour"}, {"id": "good", "text": "an apple"}]
    job = platform.remember(*items, wait=False).json()["job"]
    ended = eventually(lambda: platform.job(job), lambda status: status["status"] != "running", 60, "the job ends")
    assert (ended["status"], ended["passages_failed"], ended["failures"][0]["id"]) == ("failed", 1, "bad")
    assert platform.found("apple") == ["good"]

    listed = platform.vicw("jobs", "list", "--platform", "--json")
    (entry,) = json.loads(listed.stdout)
    assert (entry["id"], entry["dead"], entry["tries"]) == ("bad", True, 1), listed.stderr
    assert json.loads(platform.vicw("jobs", "show", job, "--platform").stdout) == ended

    foreign.refuses = ""
    replayed = platform.vicw("jobs", "replay", "--tenant", "default", "--platform")
    assert (replayed.returncode, replayed.stdout) == (0, "1 entry is due again\n"), replayed.stderr
    # There is no clock: the command has woken the worker.
    eventually(lambda: platform.job(job)["status"], lambda status: status == "done", 30, "the worker was woken")
    assert "bad" in platform.found("poison")
