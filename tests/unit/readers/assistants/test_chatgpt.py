"""ChatGPT's export: canvas documents, memories, marks, attachments, shells, and the next month's export."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from support.files.records_of_file import items_in, records_in, refusals_in, said, skips_in, written
from vicw_readers.records import SourceItem


def node(key: str, parent: str | None, role: str, *parts: object, **more: Any) -> dict[str, Any]:
    content = {"content_type": "text" if all(isinstance(one, str) for one in parts) else "multimodal_text"}
    message = {"id": key, "author": {"role": role}, "content": {**content, "parts": list(parts)}, "recipient": "all"}
    return {"id": key, "parent": parent, "message": {**message, **more}}


def call(key: str, parent: str, tool: str, arguments: object) -> dict[str, Any]:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    content = {"content_type": "code", "language": "json", "text": text}
    return node(key, parent, "assistant", recipient=tool, content=content)


def update(key: str, parent: str, pattern: str, replacement: str) -> dict[str, Any]:
    change = {"pattern": pattern, "multiple": False, "replacement": replacement}
    return call(key, parent, "canmore.update_textdoc", {"updates": [change]})


def chat(key: str, *nodes: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"conversation_id": key, "title": "Rowing", "mapping": {one["id"]: one for one in nodes}, **more}


def test_a_canvas_is_a_document_with_its_last_text(tmp_path: Path) -> None:
    export = chat(
        "c",
        node("q", None, "user", "Write a plan for the regatta."),
        call("w", "q", "canmore.create_textdoc", {"name": "plan", "type": "document", "content": "# Plan\nTwo oars."}),
        node("tool", "w", "tool", "Created."),
        node("a", "tool", "assistant", "Here is the plan."),
        call(
            "u", "a", "canmore.update_textdoc", {"updates": [{"pattern": r"Two oars\.", "replacement": "Four oars."}]}
        ),
        call("v", "u", "canmore.update_textdoc", {"updates": [{"pattern": "(a+)+$", "replacement": "never run"}]}),
        node("b", "v", "assistant", "Four it is."),
        current_node="b",
    )
    items = items_in(written(tmp_path / "conversations.json", [export]))
    assert [(one.item.id, one.item.subtype, one.item.name, one.item.flow_step) for one in items] == [
        ("q", "message", "Rowing", 0),
        ("c#document-plan", "document", "plan", 1),
        ("a", "message", "Rowing", 2),
        ("b", "message", "Rowing", 3),
    ]
    assert items[1].item.text == "# Plan\nFour oars."
    export["mapping"]["v"] = update("v", "u", ".*", "Six oars.")
    assert items_in(written(tmp_path / "conversations.json", [export]))[1].item.text == "Six oars."


def test_what_is_saved_as_a_memory_is_one(tmp_path: Path) -> None:
    export = chat("c", node("q", None, "user", "I row at dawn."), call("m", "q", "bio", "Rows at dawn."))
    export["mapping"]["t"] = call("t", "m", "python", "print(1)")
    _, memory = items_in(written(tmp_path / "conversations.json", [export]))
    assert (memory.item.subtype, memory.item.text) == ("memory", "Rows at dawn.")


def test_attached_files_are_named_and_marks_are_stripped(tmp_path: Path) -> None:
    files = {"attachments": [{"id": "file-1", "name": "course.pdf"}, {"name": "map.png"}]}
    export = chat(
        "c",
        node("q", None, "user", {"content_type": "image_asset_pointer"}, metadata=files),
        node(
            "a", "q", "assistant", "Row \ue200cite\ue202turn0search1\ue201 north【3†source】 of the \ue200x\ue201 buoy."
        ),
    )
    first, second = items_in(written(tmp_path / "conversations.json", [export]))
    assert first.item.text == "[attached: course.pdf, map.png]"
    assert first.item.metadata == {"attachments": ["course.pdf", "map.png"]}
    assert second.item.text == "Row north of the buoy."


def test_a_conversation_without_messages_is_passed_over_by_name(tmp_path: Path) -> None:
    shell = {"conversation_id": "s", "title": "Shell"}
    only_root = chat("r", {"id": "root", "parent": None, "message": None})
    path = written(tmp_path / "conversations.json", [shell, only_root, chat("c", node("q", None, "user", "Hello"))])
    assert said(items_in(path)) == [("user", "Hello")]
    assert [one.reason for one in skips_in(path)] == [
        "conversation 1 'Shell' has no message",
        "conversation 2 'Rowing' has no message",
    ]
    assert refusals_in(path) == []


def test_the_next_export_under_another_name_says_the_same_of_what_is_unchanged(tmp_path: Path) -> None:
    before = chat("c", node("q", None, "user", "Which knot?"), node("a", "q", "assistant", "A bowline."))
    edited = [node("q2", None, "user", "Which hitch?"), node("a2", "q2", "assistant", "A clove hitch.")]
    after = chat("c", *before["mapping"].values(), *edited, current_node="a2")
    same = chat("d", node("e", None, "user", "Thanks"))
    exports = {"may.zip": ("conversations.json", before), "june export.zip": ("conversations-000.json", after)}
    for name, (member, export) in exports.items():
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr(member, json.dumps([export, same]))
    may, june = items_in(tmp_path / "may.zip"), items_in(tmp_path / "june export.zip")
    assert may[-1].item == june[-1].item
    assert (may[-1].context, june[-1].context) == ("ChatGPT", "ChatGPT")
    assert [one.item.id for one in june] == ["q2", "a2", "e"]
    assert [one.flow_ids for one in june] == [frozenset({"q2", "a2"}), None, frozenset({"e"})]


@pytest.mark.parametrize("indent", [None, 2])
def test_an_export_that_breaks_off_gives_what_comes_before(tmp_path: Path, indent: int | None) -> None:
    chats = [chat(f"c{n}", node(f"q{n}", None, "user", f"Question {n}")) for n in range(50)]
    data = json.dumps(chats, indent=indent)
    *items, refused = records_in(written(tmp_path / "conversations.json", data[: len(data) // 2]))
    assert 15 < len(items) < 30
    assert all(isinstance(one, SourceItem) for one in items)
    assert "is not JSON" in refused.reason  # type: ignore[union-attr]
