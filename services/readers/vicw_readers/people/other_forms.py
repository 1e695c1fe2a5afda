"""Exports of chats in a form for the eye: refused, since as pages and tables private talk would be stored as public."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from vicw_readers.intake.file_start import FileStart
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.records import Record, UnreadableFileError

_PAGE = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype\s+html|html)[\s>]", re.IGNORECASE)
_TEXT_SUFFIXES = {"", ".txt"}
_PAGE_SUFFIXES = {".html", ".htm"}
_DISCORD_TEXT = re.compile(rb"(?:\xef\xbb\xbf)?={20,}\r?\nGuild: [^\n]*\nChannel: ")
_DISCORD_TABLE = re.compile(rb'(?:\xef\xbb\xbf)?"?AuthorID"?,"?Author"?,"?Date"?,"?Content"?,')


@dataclass(frozen=True, slots=True)
class _Form:
    """The pages of an exporter: ``marks`` are all in their first bytes, ``read`` are the files to read instead."""

    product: str
    marks: tuple[re.Pattern[bytes], ...]
    read: tuple[str, ...]
    fix: str


_TELEGRAM = _Form(
    "Telegram",
    (re.compile(rb"Exported Data"), re.compile(rb'class="page_wrap')),
    ("result.json", "../result.json", "../../result.json"),
    "Export again with the format JSON, and read result.json",
)
_DISCORD = _Form(
    "Discord",
    (re.compile(rb"\bchatlog__|\bpreamble__guild"),),
    ("{stem}.json",),
    "Export again as JSON (DiscordChatExporter: --format Json)",
)
_IMESSAGE = _Form(
    "iMessage",
    (
        re.compile(rb'\.message \.(?:sent|received)\b|<div class="message">\s*<div class="(?:sent|received)\b'),
        re.compile(rb'span\.timestamp|<span class="timestamp">'),
    ),
    ("{stem}.txt",),
    "Export again as text (imessage-exporter: --format txt)",
)
_SIGNAL = _Form(
    "Signal",
    (
        re.compile(
            rb"<span class=date>[^<]{0,40}</span>\s{0,9}<span class=time>[^<]{0,40}</span>\s{0,9}<span class=sender>"
        ),
    ),
    ("data.json", "chat.md"),
    "Read the data.json or the chat.md that signal-export writes beside it",
)
_LINE_TEXT = re.compile(rb"(?:\xef\xbb\xbf)?\[LINE\] [^\n]{1,500}\r?\n")
_KAKAO_TEXT = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:KakaoTalk Chats with |[^\n]{0,500}" + "카카오톡 대화".encode() + rb")[^\n]{0,500}\r?\n"
)
_AS_ITEMS = "Make it JSON Lines of items, with a speaker and a time each: see docs/importing.md#jsonl"
_LINE, _KAKAO = _Form("LINE", (), (), _AS_ITEMS), _Form("KakaoTalk", (), (), _AS_ITEMS)
_FORMS = (_TELEGRAM, _DISCORD, _IMESSAGE, _SIGNAL)


class OtherChatFormReader:
    """A chat that was exported as pages, by Discord's exporter as text or a table, by LINE or KakaoTalk as text."""

    name = "chat-for-the-eye"
    title = "chat exported as HTML, text or CSV"
    files = ("messages.html", "index.html", "* [*].html", "* [*].txt", "* [*].csv", "[LINE]*.txt")
    keeps = (
        "nothing: it is refused with the form to export (Telegram, Discord: JSON; iMessage: text; Signal: data; LINE, "
        "KakaoTalk: none)"
    )
    leaves = "all of it"
    is_personal = False

    def recognises(self, start: FileStart) -> bool:
        """Return whether the first bytes have the marks of an exporter."""
        return _form_of(start) is not None

    def read(self, source: SourceFile) -> Iterator[Record]:
        """Pass it over if the same chat is beside it in the form that is read, else refuse it."""
        form = _form_of(FileStart(source))
        if form is None:  # the user has named the format
            raise UnreadableFileError("is no chat that was exported as HTML, text or CSV")
        for pattern in form.read:
            name = pattern.replace("{stem}", source.stem)
            if source.beside(name):
                yield source.skip(f"shows the chat of {name}")
                return
        raise UnreadableFileError(f"is a chat of {form.product} in a form that is not read", fix=form.fix)


def _form_of(start: FileStart) -> _Form | None:
    if _DISCORD_TEXT.match(start.head) or _DISCORD_TABLE.match(start.head):
        return _DISCORD
    if start.suffix in _TEXT_SUFFIXES and _LINE_TEXT.match(start.head):
        return _LINE
    if start.suffix in _TEXT_SUFFIXES and _KAKAO_TEXT.match(start.head):
        return _KAKAO
    if start.suffix not in _PAGE_SUFFIXES and not _PAGE.match(start.head):
        return None
    if start.base == "index.html" and start.has_beside("data.json") and start.has_beside("chat.md"):
        return _SIGNAL  # whatever its version marks
    return next((form for form in _FORMS if all(mark.search(start.head) for mark in form.marks)), None)
