"""DiscordChatExporter's JSON."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from vicw_readers.paths import read_paths
from vicw_readers.people.discord import discord_messages
from vicw_readers.people.message import ChatMessage, ChatRecord, MessageKind, Unread
from vicw_readers.records import SourceItem


def message(key: int, content: str = "", **more: Any) -> dict[str, Any]:
    author = {"id": "1", "name": "ida", "nickname": "Ida", "isBot": False}
    time = {"timestamp": "2025-03-01T10:00:00.123+01:00", "timestampEdited": None}
    return {"id": str(key), "type": "Default", **time, "isPinned": False, "content": content, "author": author, **more}


def export(*messages: dict[str, Any], kind: str = "GuildTextChat") -> dict[str, Any]:
    channel = {"id": "9", "type": kind, "categoryId": "8", "category": "Text", "name": "kilns", "topic": None}
    about = {"guild": {"id": "7", "name": "Potters"}, "channel": channel, "dateRange": {"after": None, "before": None}}
    return {**about, "exportedAt": "2025-04-01T00:00:00+00:00", "messages": list(messages), "messageCount": 1}


def read(value: Any) -> list[ChatRecord]:
    return list(discord_messages(io.BytesIO(json.dumps(value, indent=2).encode())))


def one(value: dict[str, Any]) -> ChatMessage:
    [found] = read(export(value))
    assert isinstance(found, ChatMessage)
    return found


def test_a_message() -> None:
    found = one(message(5, "The kiln is hot.", timestampEdited="2025-03-01T10:05:00+01:00"))
    assert (found.id, found.speaker, found.text, found.chat) == (
        "discord:5",
        "Ida",
        "The kiln is hot.",
        "Potters / kilns",
    )
    assert found.timestamp == datetime(2025, 3, 1, 9, 0, 0, 123000, tzinfo=UTC)
    assert found.edited_at == datetime(2025, 3, 1, 9, 5, tzinfo=UTC)
    assert found.flow == "discord:9"


def test_a_reply_a_forward_and_mentions() -> None:
    reply = message(
        6, "<@2> yes <:fire:33>", type="Reply", reference={"messageId": "5", "channelId": "9", "guildId": "7"}
    )
    found = one({**reply, "mentions": [{"id": "2", "name": "tore", "nickname": "Tore"}]})
    assert (found.reply_to, found.text) == ("discord:5", "@Tore yes :fire:")
    forward = message(7, reference={"type": "Forward", "messageId": "3"}, forwardedMessage={"content": "fire at six"})
    assert (one(forward).text, one(forward).reply_to) == ("[forwarded]\nfire at six", None)


def test_attachments_stickers_and_embeds() -> None:
    found = one(message(5, attachments=[{"fileName": "kiln.png"}], stickers=[{"name": "wave"}]))
    assert found.text == "[attachment: kiln.png]\n[attachment: sticker wave]"
    embeds = [{"title": "Alarm", "description": "too hot", "fields": [{"name": "kiln", "value": "4"}]}]
    assert one(message(5, embeds=embeds)).text == "Alarm\ntoo hot\nkiln: 4"


def test_what_the_app_says_is_a_notice() -> None:
    found = one(message(5, "Joined the server.", type="GuildMemberJoin"))
    assert (found.kind, found.speaker, found.text) == (MessageKind.NOTICE, None, "Ida: Joined the server.")


def test_a_thread_is_named_with_its_channel() -> None:
    [found] = read(export(message(5, "x"), kind="GuildPublicThread"))
    assert isinstance(found, ChatMessage)
    assert found.chat == "Potters / Text / kilns"


def test_what_is_broken_is_unread_and_the_rest_read() -> None:
    data = json.dumps(
        export(message(1, "a"), {"id": "2"}, message(3, "b", timestamp="soon"), message(4, "c")), indent=2
    )
    found = list(discord_messages(io.BytesIO(data.encode())))
    assert [type(one).__name__ for one in found] == ["ChatMessage", "Unread", "Unread", "ChatMessage"]
    cut = list(discord_messages(io.BytesIO(data.encode()[:-40])))
    assert isinstance(cut[-1], Unread | ChatMessage)
    assert isinstance(list(discord_messages(io.BytesIO(data.encode()[: data.index('"c"')])))[-1], Unread)


def test_it_is_known_by_its_content(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(export(*(message(n, "word " * 50) for n in range(500)))))
    items = [one for one in read_paths([path]) if isinstance(one, SourceItem)]
    assert len(items) == 500
    assert (items[0].reader, items[0].context, items[0].item.sensitivity.value) == ("discord", "Discord", "personal")
