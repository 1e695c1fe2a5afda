"""imessage-exporter's text files."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from vicw_readers.paths import read_paths
from vicw_readers.people.imessage import imessages
from vicw_readers.people.message import ChatMessage, MessageKind, Unread
from vicw_readers.records import SourceItem

CHAT = """\
Mar 01, 2025 10:00:00 AM (Read by you after 5 minutes)
Ida
The kiln is hot.

Close it at six.
Tapbacks:
Loved by Me
    Mar 01, 2025 10:02:00 AM
    Me
    Who closes it?


Mar 01, 2025 10:01:00 AM
Ida
/Users/me/Library/Messages/Attachments/kiln.jpg
Sent with Confetti

Mar 01, 2025 10:02:00 AM
Me
Who closes it?
This message responded to an earlier message.

Mar 01, 2025 10:03:00 AM Ida renamed the conversation to Potters

Mar 01, 2025 10:04:00 AM
Me
Mar 01, 2025 10:04:00 AM I will at sixe
Edited 5 seconds later: I will at six

Mar 01, 2025  1:05:00 PM
Ida
Ida unsent a message.

"""


def read(text: str) -> list[ChatMessage]:
    return [one for one in imessages(text.splitlines(keepends=True), "Potters") if isinstance(one, ChatMessage)]


def test_a_chat() -> None:
    found = read(CHAT)
    assert [(one.speaker, one.text) for one in found] == [
        ("Ida", "The kiln is hot.\n\nClose it at six."),
        ("Ida", "[attachment: kiln.jpg]"),
        ("Me", "Who closes it?"),
        (None, "Ida renamed the conversation to Potters"),
        ("Me", "I will at six"),
    ]
    assert found[0].timestamp == datetime(2025, 3, 1, 10)
    assert found[0].more == {"reactions": ["Loved by Me"]}
    assert found[2].reply_to == found[0].id
    assert found[3].kind is MessageKind.NOTICE
    assert found[4].is_edited
    assert [one.line for one in found] == [1, 13, 18, 23, 25]


def test_hours_after_noon_and_ids() -> None:
    [first, second] = read("Mar 01, 2025  1:05:00 PM\nIda\na\n\nMar 01, 2025  1:05:00 PM\nIda\nb\n\n")
    assert first.timestamp == datetime(2025, 3, 1, 13, 5)
    assert first.id != second.id


def test_a_date_that_does_not_exist_is_unread_alone() -> None:
    text = "Feb 30, 2025 10:00:00 AM\nIda\na\n\nMar 01, 2025 10:00:00 AM\nIda\nb\n"
    found = list(imessages(text.splitlines(keepends=True), "Potters"))
    assert [type(one).__name__ for one in found] == ["Unread", "ChatMessage"]
    assert isinstance(found[0], Unread)
    assert found[0].line == 1


def test_it_is_known_by_its_content(tmp_path: Path) -> None:
    (tmp_path / "Potters.txt").write_text(CHAT)
    items = [one for one in read_paths([tmp_path / "Potters.txt"]) if isinstance(one, SourceItem)]
    assert {(one.reader, one.flow_id, one.item.sensitivity.value) for one in items} == {
        ("imessage", "imessage:Potters", "personal")
    }
    assert len(items) == 5


def test_words_about_a_deleted_message_are_kept() -> None:
    words = "Sorry, I deleted a message by mistake. The plan:\n- glaze"
    [message] = read(f"Mar 01, 2025 10:00:00 AM\nIda\n{words}\n")
    assert message.text == words
    assert read("Mar 01, 2025 10:00:00 AM\nMe\nYou unsent a message 5 seconds after sending!\n") == []


@pytest.mark.parametrize("words", ["and/or maybe tomorrow at 5.30pm", "/shrug.now"])
def test_words_with_a_stroke_are_no_attachment(words: str) -> None:
    [message] = read(f"Mar 01, 2025 10:00:00 AM\nIda\n{words}\n")
    assert (message.text, message.attachments) == (words, ())


@pytest.mark.parametrize("folder", ["attachments/", "attachments/0/", "~/Library/Messages/", "/Users/me/"])
def test_paths_are_attachments(folder: str) -> None:
    [message] = read(f"Mar 01, 2025 10:00:00 AM\nIda\n{folder}kiln one.jpg\n")
    assert message.attachments == ("kiln one.jpg",)
