"""What other memories export: mem0, OpenMemory, Letta."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from support.files.records_of_file import items_in, json_lines, said, skips_in, written

MEM0 = {"id": "m1", "memory": "Prefers window seats", "hash": "x", "metadata": {"category": "travel"}, "user_id": "sam"}
TIME = {"created_at": "2025-07-01T00:00:00-07:00"}


@pytest.mark.parametrize(
    "value", [{"results": [{**MEM0, **TIME}]}, [{**MEM0, **TIME}], {"memories": [{**MEM0, **TIME}]}]
)
def test_a_memory_of_mem0_keeps_its_time_and_person(tmp_path: Path, value: object) -> None:
    (item,) = items_in(written(tmp_path / "export.json", value))
    assert (item.context, item.item.id, item.item.text, item.item.subtype) == ("mem0", "m1", MEM0["memory"], "memory")
    assert item.item.timestamp == datetime(2025, 7, 1, 7, tzinfo=UTC)
    assert (item.item.about, item.item.metadata) == (("sam",), {"category": "travel"})


def test_openmemory_leaves_out_what_is_deleted(tmp_path: Path) -> None:
    live = {"id": "o1", "content": "Rows at dawn", "state": "active", "created_at": 1756000000, "categories": ["sport"]}
    gone = {**live, "id": "o2", "content": "Rows at noon", "state": "deleted"}
    path = json_lines(tmp_path / "memories.jsonl", live, gone)
    (item,) = items_in(path)
    assert (item.item.text, item.item.metadata) == ("Rows at dawn", {"categories": ["sport"], "state": "active"})
    assert [one.reason for one in skips_in(path)] == ["the memory 'Rows at noon' is deleted"]


def test_an_agent_of_letta_gives_blocks_and_turns(tmp_path: Path) -> None:
    messages = [
        {"id": "1", "role": "system", "content": [{"type": "text", "text": "You are …"}]},
        {
            "id": "2",
            "role": "user",
            "content": [{"type": "text", "text": "I am Ida."}],
            "created_at": "2026-01-01T08:00:00Z",
        },
        {"id": "3", "role": "assistant", "content": [{"type": "text", "text": "Hello Ida."}]},
    ]
    agent = {"id": "agent-1", "name": "Mate", "messages": messages}
    block = {"id": "block-1", "label": "human", "value": "Her name is Ida."}
    items = items_in(written(tmp_path / "mate.af", {"agents": [agent], "blocks": [block], "tools": []}))
    assert said(items) == [(None, "Her name is Ida."), ("user", "I am Ida."), ("assistant", "Hello Ida.")]
    assert [(one.item.id, one.item.subtype, one.flow_id) for one in items] == [
        ("letta#block-1", "memory", None),
        ("agent-1#2", "message", "letta#agent-1"),
        ("agent-1#3", "message", "letta#agent-1"),
    ]
    old = {"name": "Mate", "core_memory": [{"label": "human", "value": "Her name is Ida."}], "messages": messages}
    assert said(items_in(written(tmp_path / "old.json", old))) == said(items)


def test_an_agent_of_letta_is_known_though_its_blocks_come_late(tmp_path: Path) -> None:
    agent = {
        "id": "agent-1",
        "block_ids": ["b"],
        "messages": [{"id": "2", "role": "user", "content": "tide " * 20_000}],
    }
    value = {"agents": [agent], "blocks": [{"id": "b", "label": "human", "value": "Sails"}]}
    assert {one.reader for one in items_in(written(tmp_path / "agent.json", value))} == {"letta"}
    crew = {"agents": [{"role": "cook", "goal": "bread"}], "tools": []}
    assert {one.reader for one in items_in(written(tmp_path / "crew.json", crew))} == {"text"}
