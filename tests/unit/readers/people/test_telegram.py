"""Telegram Desktop's JSON: one chat, an account, texts of entities, replies, notices, files that are cut."""

from __future__ import annotations

import io
import json
import tracemalloc
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from vicw_readers.paths import read_paths
from vicw_readers.people.message import ChatMessage, ChatRecord, MessageKind, Unread
from vicw_readers.people.telegram import telegram_messages
from vicw_readers.records import SourceItem


def message(key: int, text: Any = "", **more: Any) -> dict[str, Any]:
    time = {"date": "2025-06-01T12:00:00", "date_unixtime": str(1748772000 + key)}
    return {"id": key, "type": "message", **time, "from": "Ida", "from_id": "user5", "text": text, **more}


def chat(*messages: dict[str, Any], name: str | None = "Rowers", key: int = 77) -> dict[str, Any]:
    return {"name": name, "type": "private_group", "id": key, "messages": list(messages)}


def read(value: Any) -> list[ChatRecord]:
    return list(telegram_messages(io.BytesIO(json.dumps(value, ensure_ascii=False, indent=1).encode())))


def one(value: dict[str, Any]) -> ChatMessage:
    [found] = read(chat(value))
    assert isinstance(found, ChatMessage)
    return found


def test_a_message() -> None:
    found = one(message(3, "The boat leaks.", edited="2025-06-01T12:10:00", edited_unixtime="1748772600"))
    assert (found.id, found.speaker, found.text, found.chat) == ("telegram:77:3", "Ida", "The boat leaks.", "Rowers")
    assert found.timestamp == datetime.fromtimestamp(1748772003, UTC)
    assert found.edited_at == datetime.fromtimestamp(1748772600, UTC)
    assert found.line == 6


def test_a_text_of_entities() -> None:
    parts = [
        "Pay ",
        {"type": "bold", "text": "340 kroner"},
        " ",
        {"type": "text_link", "text": "here", "href": "https://a.b"},
    ]
    assert one(message(1, parts)).text == "Pay 340 kroner here (https://a.b)"


def test_a_reply_and_a_forward() -> None:
    found = one(message(4, "Yes", reply_to_message_id=3, forwarded_from="Tore"))
    assert (found.reply_to, found.text) == ("telegram:77:3", "[forwarded from Tore]\nYes")


def test_attachments_are_named() -> None:
    assert one(message(1, "look", photo="photos/oar.jpg")).text == "look\n[attachment: oar.jpg]"
    note = "(File not included. Change data exporting settings to download.)"
    assert one(message(1, file=note, media_type="voice_message")).attachments == ("voice message",)
    assert one(message(1, file=note, file_name="plan.pdf")).attachments == ("plan.pdf",)
    assert one(message(1, file="s/1.webp", media_type="sticker", sticker_emoji="🚣")).text == "[attachment: sticker 🚣]"


def test_what_has_no_text_of_its_own_is_told() -> None:
    poll = {"question": "Which lake?", "answers": [{"text": "North"}, {"text": "South"}]}
    assert one(message(1, poll=poll)).text == "Poll: Which lake?\n- North\n- South"
    place = {"latitude": 1.5, "longitude": 2.5}
    assert one(message(1, location_information=place, place_name="Pier")).text == "Location: Pier (1.5, 2.5)"


def test_a_service_message_is_a_notice() -> None:
    value = {"id": 1, "type": "service", "date": "2025-06-01T12:00:00", "actor": "Ida", "action": "invite_members"}
    found = one({**value, "members": ["Tore", None], "text": ""})
    assert (found.kind, found.speaker, found.text) == (MessageKind.NOTICE, None, "Ida invite members: Tore")
    assert found.timestamp == datetime(2025, 6, 1, 12)


def test_an_account_with_chats_and_left_chats() -> None:
    account = {
        "about": "Here is the data",
        "personal_information": {"first_name": "Ida"},
        "contacts": {"list": [{"first_name": "Tore"}]},
        "chats": {"about": "chats", "list": [chat(message(1, "a")), chat(message(1, "b"), name=None, key=78)]},
        "left_chats": {"about": "left", "list": [chat(message(1, "c"), key=79)]},
    }
    found = [one for one in read(account) if isinstance(one, ChatMessage)]
    assert [(one.id, one.text, one.chat) for one in found] == [
        ("telegram:77:1", "a", "Rowers"),
        ("telegram:78:1", "b", None),
        ("telegram:79:1", "c", "Rowers"),
    ]


def test_a_cut_file_gives_what_it_has_and_says_where() -> None:
    data = json.dumps(chat(message(1, "a"), message(2, "b")), indent=1).encode()
    first, last = telegram_messages(io.BytesIO(data[: data.index(b'"b"') + 2]))
    assert isinstance(first, ChatMessage)
    assert isinstance(last, Unread)
    assert last.line is not None
    assert last.line > 10


def test_a_broken_message_is_unread_alone() -> None:
    found = read(chat(message(1, "a"), {"type": "message"}, message(2, "b", date_unixtime=[1]), message(3, "c")))
    assert [type(one).__name__ for one in found] == ["ChatMessage", "Unread", "Unread", "ChatMessage"]


def test_a_list_as_type_is_no_chat(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"type": [], "id": 1, "messages": []}')
    assert not any(isinstance(one, SourceItem) and one.reader == "telegram" for one in read_paths([tmp_path]))


def test_escapes_that_only_telegram_writes_are_read() -> None:
    data = json.dumps(chat(message(1, "bell"), message(2, "a\\\\x41"))).replace("bell", "be\\x1Fll").encode()
    first, second = telegram_messages(io.BytesIO(data))
    assert isinstance(first, ChatMessage)
    assert isinstance(second, ChatMessage)
    assert (first.text, second.text) == ("be\x1fll", "a\\\\x41")


def test_bytes_that_are_no_text_cost_their_message_alone(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    data = json.dumps(chat(message(1, "one"), message(2, "BAD"), message(3, "three"))).encode()
    path.write_bytes(data.replace(b"BAD", b"\xff\xfe"))
    assert [type(one).__name__ for one in read_paths([path])] == ["SourceItem", "Refused", "SourceItem"]


def test_a_large_chat_is_read_in_little_memory() -> None:
    data = json.dumps(chat(*(message(n, f"message {n} " * 10) for n in range(40_000)))).encode()
    tracemalloc.start()
    count = sum(1 for _ in telegram_messages(io.BytesIO(data)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 40_000
    assert peak < 4_000_000 < len(data)


def test_it_is_known_by_its_content(tmp_path: Path) -> None:
    path = tmp_path / "anything.json"
    path.write_text(json.dumps(chat(message(1, "a"))))
    [item] = read_paths([path])
    assert isinstance(item, SourceItem)
    assert (item.reader, item.context, item.item.sensitivity.value) == ("telegram", "Telegram", "personal")
    assert item.item.tags == ("Rowers",)
