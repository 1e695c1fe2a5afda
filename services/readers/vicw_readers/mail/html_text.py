"""The words of a mail's HTML part, in lines; quoted mails have "> " before theirs."""

from __future__ import annotations

import re
from html.parser import HTMLParser

_BLOCKS = {
    *("p", "div", "br", "tr", "table", "li", "ul", "ol", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "pre", "dt", "dd"),
    *("section", "article", "header", "footer", "blockquote", "center", "address"),
}
_HIDDEN = {"script", "style", "head", "title", "noscript", "template"}
_VOID = {"br", "hr", "img", "meta", "link", "input", "area", "base", "col", "embed", "source", "track", "wbr"}
_SPACE = re.compile(r"[ \t\r\n\xa0]+")
_INVISIBLE = re.compile(r"display\s*:\s*none|mso-hide\s*:\s*all|max-height\s*:\s*0(?:px)?\s*(?:;|$)", re.IGNORECASE)
_BLANK_LINES = re.compile(r"\n{3,}")
_MAX_DEPTH = 500


def html_text(markup: str) -> str:
    """Return the readable text of HTML, without scripts, styles and what is not shown.

    >>> html_text("<p>One <b>two</b></p><blockquote>three</blockquote><a href='https://x.y/z'>four</a>")
    'One two\\n> three\\nfour (https://x.y/z)'
    """
    parser = _TextParser()
    parser.feed(markup)
    parser.close()
    return parser.text()


class _TextParser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._lines: list[str] = []
        self._line: list[str] = []
        self._hidden: list[str] = []
        self._quotes: list[bool] = []
        self._link: tuple[str, int] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if self._hidden:
            if tag not in _VOID and len(self._hidden) < _MAX_DEPTH:
                self._hidden.append(tag)
            return
        is_hidden = tag in _HIDDEN or bool(_INVISIBLE.search(values.get("style") or ""))
        if is_hidden and tag not in _VOID:
            self._hidden.append(tag)
            return
        if tag in _BLOCKS:
            self._break()
        if tag == "blockquote":
            self._quotes.append(True)
        elif tag == "li":
            self._line.append("- ")
        elif tag in {"td", "th"}:
            self._line.append(" ")
        elif tag == "a" and (target := values.get("href")):
            self._link = (target, len(self._line))
        elif tag == "img" and (label := values.get("alt")):
            self._line.append(f" {label} ")

    def handle_endtag(self, tag: str) -> None:
        if self._hidden:
            if tag in self._hidden:
                while self._hidden.pop() != tag:
                    pass
            return
        if tag == "a" and self._link is not None:
            target, start = self._link
            self._link = None
            words = "".join(self._line[start:]).strip()
            if words and target.startswith(("http://", "https://")) and words not in target:
                self._line.append(f" ({target})")
        if tag in _BLOCKS:
            self._break()
        if tag == "blockquote" and self._quotes:
            self._quotes.pop()

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self._line.append(data)

    def text(self) -> str:
        self._break()
        return _BLANK_LINES.sub("\n\n", "\n".join(self._lines)).strip("\n")

    def _break(self) -> None:
        line = _SPACE.sub(" ", "".join(self._line)).strip()
        self._line = []
        self._link = None
        if line:
            self._lines.append("> " * bool(self._quotes) + line)
