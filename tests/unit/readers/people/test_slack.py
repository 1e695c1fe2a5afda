"""Slack's export, as .zip and as folder: names for ids, threads, edits, bots, notices."""

from __future__ import annotations

import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from vicw_readers.intake.source_file import ImportOptions
from vicw_readers.paths import read_paths
from vicw_readers.people.message import ChatMessage, ChatRecord, MessageKind, Unread
from vicw_readers.people.slack.directory import slack_directory
from vicw_readers.people.slack.messages import slack_messages
from vicw_readers.records import Record, Refused, Skipped, SourceItem

USERS = [
    {"id": "U1", "name": "ida", "profile": {"real_name": "Ida Berg", "display_name": "ida"}},
    {"id": "U2", "name": "tore", "profile": {"real_name": "", "display_name": "Tore"}},
]
CHANNELS = [{"id": "C1", "name": "kilns", "members": ["U1"]}]
DIRECT = [{"id": "D1", "members": ["U1", "U2"]}]
DIRECTORY = slack_directory(USERS, {"channels.json": CHANNELS, "dms.json": DIRECT})


def message(ts: str, text: str = "", **more: Any) -> dict[str, Any]:
    return {"type": "message", "user": "U1", "text": text, "ts": ts, **more}


def read(*values: Any, folder: str = "kilns") -> list[ChatRecord]:
    return list(slack_messages(list(values), folder, DIRECTORY))


def one(value: dict[str, Any]) -> ChatMessage:
    [found] = read(value)
    assert isinstance(found, ChatMessage)
    return found


def test_a_message() -> None:
    found = one(message("1756720800.000100", "The kiln is hot.", edited={"user": "U1", "ts": "1756720900.000000"}))
    assert (found.id, found.speaker, found.chat) == ("slack:C1:1756720800.000100", "Ida Berg", "kilns")
    assert found.timestamp == datetime(2025, 9, 1, 10, 0, 0, 100, tzinfo=UTC)
    assert found.edited_at == datetime(2025, 9, 1, 10, 1, 40, tzinfo=UTC)


def test_marks_become_words() -> None:
    text = "<@U2> see <https://a.b/c|the plan>, <#C1|kilns> &amp; <!here> <mailto:i@x|i@x> <@U9> <!subteam^S1|@potters>"
    assert one(message("1.0", text)).text == "@Tore see the plan (https://a.b/c), #kilns & @here i@x @U9 @potters"


def test_a_thread_is_a_flow_and_the_channel_another() -> None:
    found = read(
        message("1.0", "alone"),
        message("2.0", "who fires?", thread_ts="2.0", reply_count=1),
        message("3.0", "I do", thread_ts="2.0", user="U2"),
        message("4.0", "all heard", thread_ts="2.0", subtype="thread_broadcast"),
    )
    messages = [one for one in found if isinstance(one, ChatMessage)]
    assert [one.flow for one in messages] == ["slack:C1", *["slack:C1:2.0"] * 3]
    assert [one.reply_to for one in messages] == [None, None, "slack:C1:2.0", "slack:C1:2.0"]


def test_bots_speak_by_their_names_and_in_what_they_attach() -> None:
    attached = [{"title": "Kiln 4", "text": "too hot <https://a.b|log>", "fallback": "x"}]
    bot = one(message("1.0", subtype="bot_message", user=None, username="Alarm", bot_id="B1", attachments=attached))
    assert (bot.speaker, bot.text) == ("Alarm", "Kiln 4\ntoo hot log (https://a.b)")
    blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": "<@U2> come"}, "fields": [{"text": "now"}]}]
    assert one(message("1.0", blocks=blocks)).text == "@Tore come\nnow"


def test_joins_are_notices_and_deleted_messages_are_left_out() -> None:
    found = one(message("1.0", "<@U1> has joined the channel", subtype="channel_join"))
    assert (found.kind, found.speaker, found.text) == (MessageKind.NOTICE, None, "@Ida Berg has joined the channel")
    assert read(message("1.0", "This message was deleted.", subtype="tombstone")) == []


def test_files_are_named() -> None:
    found = one(message("1.0", "glaze", files=[{"name": "glaze.pdf"}, {"mode": "tombstone"}], subtype="file_share"))
    assert found.text == "glaze\n[attachment: glaze.pdf]\n[attachment: file]"


def test_direct_messages_are_named_by_people() -> None:
    [found] = read(message("1.0", "psst"), folder="D1")
    assert isinstance(found, ChatMessage)
    assert (found.chat, found.flow) == ("Ida Berg, Tore", "slack:D1")


def test_a_broken_message_is_unread_alone() -> None:
    found = read(message("1.0", "a"), {"type": "message"}, 7, message("2.0", "b"))
    assert [type(one).__name__ for one in found] == ["ChatMessage", "Unread", "Unread", "ChatMessage"]
    assert list(slack_messages({"ok": False}, "kilns", DIRECTORY)) == [Unread(None, "is no list of messages")]


def files() -> dict[str, Any]:
    return {
        "users.json": USERS,
        "channels.json": CHANNELS,
        "dms.json": DIRECT,
        "kilns/2025-09-01.json": [message("1756720800.000100", "<@U2> fire it")],
        "D1/2025-09-01.json": [message("1756720800.000200", "psst", user="U2")],
    }


def told(records: list[Record]) -> list[tuple[str | None, str]]:
    return sorted((one.item.speaker, one.item.text) for one in records if isinstance(one, SourceItem))


def test_the_zip_and_its_folder_say_the_same(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for name, value in files().items():
            archive.writestr(name, json.dumps(value))
            path = tmp_path / "folder" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(value))
    packed, unpacked = (list(read_paths([tmp_path / name])) for name in ("a.zip", "folder"))
    assert told(packed) == told(unpacked) == [("Ida Berg", "@Tore fire it"), ("Tore", "psst")]
    assert [one.item for one in packed if isinstance(one, SourceItem)] == [
        one.item for one in unpacked if isinstance(one, SourceItem)
    ]
    assert sum(isinstance(one, Skipped) for one in packed) == 3
    assert not any(isinstance(one, Refused) for one in (*packed, *unpacked))


def test_a_list_of_users_alone_is_none_of_slacks(tmp_path: Path) -> None:
    (tmp_path / "users.json").write_text(json.dumps(USERS))
    assert not any(isinstance(one, Skipped) for one in read_paths([tmp_path]))


def test_a_cut_day_is_refused_and_the_rest_read(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for name, value in files().items():
            text = json.dumps(value, indent=1)
            archive.writestr(name, text)
        archive.writestr("kilns/2025-09-02.json", json.dumps([message("1.0", "a"), message("2.0", "b")], indent=1)[:-9])
    records = list(read_paths([tmp_path / "a.zip"]))
    [refused] = [one for one in records if isinstance(one, Refused)]
    assert "kilns/2025-09-02.json" in refused.path
    assert refused.line
    assert len(told(records)) == 2


def test_a_channel_without_the_lists_of_its_export_is_refused(tmp_path: Path) -> None:
    day = tmp_path / "kilns" / "2025-09-01.json"
    day.parent.mkdir()
    day.write_text(json.dumps(files()["kilns/2025-09-01.json"]))
    for path in (day, day.parent):
        [refused] = read_paths([path])
        assert isinstance(refused, Refused)
        assert "users.json" in refused.fix
    found = list(read_paths([day], ImportOptions(format="slack")))
    assert [type(one).__name__ for one in found] == ["Noted", "SourceItem"]
