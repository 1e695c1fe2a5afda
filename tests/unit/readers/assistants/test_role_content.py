"""Chat data of programs: role and content, in lists or line by line, and ShareGPT."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest

from support.files.records_of_file import items_in, json_lines, refusals_in, said, written
from vicw_readers.paths import read_paths
from vicw_readers.records import SourceItem

TURNS: list[dict[str, object]] = [
    {"role": "system", "content": "Be brief"},
    {"role": "user", "content": "The boiler is at 0.8 bar", "timestamp": 1756000000},
    {"role": "assistant", "content": [{"type": "text", "text": "Top it up"}, {"type": "image_url"}], "tool_calls": []},
    {"role": "tool", "content": "ok"},
]
SAID = [("user", "The boiler is at 0.8 bar"), ("assistant", "Top it up")]


@pytest.mark.parametrize(
    "value",
    [
        TURNS,
        {"messages": TURNS},
        [{"messages": TURNS, "id": 7}],
        {"conversations": [{"from": "human", "value": SAID[0][1]}, {"from": "gpt", "value": SAID[1][1]}]},
    ],
)
def test_messages_are_a_flow(tmp_path: Path, value: object) -> None:
    items = items_in(written(tmp_path / "x.json", value))
    assert said(items) == SAID
    assert [one.item.flow_step for one in items] == [0, 1]
    assert len({one.flow_id for one in items}) == 1
    assert {one.reader for one in items} == {"role-content"}
    again = items_in(written(tmp_path / "other.json", value))
    assert [one.item for one in again] == [one.item for one in items], "the file's name is in nothing"


def test_lines_of_messages_are_one_conversation_that_may_grow(tmp_path: Path) -> None:
    path = json_lines(tmp_path / "x.jsonl", *TURNS)
    before = items_in(path)
    assert said(before) == SAID
    assert before[0].item.timestamp is not None
    assert before[0].flow_ids is None
    after = items_in(json_lines(path, *TURNS, {"role": "user", "content": "Done"}))
    assert [one.item for one in after[:2]] == [one.item for one in before]
    assert len(after) == 3


def test_lines_that_name_their_conversation_are_a_flow_each(tmp_path: Path) -> None:
    lines = [{**turn, "session_id": f"s{n % 2}", "id": n} for n, turn in enumerate([*TURNS, *TURNS[1:3]])]
    items = items_in(json_lines(tmp_path / "x.jsonl", *lines))
    assert {(one.flow_id, one.item.flow_step, one.item.id) for one in items} == {
        ("s1", 0, "s1#1"),
        ("s0", 0, "s0#2"),
        ("s0", 1, "s0#4"),
        ("s1", 1, "s1#5"),
    }


def test_each_line_of_a_list_is_a_flow_and_others_are_refused(tmp_path: Path) -> None:
    other = {"messages": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]}
    path = json_lines(tmp_path / "x.jsonl", {"messages": TURNS}, {"nothing": 1}, other)
    assert len({one.flow_id for one in items_in(path)}) == 2
    assert [one.reason for one in refusals_in(path)] == [
        "value 2 is no message of role and content, and no list of them"
    ]


def test_data_sets_that_both_count_from_one_keep_their_conversations_apart(tmp_path: Path) -> None:
    for name, text in (("train.jsonl", "How wet is it?"), ("test.jsonl", "How far is it?")):
        json_lines(tmp_path / name, {"id": 1, "messages": [{"role": "user", "content": text}]})
    items = items_in(tmp_path)
    assert len({one.item.id for one in items}) == 2
    assert len({one.flow_id for one in items}) == 2


def test_a_lasting_id_names_the_conversation_whatever_its_words(tmp_path: Path) -> None:
    own = "0b1f9a52-6a5e-4b8f-9d57-3f2a1c6d7e80"
    [item] = items_in(json_lines(tmp_path / "x.jsonl", {"id": own, "messages": [{"role": "user", "content": "Hi"}]}))
    assert item.flow_id == own


@pytest.mark.parametrize(
    "value",
    [
        {"messages": [{"sender": "ana", "body": "Hello"}, {"sender": "ben", "body": "Hi"}]},
        [{"author": {"name": "ana"}, "text": "Hello"}, {"author": {"name": "ben"}, "text": "Hi"}, {"joined": "cy"}],
        {
            "export": {
                "rooms": [{"history": [{"username": "ana", "message": "a"}, {"username": "ben", "message": "b"}]}]
            }
        },
    ],
)
def test_a_chat_of_no_known_format_is_refused_by_name(tmp_path: Path, value: object) -> None:
    path = written(tmp_path / "chat.json", value)
    assert items_in(path) == []
    (refused,) = refusals_in(path)
    assert (refused.kind, refused.reason) == ("chat of an unknown format", "looks like a chat, but of no known format")
    assert "--format" in refused.fix


@pytest.mark.parametrize(
    "value",
    [
        {"name": "x", "author": "Ana", "scripts": {"test": "y"}},
        {"contributors": [{"author": "Ana", "commits": 1}, {"author": "Ben", "commits": 2}]},
        {"messages": {"hello": "Hallo", "bye": "Servus"}},
        [{"text": "a"}, {"text": "b"}],
    ],
)
def test_other_json_is_still_text(tmp_path: Path, value: object) -> None:
    (item,) = items_in(written(tmp_path / "x.json", value))
    assert (item.reader, item.domain) == ("text", "coding")


def test_messages_of_a_long_file_are_not_held(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    words = "w" * 4_000
    with path.open("w", encoding="utf-8") as file:
        for n in range(3_000):
            file.write(json.dumps({"role": ("user", "assistant")[n % 2], "content": f"{n} {words}"}) + "\n")
    records = read_paths([path])
    first = next(records)
    tracemalloc.start()
    steps = [one.item.flow_step for one in records if isinstance(one, SourceItem)]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(first, SourceItem)
    assert steps == list(range(1, 3_000))
    assert peak < 6_000_000
