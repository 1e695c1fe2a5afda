"""Sessions of agents as files: the turns that their hooks would store, with the same ids."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from vicw_readers.intake.source_file import ImportOptions
from vicw_readers.paths import read_paths
from vicw_readers.records import Refused, SourceItem


def write(path: Path, *lines: dict[str, Any] | str) -> Path:
    texts = (line if isinstance(line, str) else json.dumps(line) for line in lines)
    path.write_text("".join(f"{text}\n" for text in texts), "utf-8")
    return path


def test_a_session_of_claude_code_is_a_flow_of_its_project(tmp_path: Path) -> None:
    line = {"sessionId": "s1", "cwd": "/work/alpha", "timestamp": "2026-11-02T08:00:00.000Z"}
    file = write(
        tmp_path / "0a6a.jsonl",
        {"type": "summary", "summary": "The port", "leafUuid": "x"},
        {**line, "type": "user", "uuid": "u1", "message": {"role": "user", "content": "Which port?"}},
        "cut {",
        {
            **line,
            "type": "assistant",
            "uuid": "a1",
            "message": {"role": "assistant", "content": [{"type": "text", "text": "9443."}]},
        },
    )
    refused, *items = read_paths([file])
    assert isinstance(refused, Refused)
    assert (refused.line, refused.reason) == (3, "is not JSON")
    found = [one for one in items if isinstance(one, SourceItem)]
    assert [(one.context, one.item.id, one.item.speaker, one.item.source) for one in found] == [
        ("alpha", "u1", "user", "claude-code"),
        ("alpha", "a1", "assistant", "claude-code"),
    ]
    assert {one.flow_id for one in found} == {"s1"}
    (named, *_) = [one for one in read_paths([file], ImportOptions(context="mine")) if isinstance(one, SourceItem)]
    assert named.context == "mine"


def test_a_session_of_codex_is_read_and_items_still_are_items(tmp_path: Path) -> None:
    session = write(
        tmp_path / "rollout-1.jsonl",
        {"type": "session_meta", "payload": {"id": "c1", "cwd": "/work/beta"}},
        {"type": "event_msg", "payload": {"type": "user_message", "message": "Which port?"}},
    )
    (turn,) = read_paths([session])
    assert isinstance(turn, SourceItem)
    assert (turn.context, turn.flow_id, turn.item.id, turn.item.source) == ("beta", "c1", "c1:2", "codex")
    items = write(tmp_path / "items.jsonl", {"id": "1", "text": "a", "metadata": {"type": "user"}})
    (item,) = read_paths([items])
    assert isinstance(item, SourceItem)
    assert (item.context, item.item.id) == ("items", "1")
