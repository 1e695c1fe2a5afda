"""Differences that the default model does not see: VICW decides by words there, never by vectors alone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from support.models.minilm_embedder import MiniLmEmbedder
from support.stores.memory import Memory, open_memory
from unit.ingest.knowledge.test_sample_repository import bridges
from vicw_shared.model import EdgeRegistry
from vicw_sleep.dream.service import Dreamer, DreamRules

UNSEEN = [
    ("The release is out 👍", "The release is out 👎"),
    ("Ask US about it.", "Ask us about it."),
    ("a pêche melba", "a peche melba"),
    ("สวัสดีครับ วันนี้อากาศดี", "ขอโทษ เขาไปโรงเรียน"),
    ("a" * 120, "b" * 120),
]
NEARLY_UNSEEN = [
    ("Order 4711 was shipped.", "Order 4712 was shipped."),
    ("The door is open.", "The door is not open."),
    ("x > 5", "x < 5"),
]


@pytest.fixture(scope="module")
def minilm() -> MiniLmEmbedder:
    return MiniLmEmbedder()


@pytest.fixture
async def memory(store: Path, minilm: MiniLmEmbedder) -> AsyncIterator[Memory]:
    async with open_memory(store, minilm) as opened:
        yield opened


@pytest.mark.parametrize(("one", "other"), UNSEEN)
def test_the_model_gives_different_texts_one_vector(minilm: MiniLmEmbedder, one: str, other: str) -> None:
    assert float(minilm.vector(one) @ minilm.vector(other)) > 0.9999


@pytest.mark.parametrize(("one", "other"), NEARLY_UNSEEN)
def test_the_model_gives_contrary_texts_near_vectors(minilm: MiniLmEmbedder, one: str, other: str) -> None:
    assert 0.8 < float(minilm.vector(one) @ minilm.vector(other)) < 0.999


def test_a_text_of_many_windows_is_read_to_its_end(minilm: MiniLmEmbedder) -> None:
    start = "日本語の文章を書く。" * 80
    assert len(minilm.model.tokenize(start)) > 3 * minilm.model.context_length
    plain = minilm.vector(start)
    assert float(plain @ minilm.vector(start + "The ferry sank off the northern cape.")) < 0.999


@pytest.mark.parametrize(("one", "other"), [*UNSEEN, *NEARLY_UNSEEN])
async def test_each_of_two_texts_is_stored_and_found(memory: Memory, one: str, other: str) -> None:
    said = " The people on call have read this and agreed to it in the meeting of the week."
    answer = await memory.ingest({"id": "a", "text": one + said}, {"id": "b", "text": f"{other}{said} Bye."})
    assert [item.status for item in answer.items] == ["created", "created"]
    again = await memory.ingest({"id": "c", "text": other + said}, {"id": "a", "text": other + said})
    assert [item.status for item in again.items] == ["created", "updated"], "neither a copy nor unchanged"
    found = await memory.retrieve("people on call meeting", limit=10)
    assert {result.id for result in found.results} == {"a", "b", "c"} - {
        uid for result in found.results for uid in result.duplicates
    }


@pytest.mark.parametrize(("tagged", "bare"), [("👍👍", "👎"), *UNSEEN[3:]])
async def test_no_tag_spreads_to_what_the_model_cannot_tell_apart(memory: Memory, tagged: str, bare: str) -> None:
    await memory.ingest({"id": "a", "text": tagged, "tags": ["joy"]}, {"id": "b", "text": bare})
    await memory.ingest({"id": "c", "text": "The harbour opens at nine.", "tags": ["hours"]})
    await memory.ingest({"id": "d", "text": "At nine the harbour opens."})
    indexer = memory.standalone.indexer
    dreamer = Dreamer(memory.standalone.graph, indexer.indexes, EdgeRegistry.with_core_types(), indexer, None)
    later = datetime.now(UTC) + timedelta(hours=2)
    done = await dreamer.run(DreamRules(before=later), now=later)
    assert done.dreamt == 1, "the item that says the same in words"


@pytest.mark.parametrize(("page", "memo"), [("👍", "👎"), UNSEEN[3]])
async def test_no_bridge_joins_what_the_model_cannot_tell_apart(memory: Memory, page: str, memo: str) -> None:
    def sent(path: str, text: str) -> dict[str, Any]:
        return {"text": text, "page": {"folder": "f", "path": path}}

    await memory.ingest(sent("one.md", page), sent("hours.md", "The harbour opens at nine."), context="repo")
    await memory.ingest({"id": "m", "text": memo}, {"id": "n", "text": "The harbour opens at nine!"}, context="chat")
    assert {target for _, _, target in await bridges(memory)} == {"n"}
