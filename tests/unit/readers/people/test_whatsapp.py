"""WhatsApp exports: speakers, notices, attachments, edits, ids, and what only looks like one."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from vicw_readers.intake.source_file import ImportOptions
from vicw_readers.paths import read_paths
from vicw_readers.people.message import Assumed, ChatMessage, MessageKind
from vicw_readers.people.whatsapp.chat import title_of, whatsapp_chat
from vicw_readers.people.whatsapp.lines import looks_like_whatsapp
from vicw_readers.records import Noted, Refused, SourceItem
from vicw_shared.wire.ingest import Item

IPHONE = """\
\ufeff[14/10/2025, 3:34:09\u202fPM] Rowing: \u200eMessages and calls are end-to-end encrypted. No one else reads them.
[14/10/2025, 3:35:10\u202fPM] Ida: \u200eIda created this group
[14/10/2025, 3:36:44\u202fPM] ~\u202fTore: The boat needs varnish.
Two tins, and brushes:
https://shop.example/varnish
\u200e[15/10/2025, 9:01:02\u202fAM] Ida: \u200eimage omitted
\u200e[15/10/2025, 9:02:02\u202fAM] Ida: the oar \u200e<attached: 00000042-PHOTO-2025-10-15.jpg>
[15/10/2025, 9:03:00\u202fAM] Ida: On Sunday at eight \u200e<This message was edited>
[15/10/2025, 9:04:00\u202fAM] Tore: \u200eThis message was deleted.
[15/10/2025, 9:05:00\u202fAM] Tore: \u200ePOLL:
Which lake?
\u200eOPTION: North (2 votes)
"""
ANDROID = """\
14/10/2025, 15:34 - Messages and calls are end-to-end encrypted. No one outside of this chat can read them.
14/10/2025, 15:34 - Ida created group "Rowing: north lake"
14/10/2025, 15:35 - Ida changed the subject from "Rowing" to "Rowing: north lake"
14/10/2025, 15:36 - +47 555 01 23: The boat needs varnish.
14/10/2025, 15:36 - +47 555 01 23: <Media omitted>
14/10/2025, 15:36 - Ida: IMG-20251014-WA0001.jpg (file attached)
the oar
14/10/2025, 15:37 - Ida: On Sunday at eight <This message was edited>
14/10/2025, 15:38 - Ida: You deleted this message
14/10/2025, 15:39 - Tore left
"""


def read(text: str, name: str = "_chat.txt") -> list[ChatMessage]:
    found = whatsapp_chat(lambda: text.removeprefix("\ufeff").splitlines(keepends=True), name)
    return [one for one in found if isinstance(one, ChatMessage)]


def said(messages: list[ChatMessage]) -> list[tuple[str | None, str]]:
    return [(one.speaker, one.text) for one in messages]


def items(path: Path, options: ImportOptions | None = None) -> list[Item]:
    return [one.item for one in read_paths([path], options) if isinstance(one, SourceItem)]


def test_an_iphones_chat() -> None:
    messages = read(IPHONE)
    assert said(messages) == [
        (None, "Ida created this group"),
        ("Tore", "The boat needs varnish.\nTwo tins, and brushes:\nhttps://shop.example/varnish"),
        ("Ida", "[attachment: image]"),
        ("Ida", "the oar\n[attachment: 00000042-PHOTO-2025-10-15.jpg]"),
        ("Ida", "On Sunday at eight"),
        ("Tore", "POLL:\nWhich lake?\nOPTION: North (2 votes)"),
    ]
    assert [one.kind for one in messages][:2] == [MessageKind.NOTICE, MessageKind.MESSAGE]
    assert {one.chat for one in messages} == {"Rowing"}
    assert [one.is_edited for one in messages] == [False, False, False, False, True, False]
    assert messages[3].attachments == ("00000042-PHOTO-2025-10-15.jpg",)
    assert messages[1].line == 3


def test_an_androids_chat() -> None:
    messages = read(ANDROID)
    assert said(messages) == [
        (None, 'Ida created group "Rowing: north lake"'),
        (None, 'Ida changed the subject from "Rowing" to "Rowing: north lake"'),
        ("+47 555 01 23", "The boat needs varnish."),
        ("+47 555 01 23", "[attachment: media]"),
        ("Ida", "the oar\n[attachment: IMG-20251014-WA0001.jpg]"),
        ("Ida", "On Sunday at eight"),
        (None, "Tore left"),
    ]
    assert {one.chat for one in messages} == {"Rowing: north lake"}


@pytest.mark.parametrize(
    "phrase", ["Médias omis", "Medien ausgeschlossen", "Multimedia omitido", "Без медиафайлов", "미디어 생략"]
)
def test_media_that_was_not_exported_in_other_languages(phrase: str) -> None:
    [message] = read(f"13/10/2025, 10:00 - Ida: <{phrase}>\n")
    assert message.attachments == (phrase,)


def test_words_in_brackets_stay_words() -> None:
    assert said(read("13/10/2025, 10:00 - Ida: <the blue one>\n13/10/2025, 10:01 - Ida: omitted\n")) == [
        ("Ida", "<the blue one>"),
        ("Ida", "omitted"),
    ]


def test_a_pasted_line_of_the_other_phone_is_somebodys_words() -> None:
    text = "13/10/2025, 10:00 - Ida: she wrote\n[12/10/2025, 09:00:00] Tore: no\n13/10/2025, 10:01 - Tore: when?\n"
    assert said(read(text)) == [("Ida", "she wrote\n[12/10/2025, 09:00:00] Tore: no"), ("Tore", "when?")]


def test_an_id_survives_an_edit_and_a_longer_export() -> None:
    before = read(IPHONE)
    edited = IPHONE.replace("The boat needs varnish.", "The boat needs two coats of varnish.")
    after = read(edited + "[16/10/2025, 9:05:00 AM] Ida: new\n")
    assert [one.id for one in after][: len(before)] == [one.id for one in before]
    assert len({one.id for one in after}) == len(after)


def test_two_messages_of_a_minute_have_two_ids() -> None:
    first, second = read("13/10/2025, 10:00 - Ida: ok\n13/10/2025, 10:00 - Ida: ok\n")
    assert first.id != second.id


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("WhatsApp Chat with Ana Vale.txt", "Ana Vale"),
        ("WhatsApp Chat - Rowing (2).zip", "Rowing"),
        ("WhatsApp-Chat mit Jörg.txt", "Jörg"),
        ("Chat de WhatsApp con Inés.txt", "Inés"),
        ("Conversa do WhatsApp com Rui.txt", "Rui"),
        ("Discussion WhatsApp avec Zoé.txt", "Zoé"),
        ("Chat WhatsApp con Pia.txt", "Pia"),
        ("Чат WhatsApp с контактом Оля.txt", "Оля"),
        ("_chat.txt", None),
        ("whatsapp_chat.txt", None),
    ],
)
def test_the_chats_name_is_in_the_files(name: str, title: str | None) -> None:
    assert title_of(name) == title


@pytest.mark.parametrize(
    "log",
    [
        "[2024-01-15 10:00:00] production.ERROR: no route\n[2024-01-15 10:00:01] production.INFO: retry\n",
        "[2024-01-15 10:00:00] hook.INFO: WhatsApp: 3 messages omitted\n",
        "2024-01-15 10:00:00 - root: started\n2024-01-15 10:00:01 - root: stopped\n",
        "[2024-01-02 10:00:00] production.ERROR: No application encryption key\n",
        "12/31/2024 10:00:00 - WARN: no route\n12/31/2024 10:00:01 - root - INFO: retry\n",
        "[2024-01-02 10:00:00] main: No application encryption key\n",
        "Dear all,\n13/10/2025, 10:00 - Ida: pasted\n",
    ],
)
def test_a_log_is_no_chat(log: str) -> None:
    assert not looks_like_whatsapp(log.splitlines(), is_named_so=False)


def test_the_zip_under_any_name_gives_the_same_personal_items(tmp_path: Path) -> None:
    for name in ("WhatsApp Chat - Rowing.zip", "copy.zip"):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr("_chat.txt", IPHONE)
            archive.writestr("00000042-PHOTO-2025-10-15.jpg", b"\xff\xd8\x00")
    options = ImportOptions(owner="Ida")
    first, second = (items(tmp_path / name, options) for name in ("WhatsApp Chat - Rowing.zip", "copy.zip"))
    assert first == second
    assert len(first) == 6
    assert {(one.sensitivity.value, one.about) for one in first} == {("personal", ("Ida",))}
    assert {one.flow_id for one in first} == {"whatsapp:Rowing"}


def test_a_chat_with_another_suffix_is_one(tmp_path: Path) -> None:
    (tmp_path / "chat.log").write_text(ANDROID)
    assert len(items(tmp_path / "chat.log")) == 7


def test_an_assumption_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "WhatsApp Chat with Ana.txt"
    path.write_text("1/2/24, 15:00 - Ana: one\n", "utf-8")
    [note] = [one for one in read_paths([path]) if isinstance(one, Noted)]
    assert "which number is the day" in note.reason


def test_what_has_no_end_is_unread(tmp_path: Path) -> None:
    text = "13/10/2025, 10:00 - Ida: a\n" + "x" * 1_000_001 + "\n13/10/2025, 10:01 - Ida: b\n"
    found = list(whatsapp_chat(lambda: text.splitlines(keepends=True), "WhatsApp Chat with Ida.txt"))
    kinds = [type(one).__name__ for one in found if not isinstance(one, Assumed)]
    assert kinds == ["Unread", "ChatMessage"]


@pytest.mark.parametrize(
    "text",
    ["Non fa nulla", "Ich habe null Ahnung", "It says this message was deleted, what was in it? The keys?"],
)
def test_words_with_the_phrase_of_a_deleted_message_are_kept(text: str) -> None:
    assert said(read(f"13/10/2025, 10:00 - Ida: {text}\n")) == [("Ida", text)]


@pytest.mark.parametrize(
    "text", ["null", "This message was deleted.", "Você apagou esta mensagem", "Вы удалили это сообщение"]
)
def test_a_deleted_message_is_left_out(text: str) -> None:
    assert read(f"13/10/2025, 10:00 - Ida: {text}\n") == []


@pytest.mark.parametrize("name", ["WhatsApp Chat with Ana.txt", "_chat.txt"])
def test_a_chat_with_times_of_an_unknown_form_is_refused_not_stored_as_public_text(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("Tuesday the 14th, ten o'clock | Ana | The gate code is 4711.\n")
    [refused] = read_paths([tmp_path / name])
    assert isinstance(refused, Refused)
    assert refused.kind == "WhatsApp chat"
    assert "another language" in refused.fix


def test_the_files_name_names_a_chat_before_those_who_speak() -> None:
    before = "13/10/2025, 10:00 - Ida: one\n13/10/2025, 10:01 - Tore: two\n"
    first, second = (
        read(text, "WhatsApp Chat with Potters.txt") for text in (before, before + "13/10/2025, 10:02 - Bo: three\n")
    )
    assert {one.chat for one in (*first, *second)} == {"Potters"}
    assert [one.id for one in first] == [one.id for one in second[:2]]


def test_a_folder_called_whatsapp_makes_no_log_a_chat(tmp_path: Path) -> None:
    path = tmp_path / "whatsapp" / "bot.log"
    path.parent.mkdir()
    path.write_text("[2024-01-15 10:00:00] main: started\n[2024-01-15 10:00:01] main: stopped\n")
    assert [one.reader for one in read_paths([tmp_path]) if isinstance(one, SourceItem)] == ["text"]
