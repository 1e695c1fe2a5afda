"""Everyday changes, and what is none, on the separate services over Neo4j and Qdrant."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from support.clients.conversation import Conversation, ids, is_marked
from support.data.everyday_changes import CHANGES, FILLERS, MORE_CHANGES, STAYS
from support.processes.platform import Platform

pytestmark = pytest.mark.process


async def test_after_a_change_the_later_statement_is_first_and_what_stays_is_not_marked(platform: Platform) -> None:
    options: dict[str, Any] = {"headers": platform.headers, "timeout": 90.0, "trust_env": False}
    async with (
        httpx.AsyncClient(base_url=platform.ingest.url, **options) as ingest,
        httpx.AsyncClient(base_url=platform.retrieval.url, **options) as retrieval,
    ):
        talk = Conversation(ingest, retrieval)
        for changes in (CHANGES, MORE_CHANGES):
            answers = await talk.ask_each(changes, FILLERS)
            stale = [case for case, answer in zip(changes, answers, strict=True) if ids(answer)[0] != "new"]
            assert len(stale) <= 2, stale
        stayed = await talk.ask_each(STAYS, FILLERS)
    assert [one["text"] for one in stayed if is_marked(one) or not {"old", "new"} <= set(ids(one))] == []
