"""Files of an assistant's export that no reader knows are no items: passed over without words, else refused."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from support.files.records_of_file import items_in, records_in, refusals_in, skips_in, written
from vicw_readers.records import Refused, Skipped

_CLAUDE = [
    {
        "uuid": "c",
        "name": "Oars",
        "chat_messages": [{"uuid": "m", "sender": "human", "text": "Hello", "created_at": "2025-03-05T09:00:00Z"}],
    }
]
_PARTS: dict[str, object] = {
    "projects.json": [],
    "memories.json": [],
    "users.json": [],
    "design_chats.json": [],
    "sora.json": {"generations": []},
    "shopping.json": {},
    "group_chats.json": {"chats": [], "next": None},
    "tasks.json": [{"title": "Water the plum tree", "at": "2025-03-05"}],
    "user_system_messages.json": [{"about_user": "She keeps bees."}],
}


@pytest.mark.parametrize("packed", [True, False])
def test_other_parts_of_an_export_are_no_items(tmp_path: Path, packed: bool) -> None:
    files = {f"export/{name}": value for name, value in {"conversations.json": _CLAUDE, **_PARTS}.items()}
    if packed:
        with zipfile.ZipFile(tmp_path / "claude.zip", "w") as archive:
            for name, value in files.items():
                archive.writestr(name, json.dumps(value))
    for name, value in files.items():
        if not packed:
            written(tmp_path / name, value)
    root = tmp_path / "claude.zip" if packed else tmp_path
    assert [item.item.text for item in items_in(root)] == ["Hello"]
    assert {one.path.split("/")[-1] for one in refusals_in(root)} == {"tasks.json", "user_system_messages.json"}
    assert {one.path.split("/")[-1] for one in skips_in(root)} == {
        *("projects.json", "memories.json", "users.json", "design_chats.json"),
        *("sora.json", "shopping.json", "group_chats.json"),
    }
    assert {one.kind for one in records_in(root) if isinstance(one, Refused | Skipped)} == {
        "other part of an assistant's export"
    }


@pytest.mark.parametrize("text", ["[]", "{}\n", " [ ] ", "null", "[{}]"])
def test_an_empty_value_of_json_is_nothing_to_read(tmp_path: Path, text: str) -> None:
    path = written(tmp_path / "in" / "a.json", text)
    (skipped,) = records_in(tmp_path / "in")
    assert isinstance(skipped, Skipped)
    (refused,) = refusals_in(path)
    assert refused.reason == "is JSON without anything in it"


def test_json_without_conversations_beside_it_is_text(tmp_path: Path) -> None:
    (item,) = items_in(written(tmp_path / "tasks.json", _PARTS["tasks.json"]))
    assert item.reader == "text"
