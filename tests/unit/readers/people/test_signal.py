"""signal-export's files."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from vicw_readers.paths import read_paths
from vicw_readers.people.message import ChatMessage, MessageKind, Unread
from vicw_readers.people.signal import signal_lines, signal_markdown
from vicw_readers.records import Skipped, SourceItem

MARKDOWN = """\
[2025-03-01 10:00:00] Ida: The kiln is hot.  

[2025-03-01 10:01:00] Me: 

> The kiln is hot.

Then close it.
Now.  
(- Ida: 👍, Tore: 🔥 -)

[2025-03-01 10:02:00] Ida:   ![kiln.jpg](./media/kiln.jpg)  

[2025-03-01 10:03:00] Ida: (This message was deleted)

[2025-03-01 10:04:00] Me: a [link](https://a.b) stays  

"""  # noqa: W291


def value(body: str, time: str = "10:00:00", **more: Any) -> str:
    fields: dict[str, Any] = {
        "quote": "",
        "sticker": None,
        "reactions": [],
        "attachments": [],
        "deleted": False,
        "call": False,
    }
    return (
        json.dumps({"date": f"2025-03-01T{time}.250000", "sender": "Ida", "body": f"{body}  ", **fields, **more}) + "\n"
    )


def test_lines_of_json() -> None:
    found = list(
        signal_lines(
            [
                value("The kiln is hot."),
                value("close it", quote="\n\n> The kiln\n> is hot.\n\n", reactions=[["Tore", "🔥"]]),
                value("", attachments=[{"name": "kiln.jpg", "path": "media/kiln.jpg", "missing_kind": None}]),
                value("", deleted=True),
                value("Missed voice call", call=True),
                "{broken\n",
                value("new", "10:06:00", sender="Me"),
            ],
            "Potters",
        )
    )
    messages = [one for one in found if isinstance(one, ChatMessage)]
    assert [(one.speaker, one.text) for one in messages] == [
        ("Ida", "The kiln is hot."),
        ("Ida", "close it"),
        ("Ida", "[attachment: kiln.jpg]"),
        (None, "Ida: Missed voice call"),
        ("Me", "new"),
    ]
    assert messages[1].more == {"quotes": "The kiln is hot.", "reactions": ["Tore: 🔥"]}
    assert messages[3].kind is MessageKind.NOTICE
    assert [one.line for one in found if isinstance(one, Unread)] == [6]
    assert len({one.id for one in messages}) == len(messages)


def test_markdown() -> None:
    found = [
        one for one in signal_markdown(MARKDOWN.splitlines(keepends=True), "Potters") if isinstance(one, ChatMessage)
    ]
    assert [(one.speaker, one.text) for one in found] == [
        ("Ida", "The kiln is hot."),
        ("Me", "Then close it.\nNow."),
        ("Ida", "[attachment: kiln.jpg]"),
        ("Me", "a [link](https://a.b) stays"),
    ]
    assert found[1].more == {"quotes": "The kiln is hot.", "reactions": ["Ida: 👍", "Tore: 🔥"]}
    assert found[1].timestamp == datetime(2025, 3, 1, 10, 1)


def test_both_forms_have_the_same_ids() -> None:
    [of_json] = signal_lines([value("hot")], "Potters")
    [of_markdown] = signal_markdown(["[2025-03-01 10:00:00] Ida: hot  \n", "\n"], "Potters")
    assert isinstance(of_json, ChatMessage)
    assert isinstance(of_markdown, ChatMessage)
    assert of_json.id == of_markdown.id


def test_a_date_that_does_not_exist_is_unread_alone() -> None:
    lines = ["[2025-02-30 10:00:00] Ida: a\n", "[2025-03-01 10:00:00] Ida: b\n"]
    assert [type(one).__name__ for one in signal_markdown(lines, "x")] == ["Unread", "ChatMessage"]


def test_an_export_is_read_once(tmp_path: Path) -> None:
    folder = tmp_path / "signal" / "Potters"
    folder.mkdir(parents=True)
    (folder / "chat.md").write_text(MARKDOWN)
    (folder / "data.json").write_text(value("The kiln is hot."))
    skipped, item = read_paths([tmp_path / "signal"])
    assert isinstance(skipped, Skipped)
    assert isinstance(item, SourceItem)
    assert (item.reader, item.item.tags, item.flow_id) == ("signal", ("Potters",), "signal:Potters")
    assert item.item.timestamp == datetime(2025, 3, 1, 10, 0, 0, 250000, tzinfo=UTC)
    (folder / "data.json").unlink()
    assert sum(isinstance(one, SourceItem) for one in read_paths([tmp_path / "signal"])) == 4
