"""A question right after an ingest that was answered with 202."""

from __future__ import annotations

import os
import signal

import httpx
import pytest

from e2e.conftest import Serve
from support.processes.server import await_indexed

pytestmark = pytest.mark.process
LINE = "Some memories are not indexed yet and may be missing here."


def test_an_answer_says_that_memories_wait_until_they_are_indexed(serve: Serve) -> None:
    server = serve()
    server.start()
    child = server.embedder()
    assert child is not None
    with httpx.Client(base_url=server.url, timeout=60, trust_env=False) as client:

        def ask(context: str) -> tuple[bool, bool]:
            question = {"query": "lighthouse", "context": context, "channels": ["bm25"]}
            answer = client.post("/retrieve", json=question).raise_for_status().json()
            return "pending" in answer["degraded"], LINE in answer["text"]

        first = {"context": "old", "items": [{"id": "a", "text": "The lighthouse is white."}]}
        assert client.post("/ingest", json=first).status_code == 201
        os.kill(child, signal.SIGSTOP)
        late = {"context": "new", "items": [{"id": "b", "text": "The lighthouse is red."}], "wait": False}
        assert client.post("/ingest", json=late).status_code == 202
        assert ask("new") == (True, True)
        assert ask("old") == (False, False)
        os.kill(child, signal.SIGCONT)
        await_indexed(server)
        assert ask("new") == (False, False)
