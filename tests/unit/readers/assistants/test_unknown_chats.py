"""Chats of products that no reader knows are refused by name; JSON that is no chat is still text."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.files.records_of_file import items_in, records_in, refusals_in, written
from vicw_readers.records import Refused

_WORDS = "The gate code is 4711."
CHATS: dict[str, object] = {
    "Google Chat": {"messages": [{"creator": {"name": "Ida"}, "created_date": "Wednesday", "text": _WORDS}]},
    "Snapchat": {"tore": [{"From": "tore", "Content": _WORDS, "Created": "2025"}, {"From": "ida", "Content": "Yes"}]},
    "Matrix": {"messages": [{"type": "m.room.message", "sender": "@ida:x", "content": {"body": _WORDS}}]},
    "Teams": {
        "value": [
            {"from": {"user": {"displayName": "Ida"}}, "body": {"contentType": "html", "content": _WORDS}},
            {"from": {"user": {"displayName": "Tore"}}, "body": {"contentType": "html", "content": "Yes"}},
        ]
    },
    "Messenger": {"participants": [{"name": "Ida"}], "messages": [{"sender_name": "Ida", "content": _WORDS}]},
    "Skype": {"conversations": [{"id": "1", "MessageList": [{"displayName": "Ida", "content": _WORDS}]}]},
    "user and msg": [{"user": "ida", "msg": _WORDS}, {"user": "tore", "msg": "Yes"}],
    "nick and message": {"room": [{"nick": "ida", "message": _WORDS}, {"nick": "tore", "message": "Yes"}]},
    "a sender's number": {"chats": [{"senderId": 7, "messageText": _WORDS}]},
    "an author's name": [{"authorName": "Ida", "contents": [_WORDS]}, {"authorName": "Tore", "contents": ["Yes"]}],
    "one in a list of messages": {"messages": [{"userId": "U1", "plainText": _WORDS}]},
}
NO_CHATS: dict[str, object] = {
    "package": {"name": "x", "author": "Ana", "contributors": [{"name": "Ben", "email": "b@x.org"}], "scripts": {}},
    "OpenAPI": {
        "openapi": "3.1.0",
        "paths": {"/m": {"get": {"parameters": [{"name": "user", "in": "query"}, {"name": "text", "in": "query"}]}}},
        "components": {"schemas": {"Message": {"properties": {"author": {"type": "string"}, "text": {}}}}},
    },
    "issues": [
        {"number": 1, "title": "Crash", "state": "open", "user": {"login": "ana"}, "body": "It crashes."},
        {"number": 2, "title": "Slow", "state": "open", "user": {"login": "ben"}, "body": "It is slow."},
    ],
    "commits": [{"sha": "1f", "author": "Ana", "message": "fix: a"}, {"sha": "2f", "author": "Ben", "message": "b"}],
    "GeoJSON": {
        "type": "FeatureCollection",
        "features": [{"type": "Feature", "properties": {"name": "Dock"}, "geometry": {"type": "Point"}}] * 2,
    },
    "configuration": {"users": [{"user": "ana", "groups": ["admin"]}, {"user": "ben", "groups": []}], "port": 80},
    "translations": {"messages": {"user": "User", "text": "Text"}},
    "log": [{"level": "info", "user": "ana", "message": "signed in"}, {"level": "info", "user": "b", "message": "out"}],
    "routes": [{"from": "/a", "to": "/b"}, {"from": "/c", "to": "/d"}],
}


@pytest.mark.parametrize("product", CHATS)
@pytest.mark.parametrize("name", ["chat.json", "chat.txt", "chat"])
def test_a_chat_of_an_unknown_product_is_refused(tmp_path: Path, product: str, name: str) -> None:
    path = written(tmp_path / name, CHATS[product])
    assert items_in(path) == []
    (refused,) = refusals_in(path)
    assert (refused.kind, bool(refused.fix)) == ("chat of an unknown format", True)


@pytest.mark.parametrize("what", NO_CHATS)
def test_json_that_is_no_chat_is_text(tmp_path: Path, what: str) -> None:
    (item,) = items_in(written(tmp_path / "x.json", NO_CHATS[what]))
    assert item.reader == "text"


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        (
            "direct-messages.js",
            f'window.YTD.direct_messages.part0 = [{{"text": "{_WORDS}"}}]',
            "part of an archive of X",
        ),
        ("all.vcf", f"BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Ida Holm\r\nNOTE:{_WORDS}\r\nEND:VCARD\r\n", "vCard"),
        ("home.ics", f"\ufeffBEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:{_WORDS}\r\nEND:VEVENT\r\n", "calendar"),
        (
            "[LINE] Chat with Ida.txt",
            f"\ufeff[LINE] Chat history with Ida\r\n\r\n09:00\tIda\t{_WORDS}\r\n",
            "chat exported",
        ),
        ("Talk.txt", f"KakaoTalk Chats with Ida\nDate Saved : 2025\n\n2025, Ida : {_WORDS}\n", "chat exported"),
        ("말.txt", f"Ida 님과 카카오톡 대화\n저장한 날짜 : 2025\n\nIda : {_WORDS}\n", "chat exported"),
    ],
)
def test_what_else_is_of_people_is_refused_by_name(tmp_path: Path, name: str, text: str, kind: str) -> None:
    written(tmp_path / "in" / name, text)
    (refused,) = records_in(tmp_path / "in")
    assert isinstance(refused, Refused)
    assert refused.kind.startswith(kind)
    assert refused.fix
