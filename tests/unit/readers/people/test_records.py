"""From messages to items: what an app has beyond the limits of an item is cut, not refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from vicw_readers.intake.source_file import SourceFile
from vicw_readers.people.message import ChatMessage
from vicw_readers.people.records import records_of
from vicw_readers.records import SourceItem
from vicw_shared.wire.ingest import Item


def item(**fields: Any) -> Item:
    message = ChatMessage(id="1", text="hot", timestamp=None, flow="f", **fields)
    [one] = records_of(SourceFile(Path("a"), "a", "a"), [message], "app", "App")
    assert isinstance(one, SourceItem), one
    return one.item


@pytest.mark.parametrize(
    ("speaker", "name"), [("Ida", "Ida"), (" \u200e", "unknown"), ("", "unknown"), ("x" * 600, "x" * 512), (None, None)]
)
def test_a_speaker_has_a_name_that_is_seen(speaker: str | None, name: str | None) -> None:
    assert item(speaker=speaker).speaker == name


@pytest.mark.parametrize("chat", ["", " ", "\u2060"])
def test_a_chat_without_a_name_that_is_seen_is_no_tag(chat: str) -> None:
    found = item(chat=chat)
    assert (found.tags, found.metadata) == ((), {})


def test_a_message_names_as_many_attachments_as_its_metadata_takes() -> None:
    names = item(attachments=tuple(f"{number}-{'picture' * 20}.jpg" for number in range(900))).metadata["attachments"]
    assert names[0].startswith("0-")
    assert names[-1] == f"and {900 - len(names) + 1} more"
    assert len(json.dumps(names)) < 4000
