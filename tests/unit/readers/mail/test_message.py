"""A mail: headers and bodies in any encoding, HTML, quotes and signatures folded, invitations."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from pathlib import Path

import pytest

from vicw_readers.documents.html.text import mail_text
from vicw_readers.intake.source_file import ImportOptions
from vicw_readers.mail.headers import decoded, header_text
from vicw_readers.mail.message import NoMailError, parsed_mail
from vicw_readers.mail.own_words import folded
from vicw_readers.paths import read_paths
from vicw_readers.records import Refused, SourceItem

HEAD = b"From: =?iso-8859-1?q?J=F6rg_Meyer?= <joerg@example.org>\nTo: Ana <ana@example.org>\nMessage-ID: <m1@x>\n"
DATE = b"Date: Tue, 29 Apr 2025 10:11:12 +0200\n"


def multipart(kind: str, *parts: str) -> bytes:
    body = "".join(f"--b\n{part}\n" for part in parts)
    return HEAD + DATE + f'Subject: s\nContent-Type: multipart/{kind}; boundary="b"\n\n{body}--b--\n'.encode()


def test_headers_and_body_are_decoded() -> None:
    data = HEAD + DATE + (
        b"Subject: =?utf-8?b?U2Now7ZuZXI=?= =?utf-8?q?_Ofen?=\nContent-Type: text/plain; charset=utf-8\n"
        b"Content-Transfer-Encoding: base64\n\n" + base64.b64encode("Der Ofen glüht.\n".encode())
    )  # fmt: skip
    mail = parsed_mail(data)
    assert (mail.sender, mail.subject, mail.text) == (
        ("Jörg Meyer", "joerg@example.org"),
        "Schöner Ofen",
        "Der Ofen glüht.",
    )
    assert mail.id == "m1@x"
    assert mail.sent_at == datetime(2025, 4, 29, 8, 11, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("body", "charset"),
    [
        ("schön", "iso-8859-1"),
        ("schön", "x-unknown"),
        ("schön", "us-ascii"),
        ("„schön“", "iso-8859-1"),
        ("時計", "gb2312"),
    ],
)
def test_what_is_said_wrongly_of_a_charset_does_no_harm(body: str, charset: str) -> None:
    written = {"iso-8859-1": "cp1252", "gb2312": "gbk"}.get(charset, "utf-8")
    head = HEAD + DATE + f"Content-Type: text/plain; charset={charset}\nContent-Transfer-Encoding: 8bit\n\n".encode()
    assert parsed_mail(head + body.encode(written)).text == body


def test_bytes_in_headers_are_read() -> None:
    assert parsed_mail(b"From: a@x\nSubject: " + "schön".encode() + b"\n\nx").subject == "schön"
    assert header_text("=?utf-8?b?broken") == "=?utf-8?b?broken"
    assert decoded(b"\xff\xfe", "utf-8") == "ÿþ"


def test_of_alternatives_the_plain_text_is_read() -> None:
    html = "Content-Type: text/html\n\n<p>rich</p>"
    assert parsed_mail(multipart("alternative", "Content-Type: text/plain\n\nplain", html)).text == "plain"
    assert parsed_mail(multipart("alternative", "Content-Type: text/plain\n\n  ", html)).text == "rich"
    stub = "Content-Type: text/plain\n\nThis message requires HTML to be shown."
    assert parsed_mail(multipart("alternative", stub, html)).text == "rich"


def test_html_is_read_as_text() -> None:
    assert mail_text(
        "<head><title>t</title><style>p{}</style></head><div style='display:none'>preview</div>"
        "<p>One&nbsp;<b>two</b></p><ul><li>three</ul><script>x()</script>"
        "<div>On Monday Ana wrote:<blockquote>old<br>older</blockquote></div><a href='https://a.b/c'>here</a>"
    ).split("\n") == ["One two", "- three", "On Monday Ana wrote:", "> old", "> older", "here (https://a.b/c)"]
    assert mail_text(
        "<table><tr><td><p>One</p><p>Two</p></td><td>Three</td></tr></table><blockquote><ul><li>old</ul></blockquote>"
        "<div style='max-height:0'>preview</div>"
    ).split("\n") == ["One", "Two", "Three", "> - old"]


def test_attachments_are_named_and_text_files_are_not_the_text() -> None:
    data = multipart(
        "mixed",
        "Content-Type: text/plain\n\nsee",
        'Content-Type: text/plain\nContent-Disposition: attachment; filename="notes.txt"\n\nnot this',
        "Content-Type: image/png\nContent-Disposition: attachment;\n filename*=utf-8''Pl%C3%A4ne.png\n\nAAAA",
        "Content-Type: image/png; name=logo.png\nContent-ID: <logo>\n\nAAAA",
    )
    mail = parsed_mail(data)
    assert (mail.text, mail.attachments) == ("see", ("notes.txt", "Pläne.png"))


def test_a_mail_in_a_mail_is_read_below_its_head() -> None:
    inner = "Content-Type: message/rfc822\n\nFrom: Ida <i@x>\nSubject: the keys\n\nUnder the stone."
    text = parsed_mail(multipart("mixed", "Content-Type: text/plain\n\nsee below", inner)).text
    assert text == "see below\n\n[attached mail: the keys, from Ida]\nUnder the stone."


def test_lines_broken_for_the_screen_are_joined() -> None:
    data = HEAD + b"Content-Type: text/plain; format=flowed\n\nThe kiln \nis hot.\n-- \nAna"
    assert parsed_mail(data).text == "The kiln is hot."


ANSWERS = {
    "top": ("Yes.\n\nOn Mon, 3 Mar 2025 at 10:00, Ana <a@x>\nwrote:\n> Is it hot?\n> Say.\n", "Yes."),
    "inline": ("On Monday, Ana wrote:\n> Hot?\n\nYes.\n\n> When?\n\nNow.\n", "Yes.\n\n\nNow."),
    "german": ("Ja.\n\nAm 03.03.25 um 10:00 schrieb Ana:\n> Heiß?\n", "Ja."),
    "french": ("Oui.\n\nLe lun. 3 mars 2025 à 10:00, Ana <a@x> a écrit :\n> Chaud ?\n", "Oui."),
    "outlook": (
        "Yes.\n\n________________________________\nFrom: Ana\nSent: Monday\nTo: Bo\nSubject: x\n\nHot?\n",
        "Yes.",
    ),
    "outlook, old": ("Yes.\n\n-----Original Message-----\nFrom: Ana\n\nHot?\n", "Yes."),
    "signature": ("Yes.\n\n-- \nBo\nKiln 4\n\n", "Yes."),
    "telephone": ("Yes.\n\nSent from my phone\n", "Yes."),
    "list": ("Yes.\n" + "_" * 47 + "\nKiln mailing list\nhttps://lists.example\n", "Yes."),
}


@pytest.mark.parametrize(("text", "own"), ANSWERS.values(), ids=ANSWERS)
def test_quotes_and_signatures_are_folded_away(text: str, own: str) -> None:
    assert folded(text, "Re: kiln", is_answer=True).text.split() == own.split()


def test_what_is_no_quote_stays() -> None:
    poem = "A poem:\n\n> The kiln is hot\n> and so am I\n\nIda"
    assert folded(poem, "poem", is_answer=False).text == poem
    forward = "For you.\n\n---------- Forwarded message ---------\nFrom: Ida\nSubject: keys\n\n> Under the stone."
    assert folded(forward, "Fwd: keys", is_answer=True).text == forward
    assert folded("> only this", "Re: x", is_answer=True).text == "> only this"
    assert (
        folded("On Monday we wrote a list:\n- one", "Re: x", is_answer=True).text == "On Monday we wrote a list:\n- one"
    )


def test_what_is_no_mail_is_said() -> None:
    with pytest.raises(NoMailError):
        parsed_mail(b"X-Header: 1\n\nwords")


def test_a_wrong_date_is_left_out_and_the_mail_is_read() -> None:
    mail = parsed_mail(HEAD + b"Date: the day before\n\nwords")
    assert (mail.sent_at, mail.text) == (None, "words")
    received = b"Received: from a by b; Tue, 29 Apr 2025 10:11:12 +0200\n"
    assert parsed_mail(received + HEAD + b"Date: soon\n\nx").sent_at == datetime(2025, 4, 29, 8, 11, 12, tzinfo=UTC)


def invitation(start: str, *, uid: str = "e1", sequence: int = 0, method: str = "REQUEST", more: str = "") -> str:
    return (
        "Content-Type: text/calendar; charset=utf-8\n\n"
        f"BEGIN:VCALENDAR\nMETHOD:{method}\nBEGIN:VEVENT\nUID:{uid}\nSEQUENCE:{sequence}\n{start}\nDTEND:20250506T150000Z\n"
        f'SUMMARY:Glaze the \n bowls\\, all\nLOCATION:Kiln 4\nORGANIZER;CN="Ida Berg":mailto:i@x\n{more}'
        "BEGIN:VALARM\nDESCRIPTION:alarm\nEND:VALARM\nEND:VEVENT\nEND:VCALENDAR\n"
    )


def items_of(data: bytes, path: Path) -> list[SourceItem | Refused]:
    path.write_bytes(data)
    return [one for one in read_paths([path], ImportOptions(owner="Ana")) if isinstance(one, SourceItem | Refused)]


@pytest.mark.parametrize(
    ("start", "moment"),
    [
        ("DTSTART;TZID=Europe/Berlin:20250506T160000", "2025-05-06T16:00:00+02:00"),
        ('DTSTART;TZID="W. Europe Standard Time":20250506T160000', "2025-05-06T16:00:00+02:00"),
        ("DTSTART:20250506T140000Z", "2025-05-06T14:00:00+00:00"),
        ("DTSTART;VALUE=DATE:20250506", "2025-05-06T00:00:00+00:00"),
    ],
)
def test_an_invitation_is_an_item_at_its_time(start: str, moment: str, tmp_path: Path) -> None:
    mail, event = items_of(
        multipart("mixed", "Content-Type: text/plain\n\nplease come", invitation(start)), tmp_path / "a.eml"
    )
    assert isinstance(mail, SourceItem)
    assert isinstance(event, SourceItem)
    assert event.item.timestamp == datetime.fromisoformat(moment)
    assert (event.item.name, event.item.speaker, event.item.subtype) == (
        "Glaze the bowls, all",
        "Ida Berg",
        "invitation",
    )
    assert "Where: Kiln 4" in event.item.text
    assert "alarm" not in event.item.text
    assert event.flow_id == mail.flow_id == "m1@x"
    assert event.item.about == ("Ana",)


def test_the_latest_news_of_an_event_counts(tmp_path: Path) -> None:
    def posted(number: int, part: str) -> bytes:
        data = multipart("mixed", "Content-Type: text/plain\n\nsee", part).replace(b"<m1@x>", b"<m%d@x>" % number)
        return b"From i@x Tue Apr 29 08:11:12 2025\n" + data + b"\n"

    later = "DTSTART:20250507T140000Z"
    archive = posted(1, invitation("DTSTART:20250506T140000Z")) + posted(2, invitation(later, sequence=1))
    archive += posted(3, invitation("DTSTART:20250506T140000Z", method="REPLY"))
    found = items_of(archive, tmp_path / "a.mbox")
    [event] = [one for one in found if isinstance(one, SourceItem) and one.item.subtype == "invitation"]
    assert event.item.timestamp == datetime(2025, 5, 7, 14, tzinfo=UTC)
    cancelled = items_of(archive + posted(4, invitation(later, sequence=2, method="CANCEL")), tmp_path / "b.mbox")
    assert any(isinstance(one, SourceItem) and one.item.text.startswith("Cancelled: Glaze") for one in cancelled)


def test_a_broken_invitation_is_refused_and_its_mail_is_read(tmp_path: Path) -> None:
    found = items_of(multipart("mixed", "Content-Type: text/plain\n\nsee", invitation("X-A:1")), tmp_path / "a.eml")
    assert [type(one).__name__ for one in found] == ["Refused", "SourceItem"]
    assert "DTSTART" in str(found[0])


def test_a_mail_is_known_by_its_headers_not_by_its_suffix(tmp_path: Path) -> None:
    data = HEAD + DATE + b"Subject: s\n\nwords"
    for name in ("a.eml", "a.txt", "a"):
        [mail] = items_of(data, tmp_path / name)
        assert isinstance(mail, SourceItem)
        assert (mail.reader, mail.context, mail.item.speaker) == ("mail", "Mail", "Jörg Meyer")
        assert mail.item.sensitivity.value == "personal"
    [mail] = items_of(b"%d\n" % len(data) + data + b"<?xml version='1.0'?><plist/>", tmp_path / "1.emlx")
    assert isinstance(mail, SourceItem)
    assert mail.item.text == "words"
    [note] = items_of(b"From: the kiln\nTo: the shelf\n\nA poem.\n", tmp_path / "poem.txt")
    assert isinstance(note, SourceItem)
    assert note.reader != "mail"
