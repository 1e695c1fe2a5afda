"""Tags and text of HTML, as browsers tell them apart, in time linear in the text whatever is wrong with it."""

from __future__ import annotations

import html
import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field

_NAME = r"[a-zA-Z][^\s/>]*+"
_TAG = re.compile(rf"""<(/?)({_NAME})((?:[^>"']|"[^"]*"|'[^']*')*+)>""")
_TAG_WITH_OPEN_QUOTE = re.compile(rf"<(/?)({_NAME})([^>]*+)>")
_ATTRIBUTE = re.compile(r"""([^\s"'<>/=]++)(?:\s*+=\s*+("[^"]*"|'[^']*'|[^\s>"']++))?""")
_RAW = {"script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes"}
"""Elements whose content is text up to their own end tag."""
_WITH_ENTITIES = {"title", "textarea"}


@dataclass(frozen=True, slots=True)
class HtmlTag:
    """A start or end tag, its name in small letters."""

    name: str
    is_end: bool = False
    is_empty: bool = False
    written: str = field(default="", repr=False)

    @property
    def attributes(self) -> dict[str, str]:
        """The attributes, names in small letters; the first of equal names counts."""
        found: dict[str, str] = {}
        for name, value in _ATTRIBUTE.findall(self.written):
            found.setdefault(name.lower(), html.unescape(value.strip("\"'")))
        return found


def tags_and_text(source: str) -> Iterator[HtmlTag | str]:
    """Yield tags, and the text between them with its entities resolved. Comments and declarations are left out."""
    at = 0
    text_from = 0
    last_end = source.rfind(">")
    while (at := source.find("<", at)) >= 0:
        following = source[at + 1 : at + 2]
        if following in ("!", "?"):
            if at > text_from:
                yield html.unescape(source[text_from:at])
            at = text_from = _after_declaration(source, at)
            continue
        match = _TAG.match(source, at) or _TAG_WITH_OPEN_QUOTE.match(source, at)
        if match is None:
            if (following.isalpha() or following == "/") and at > last_end:
                break  # the file ends inside a tag
            at += 1
            continue
        if at > text_from:
            yield html.unescape(source[text_from:at])
        name = match[2].lower().rpartition(":")[2]
        tag = HtmlTag(name, bool(match[1]), match[3].endswith("/"), match[3])
        yield tag
        at = text_from = match.end()
        if name in _RAW and not tag.is_end and not tag.is_empty:
            at = text_from = yield from _raw(source, at, name)
    rest = source[text_from:] if at < 0 else source[text_from:at]
    if rest:
        yield html.unescape(rest)


def _raw(source: str, start: int, name: str) -> Generator[str, None, int]:
    end = re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE).search(source, start)
    stop = end.start() if end else len(source)
    if stop > start:
        yield html.unescape(source[start:stop]) if name in _WITH_ENTITIES else source[start:stop]
    return stop


def _after_declaration(source: str, at: int) -> int:
    """Return where a comment, declaration or instruction ends; one that does not takes the rest."""
    for opened, closed in (("<!--", "-->"), ("<![CDATA[", "]]>"), ("<", ">")):
        if source.startswith(opened, at):
            end = source.find(closed, at + len(opened) - (2 if closed == "-->" else 0))
            return len(source) if end < 0 else end + len(closed)
    return len(source)
