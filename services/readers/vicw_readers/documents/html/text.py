"""HTML as text for people: `read_page` for pages, `mail_text` for mails, `readable_text` for notes and answers."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from vicw_readers.documents.blocks import Block, joined
from vicw_readers.documents.html.page_reader import PageReader
from vicw_readers.documents.model import Properties

_ARTICLE_SHARE = 0.5
"""Articles with this much of a page's text are the page."""
_DECLARED = re.compile(
    rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([a-zA-Z0-9_:.-]+)|^\s*<\?xml[^>]*?encoding=["']([\w.-]+)"""
)
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_DECLARED_BYTES = 2048
_DATES = (
    "article:published_time", "datepublished", "date", "dc.date", "dc.date.issued", "dcterms.created", "dcterms.date",
    "pubdate", "article:modified_time",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class HtmlPage:
    """What a page says of itself, and its blocks."""

    properties: Properties
    blocks: tuple[Block, ...]


def readable_text(source: str) -> str:
    """Return all visible text of HTML, block by block: lists and rows a line each, links by their text; "" for none."""
    return joined(placed.block for placed in PageReader(whole=True).read(source))


def mail_text(source: str) -> str:
    """Return the text of a mail in lines: "> " before what it quotes, addresses after links; "" for none.

    >>> mail_text("<p>One <b>two</b></p><blockquote>three</blockquote><a href='https://x.y/z'>four</a>")
    'One two\\n> three\\nfour (https://x.y/z)'
    """
    return "\n".join(placed.block.text for placed in PageReader(mail=True).read(source))


def read_page(source: str) -> HtmlPage:
    """Return the content of a page: its main part if it marks one, without navigation, asides, forms and footers."""
    reader = PageReader()
    placed = reader.read(source)
    if not placed:  # all of it is navigation, or hidden until a script shows it
        placed = PageReader(whole=True).read(source)
    total = sum(len(one.block.text) for one in placed)
    main = [one for one in placed if one.in_main]
    articles = [one for one in placed if one.in_article]
    if main:
        placed = main
    elif sum(len(one.block.text) for one in articles) >= total * _ARTICLE_SHARE:
        placed = articles
    meta = reader.meta
    properties = Properties(
        title=reader.title or meta.get("og:title", ""),
        author=meta.get("author", "") or meta.get("dc.creator", ""),
        created=next((meta[name] for name in _DATES if meta.get(name)), ""),
        language=reader.language,
    )
    return HtmlPage(properties, tuple(one.block for one in placed))


def decode_page(data: bytes) -> str:
    """Return the text of a page's bytes, in the encoding of its mark or declaration, else UTF-8, else Windows-1252."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    declared = _DECLARED.search(data[:_DECLARED_BYTES])
    named = [(declared[1] or declared[2]).decode("ascii", "replace")] if declared else []
    for encoding in (*named, "utf-8"):
        try:
            return data.decode(encoding)
        except (LookupError, UnicodeDecodeError):
            continue
    return data.decode("cp1252", "replace")
