"""Claude's export: artifacts, created files, attachments, the newest branch; projects and memories."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from support.files.records_of_file import items_in, said, skips_in, written

ROOT = "00000000-0000-4000-8000-000000000000"


def message(
    key: str, parent: str | None, text: str, minute: int, *blocks: dict[str, Any], **more: Any
) -> dict[str, Any]:
    content = [{"type": "text", "text": text}, *blocks] if text else list(blocks)
    sender = "assistant" if key.startswith("a") else "human"
    time = f"2026-03-01T10:{minute:02}:00Z"
    known = {"uuid": key, "sender": sender, "text": text, "content": content, "created_at": time}
    return {**known, **({"parent_message_uuid": parent} if parent else {}), **more}


def tool(name: str, **given: str) -> dict[str, Any]:
    return {"type": "tool_use", "name": name, "input": given}


def chat(*messages: dict[str, Any], key: str = "chat_messages", **more: Any) -> dict[str, Any]:
    return {"uuid": "c", "name": "Bees", "created_at": "2026-03-01T10:00:00Z", key: list(messages), **more}


def test_the_newest_leaf_ends_the_branch_where_none_is_named(tmp_path: Path) -> None:
    messages = [
        message("q1", ROOT, "Where to put the hives?", 0),
        message("a1", "q1", "In the sun.", 1),
        message("q2", "a1", "On the roof?", 2),
        message("a2", "q2", "Too hot.", 3),
        message("q3", "a1", "In the orchard?", 4),
        message("a3", "q3", "Yes.", 5),
    ]
    path = tmp_path / "conversations.json"
    shown = ["Where to put the hives?", "In the sun.", "In the orchard?", "Yes."]
    assert [text for _, text in said(items_in(written(path, [chat(*messages)])))] == shown
    named = chat(*messages, current_leaf_message_uuid="a2")
    assert [one.item.id for one in items_in(written(path, [named]))] == ["q1", "a1", "q2", "a2"]
    for one in messages:
        del one["parent_message_uuid"]
    assert len(items_in(written(path, [chat(*messages)]))) == 6, "without parents all are in order"


def test_artifacts_and_files_are_documents_with_their_last_text(tmp_path: Path) -> None:
    made = message(
        "a1", "q1", "Done.", 1, tool("artifacts", id="plan", title="Hive plan", command="create", content="Two hives.")
    )
    path = "/mnt/user-data/outputs/rows.csv"
    file = message("a2", "q2", "", 3, tool("create_file", path=path, file_text="row,metres\n1,4\n"))
    changed = message(
        "a3", "q3", "Changed.", 5, tool("artifacts", id="plan", command="update", old_str="Two", new_str="Three")
    )
    replaced = message(
        "a4", "q4", "", 7, tool("str_replace", path=path, old_str="1,4", new_str="1,5"), tool("bash", id="x")
    )
    asked = [message(f"q{n}", f"a{n - 1}" if n > 1 else ROOT, "Go on.", 2 * n - 2) for n in range(1, 5)]
    turns = [asked[0], made, asked[1], file, asked[2], changed, asked[3], replaced]
    items = items_in(written(tmp_path / "conversations.json", [chat(*turns)]))
    documents = [(one.item.name, one.item.text, one.item.flow_step) for one in items if one.item.subtype == "document"]
    assert documents == [("Hive plan", "Three hives.", 2), ("rows.csv", "row,metres\n1,5\n", 4)]


def test_attached_text_is_an_item_and_other_files_are_named(tmp_path: Path) -> None:
    attached = [{"file_name": "notes.txt", "extracted_content": "The neighbour is allergic."}, {"file_name": "a.zip"}]
    turn = message("q1", ROOT, "Look.", 0, attachments=attached, files=[{"file_name": "hive.jpg"}])
    items = items_in(written(tmp_path / "conversations.json", [chat(turn)]))
    assert [(one.item.subtype, one.item.name, one.item.text) for one in items] == [
        ("attachment", "notes.txt", "The neighbour is allergic."),
        ("message", "Bees", "Look.\n\n[attached: a.zip, hive.jpg]"),
    ]


def test_messages_may_be_called_so_and_markers_of_tools_are_no_words(tmp_path: Path) -> None:
    answer = message("a1", "q1", "", 1)
    answer["text"] = "```\nThis block is not supported on your current device yet.\n```"
    path = written(tmp_path / "x.json", [chat(message("q1", ROOT, "Which paint?", 0), answer, key="messages")])
    (item,) = items_in(path)
    assert (item.reader, item.item.text, item.item.source) == ("claude", "Which paint?", "claude")


def test_projects_and_memories_become_items(tmp_path: Path) -> None:
    document = {"uuid": "d1", "filename": "rules.md", "content": "Register by March."}
    project = {
        "uuid": "p1",
        "name": "Apiary",
        "description": "Bees",
        "prompt_template": "Use metres.",
        "docs": [document],
    }
    of_projects = {"p1": "Three hives.", "p2": "Two queens.", "p3": "A project that is gone."}
    memory = {"conversations_memory": "Keeps bees.", "project_memories": of_projects, "account_uuid": "acc"}
    written(tmp_path / "export/projects.json", [project])
    written(tmp_path / "export/projects/p2.json", {**project, "uuid": "p2", "name": "Queens", "docs": []})
    written(tmp_path / "export/memories.json", [memory])
    written(tmp_path / "export/users.json", [{"uuid": "acc", "full_name": "Nora Vik"}])
    items = items_in(tmp_path / "export")
    assert {(one.item.id, one.item.subtype, one.item.name, one.item.text) for one in items} == {
        ("p1", "document", "Apiary > Instructions", "Bees\n\nUse metres."),
        ("d1", "document", "Apiary > rules.md", "Register by March."),
        ("p2", "document", "Queens > Instructions", "Bees\n\nUse metres."),
        ("acc#memory", "memory", "Memory", "Keeps bees."),
        ("acc#memory-p1", "memory", "Apiary > Memory", "Three hives."),
        ("acc#memory-p2", "memory", "Queens > Memory", "Two queens."),
        ("acc#memory-p3", "memory", "Memory", "A project that is gone."),
    }
    memories = {one.item.id: one.item.metadata.get("project") for one in items if one.item.subtype == "memory"}
    assert memories == {"acc#memory": None, "acc#memory-p1": "Apiary", "acc#memory-p2": "Queens", "acc#memory-p3": "p3"}
    assert {one.context for one in items} == {"Claude"}
    assert [one.reason for one in skips_in(tmp_path / "export")] == ["is about the account"]
