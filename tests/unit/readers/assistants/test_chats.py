from __future__ import annotations

import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from vicw_readers.assistants.conversations import thread, time_in
from vicw_readers.intake.source_file import ImportOptions
from vicw_readers.paths import read_paths
from vicw_readers.records import Record, Refused, SourceItem


def node(
    key: str, parent: str | None, role: str = "user", parts: Any = None, time: float | None = None, **more: Any
) -> dict[str, Any]:
    content = {"content_type": "text", "parts": parts if parts is not None else [f"text of {key}"]}
    message = {"id": f"m-{key}", "author": {"role": role}, "create_time": time, "content": content, **more}
    return {"id": key, "parent": parent, "children": [], "message": message}


def chatgpt(nodes: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {
        "title": "Build trouble",
        "create_time": 1700000000.5,
        "mapping": {n["id"]: n for n in nodes},
        "conversation_id": "conv",
        **more,
    }


ROOT: dict[str, Any] = {"id": "root", "parent": None, "children": ["s"], "message": None}
CHATGPT = chatgpt(
    [
        ROOT,
        node("s", "root", "system", [""]),
        node("u1", "s", time=1700000001.0),
        node("old", "u1", "assistant", time=1700000002.0),
        node("call", "u1", "assistant", recipient="python"),
        node("tool", "call", "tool"),
        node("hidden", "tool", "user", metadata={"is_visually_hidden_from_conversation": True}),
        node("new", "hidden", "assistant", ["part one", {"content_type": "image"}, "part two"]),
        node("pic", "new", parts=[{"content_type": "image_asset_pointer"}]),
        node("u2", "pic", parts=[{"content_type": "audio_transcription", "text": "said aloud"}], time=1700000009),
    ],
    current_node="u2",
)
CLAUDE: dict[str, Any] = {
    "uuid": "c1",
    "name": "Trip",
    "created_at": "2024-05-01T12:00:00.000000Z",
    "chat_messages": [
        {
            "uuid": "a",
            "sender": "human",
            "text": "See file",
            "content": [{"type": "text", "text": "See file"}],
            "created_at": "2024-05-01T12:00:01.123456Z",
            "attachments": [{"file_name": "plan.txt", "extracted_content": "Day 1: Rome"}],
        },
        {
            "uuid": "b",
            "sender": "assistant",
            "text": "```This block is not supported```",
            "content": [
                {"type": "thinking", "thinking": "hm"},
                {"type": "text", "text": "Rome it is."},
                {"type": "tool_use", "name": "search", "input": {}},
                {"type": "text", "text": "Enjoy."},
            ],
        },
        {"uuid": "c", "sender": "human", "text": "Old style"},
    ],
}


def write(path: Path, value: object) -> Path:
    path.write_text(json.dumps(value), "utf-8")
    return path


def items(records: list[Record]) -> list[SourceItem]:
    return [record for record in records if isinstance(record, SourceItem)]


def test_a_chatgpt_export_yields_the_shown_branch(tmp_path: Path) -> None:
    found = list(read_paths([write(tmp_path / "anything.json", [CHATGPT])]))
    assert [(r.item.id, r.item.speaker, r.item.text) for r in items(found)] == [
        ("m-u1", "user", "text of u1"),
        ("m-new", "assistant", "part one\n\npart two"),
        ("m-u2", "user", "said aloud"),
    ]
    first, second, _ = items(found)
    assert (first.context, first.flow_id, first.item.name) == ("ChatGPT", "conv", "Build trouble")
    assert first.item.timestamp == datetime.fromtimestamp(1700000001, UTC)
    assert second.item.timestamp == first.item.timestamp
    assert [r.item.flow_step for r in items(found)] == [0, 1, 2]


def test_a_claude_export_yields_text_blocks_and_attachments(tmp_path: Path) -> None:
    found = items(list(read_paths([write(tmp_path / "conversations.json", [CLAUDE])], ImportOptions(domain="travel"))))
    assert [(r.item.id, r.item.speaker, r.item.subtype, r.item.name, r.item.text) for r in found] == [
        ("a#attachment-0", "user", "attachment", "plan.txt", "Day 1: Rome"),
        ("a", "user", "message", "Trip", "See file"),
        ("b", "assistant", "message", "Trip", "Rome it is.\n\nEnjoy."),
        ("c", "user", "message", "Trip", "Old style"),
    ]
    assert {(r.context, r.domain, r.flow_id) for r in found} == {("Claude", "travel", "c1")}


def test_a_claude_export_with_branches_yields_the_current_branch(tmp_path: Path) -> None:
    def message(uuid: str, parent: str) -> dict[str, str]:
        return {"uuid": uuid, "sender": "human", "text": uuid, "parent_message_uuid": parent}

    conversation = {
        "uuid": "c",
        "name": "",
        "chat_messages": [message("a", "0"), message("b", "a"), message("b2", "a"), message("c", "b2")],
        "current_leaf_message_uuid": "c",
    }
    found = items(list(read_paths([write(tmp_path / "x.json", [conversation])])))
    assert [r.item.id for r in found] == ["a", "b2", "c"]


def test_a_zipped_chat_export_is_read_as_downloaded(tmp_path: Path) -> None:
    archive = tmp_path / "0a1b2c-export.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("user.json", '{"email": "x"}')
        file.writestr("conversations-001.json", json.dumps([chatgpt([node("z", None)], conversation_id="c2")]))
        file.writestr("conversations-000.json", json.dumps([CHATGPT]))
        file.writestr("chat.html", "<html>")
    found = items(list(read_paths([archive])))
    assert [r.item.id for r in found] == ["m-u1", "m-new", "m-u2", "m-z"]
    assert {r.context for r in found} == {"ChatGPT"}
    assert {r.context for r in items(list(read_paths([archive], ImportOptions(context="mine"))))} == {"mine"}


@pytest.mark.parametrize(
    ("conversation", "ids"),
    [
        (chatgpt([node("a", "b"), node("b", "a")], current_node="a"), ["m-b", "m-a"]),
        (chatgpt([node("a", "gone", time=1.0)], current_node="gone"), ["m-a"]),
        (chatgpt([node("a", None, time=1.0), node("b", "a", time=2.0)]), ["m-a", "m-b"]),
        (chatgpt([ROOT]), []),
        (chatgpt([node("a", None, content="odd")], current_node="a"), []),
        (chatgpt([node("a", None, create_time="soon")], current_node="a", create_time=1e300), ["m-a"]),
    ],
)
def test_malformed_conversation_trees_are_read_as_far_as_possible(
    tmp_path: Path, conversation: dict[str, Any], ids: list[str]
) -> None:
    found = list(read_paths([write(tmp_path / "x.json", conversation)]))
    assert [r.item.id for r in items(found)] == ids
    assert not [r for r in found if isinstance(r, Refused)]


def test_a_conversation_of_unknown_format_is_refused_alone(tmp_path: Path) -> None:
    bad = write(tmp_path / "a.json", [5, {"mapping": [], "title": "T"}, CHATGPT])
    worse = write(tmp_path / "b.json", [CLAUDE, {"chat_messages": {}, "uuid": "u"}])
    found = list(read_paths([bad, worse]))
    assert len(items(found)) == 3 + 4
    assert [(r.kind, r.reason) for r in found if isinstance(r, Refused)] == [
        ("ChatGPT export", "conversation 1 '' has no id, or no mapping of messages"),
        ("ChatGPT export", "conversation 2 'T' has no id, or no mapping of messages"),
        ("Claude export", "conversation 2 '' has no uuid, or no list of chat_messages"),
    ]


def test_other_json_is_text_and_broken_exports_are_refused(tmp_path: Path) -> None:
    for value in ({"mapping_of": "x", "a": {"mapping": 1}}, {"mapping": {"a": "b"}}):
        (other,) = read_paths([write(tmp_path / "package.json", value)])
        assert isinstance(other, SourceItem)
        assert (other.item.subtype, other.domain) == ("document", "coding")
    broken = tmp_path / "broken.json"
    broken.write_text('[{"create_time": 1, "mapping": {')
    no_zip = tmp_path / "no.zip"
    no_zip.write_text("PK")
    empty = tmp_path / "empty.zip"
    zipfile.ZipFile(empty, "w").close()
    found = list(read_paths([broken, no_zip, empty]))
    assert [r.reason.split(":")[0] for r in found if isinstance(r, Refused)] == [
        "is not JSON",
        "is a .zip that cannot be read",
        "is a .zip without files",
    ]


def test_thread_follows_parents_and_time_in_ignores_bad_times() -> None:
    assert thread("c", {"a": None, "b": "a", "c": "b", "d": "a"}) == ["a", "b", "c"]
    assert thread("x", {}) == []
    assert time_in({"t": "2024-05-01T12:00:00"}, "t") == datetime(2024, 5, 1, 12, tzinfo=UTC)
    assert time_in({"t": "2024-05-01T12:00:00+02:00"}, "t") == datetime(2024, 5, 1, 10, tzinfo=UTC)
    odd_ones: list[object] = [None, True, "x", float("nan"), 1e300, [], {"t": 1}]
    for odd in odd_ones:
        assert time_in({"t": odd}, "t") is None
