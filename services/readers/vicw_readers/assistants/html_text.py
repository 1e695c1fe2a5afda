"""The text of a piece of HTML."""

from __future__ import annotations

from html.parser import HTMLParser

_BLOCKS = {"p", "br", "div", "li", "ul", "ol", "tr", "pre", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "table"}
_UNSEEN = {"script", "style", "head", "template"}


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._unseen = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._unseen += tag in _UNSEEN
        if tag in _BLOCKS:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        self._unseen = max(0, self._unseen - (tag in _UNSEEN))
        if tag in _BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self.parts.append(data)


def text_of_html(html: str) -> str:
    """Return what a piece of HTML says: blocks on lines of their own, without scripts and styles.

    >>> text_of_html("<p>Melts <b>evenly</b>.</p><ul><li>One</li></ul>")
    'Melts evenly.\\nOne'
    """
    parser = _Text()
    parser.feed(html)
    parser.close()
    lines = (" ".join(line.split()) for line in "".join(parser.parts).split("\n"))
    return "\n".join(filter(None, lines))
