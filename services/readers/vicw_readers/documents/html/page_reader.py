"""From the tags of a page to blocks: what a reader sees, in its order, without navigation, scripts and forms."""

from __future__ import annotations

import re
from dataclasses import dataclass

from vicw_readers.documents.blocks import Block
from vicw_readers.documents.html.tags import HtmlTag, tags_and_text

_VOID = set("area base br col embed hr img input link meta param source track wbr".split())
_HIDDEN = set(
    "script style template noscript head nav svg canvas iframe object audio video form button select option textarea "
    "datalist dialog noembed noframes map rp rt".split()
)
_BLOCKS = set(
    "address article aside blockquote body caption center dd details dir div dl dt fieldset figcaption figure footer "
    "h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu ol p pre section summary table tbody td tfoot th "
    "thead tr ul".split()
)
_ENDED_BY = {
    # An element of the key ends open ones of the value, up to the nearest list or table.
    "li": ({"li"}, {"ul", "ol", "menu", "dir"}),
    "dt": ({"dt", "dd"}, {"dl"}),
    "dd": ({"dt", "dd"}, {"dl"}),
    "tr": ({"tr", "td", "th"}, {"table"}),
    "td": ({"td", "th"}, {"tr", "table"}),
    "th": ({"td", "th"}, {"tr", "table"}),
    "option": ({"option"}, {"select"}),
}
_HIDDEN_ROLES = {"navigation", "banner", "contentinfo", "search", "menu", "menubar", "toolbar", "alertdialog", "dialog"}
_SIDE = re.compile(r"\b(?:nav\w*|menu\w*|sidebar\w*|breadcrumb\w*|cookie\w*|footer\w*|share\w*|social\w*|pagination)\b")
_INVISIBLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden")
_INVISIBLE_IN_MAIL = re.compile(rf"{_INVISIBLE.pattern}|mso-hide\s*:\s*all|max-height\s*:\s*0(?:px)?\s*(?:;|$)")
_SPACE = re.compile(r"[ \t\n\r\f\xa0]+")
_SIDE_LINK_SHARE = 0.5
"""Of the text of what is named like a menu: if this much of it is links, it is one."""
_MAX_DEPTH = 512


@dataclass(slots=True)
class _Element:
    name: str
    is_hidden: bool = False
    is_main: bool = False
    is_article: bool = False
    first_block: int = 0
    """The number of blocks before it, if it is to be judged when it ends."""
    is_suspect: bool = False
    number: int = 0
    """Of an ordered list: the number of its next item; of an item: whether its mark was written."""
    target: str = ""
    text_from: int = 0
    """Of a link in a mail: its address, and where its text begins."""


@dataclass(slots=True)
class Placed:
    """A block, the characters of it that are links, and where in the page it stands."""

    block: Block
    links: int
    in_main: bool
    in_article: bool


class PageReader:
    """Collects the blocks of a page. ``whole`` keeps all that is visible: a note has no navigation to leave out.

    A ``mail`` is whole, too: its tables only place what it says, all that it quotes is marked, and its links have their
    addresses.
    """

    def __init__(self, *, whole: bool = False, mail: bool = False) -> None:
        self.placed: list[Placed] = []
        self.title = ""
        self.meta: dict[str, str] = {}
        self.language = ""
        self._whole = whole or mail
        self._is_mail = mail
        self._open: list[_Element] = []
        self._hidden = 0
        self._main = 0
        self._article = 0
        self._pre = 0
        self._links = 0
        self._text: list[str] = []
        self._link_chars = 0
        self._rows: list[list[str]] = []

    def read(self, source: str) -> list[Placed]:
        """Return the blocks of a page."""
        for token in tags_and_text(source):
            if isinstance(token, str):
                self._add(token)
            elif token.is_end:
                self._end(token.name)
            else:
                self._start(token)
        while self._open:
            self._close()
        self._flush()
        return self.placed

    def _add(self, text: str) -> None:
        if self._open and self._open[-1].name == "title":
            self.title = self.title or _SPACE.sub(" ", text).strip()
        if self._hidden:
            return
        self._text.append(text if self._pre else _SPACE.sub(" ", text))
        if self._links:
            self._link_chars += len(text.strip())

    def _start(self, tag: HtmlTag) -> None:
        name = tag.name
        if name in _VOID:
            self._void(tag)
            return
        if name in _ENDED_BY:
            ended, bounds = _ENDED_BY[name]
            self._end_open(ended, bounds)
        elif name in _BLOCKS:
            self._end_open({"p"}, {"table", "div", "section", "article", "td", "th", "li", "blockquote", "body"})
        if len(self._open) >= _MAX_DEPTH:
            return  # deeper than any page; its text is kept, its elements are not told apart
        self._break(name)
        element = self._element(tag)
        if tag.is_empty and name not in _BLOCKS:
            return  # <a id="x"/> in XHTML
        self._open.append(element)
        self._hidden += element.is_hidden
        self._main += element.is_main
        self._article += element.is_article
        self._pre += name == "pre"
        self._links += name == "a"
        if self._is_mail and name == "a":
            element.target, element.text_from = tag.attributes.get("href", ""), len(self._text)
        if name == "tr" and not self._is_mail:
            self._rows.append([])
        elif name in {"td", "th"} and self._rows and not self._hidden:
            self._rows[-1].append("")
        elif name == "html":
            self.language = tag.attributes.get("lang", "")
        elif name == "ol":
            element.number = 1

    def _void(self, tag: HtmlTag) -> None:
        if tag.name == "meta":
            found = tag.attributes
            key = found.get("name") or found.get("property") or found.get("itemprop") or ""
            self.meta.setdefault(key.lower(), found.get("content", ""))
        elif self._hidden:
            return
        elif tag.name == "br":
            self._text.append("\n")
        elif tag.name == "hr":
            self._flush()
        elif tag.name == "img" and (said := _SPACE.sub(" ", tag.attributes.get("alt", "")).strip()):
            self._text.append(f"[picture: {said}]")

    def _element(self, tag: HtmlTag) -> _Element:
        name = tag.name
        if self._hidden or (not tag.written.strip() and name not in _HIDDEN and name not in _PLACED):
            return _Element(name)
        found = tag.attributes if tag.written.strip() else {}
        role = found.get("role", "")
        is_hidden = name in _HIDDEN and not (self._whole and name in {"form", "nav", "noscript"})
        is_hidden = is_hidden and not (self._is_mail and name in {"button", "object", "map", "dialog"})
        is_hidden = is_hidden or "hidden" in found or found.get("aria-hidden") == "true"
        invisible = _INVISIBLE_IN_MAIL if self._is_mail else _INVISIBLE
        is_hidden = is_hidden or bool(invisible.search(found.get("style", "").lower()))
        if not self._whole and not (self._main or self._article):
            is_hidden = is_hidden or name in {"footer", "aside"} or role in _HIDDEN_ROLES
        if name in {"html", "body"}:
            is_hidden = False  # pages that show themselves by a script
        names = f"{found.get('class', '')} {found.get('id', '')}".lower().replace("-", " ").replace("_", " ")
        is_suspect = not self._whole and name in _BLOCKS and name not in {"body", "html"} and bool(_SIDE.search(names))
        return _Element(
            name,
            is_hidden,
            is_main=name == "main" or role == "main",
            is_article=name == "article" or role == "article",
            first_block=len(self.placed),
            is_suspect=is_suspect,
        )

    def _end(self, name: str) -> None:
        if name == "p" and not any(element.name == "p" for element in self._open[-8:]):
            self._flush()
            return
        if name == "br":
            self._void(HtmlTag("br"))
            return
        for depth in range(len(self._open) - 1, max(-1, len(self._open) - 64), -1):
            if self._open[depth].name == name:
                while len(self._open) > depth:
                    self._close()
                return
            if self._open[depth].name in {"table", "td", "th"} and name not in {
                "table",
                "tr",
                "tbody",
                "thead",
                "tfoot",
            }:
                return  # an end tag that was forgotten does not reach out of a cell

    def _end_open(self, names: set[str], bounds: set[str]) -> None:
        """Close open elements of these names, and what is in them, above the nearest of the bounds."""
        outermost = len(self._open)
        for depth in range(len(self._open) - 1, max(-1, len(self._open) - 64), -1):
            if self._open[depth].name in bounds:
                break
            if self._open[depth].name in names:
                outermost = depth
        while len(self._open) > outermost:
            self._close()

    def _close(self) -> None:
        element = self._open[-1]
        if element.name in _BLOCKS:
            self._break(element.name)
        elif element.target.startswith(("http://", "https://")):
            words = "".join(self._text[element.text_from :]).strip()
            self._text += [f" ({element.target})"] if words and words not in element.target else []
        self._open.pop()
        self._hidden -= element.is_hidden
        self._main -= element.is_main
        self._article -= element.is_article
        self._pre -= element.name == "pre"
        self._links -= element.name == "a"
        if element.name == "tr" and self._rows and any(cells := self._rows.pop()):
            row = " | ".join(cells)
            if self._rows and self._rows[-1]:  # a table in a cell
                self._rows[-1][-1] = f"{self._rows[-1][-1]} {row}".strip()
            else:
                self._place(Block(row, group="table"), 0)
        if element.is_suspect:
            inside = self.placed[element.first_block :]
            text = sum(len(placed.block.text) for placed in inside)
            if text and sum(placed.links for placed in inside) > text * _SIDE_LINK_SHARE:
                del self.placed[element.first_block :]

    def _break(self, name: str) -> None:
        """End what stands before or in a block. In a mail the cells of a row are of one line: receipts have them."""
        if self._is_mail and name in {"td", "th"}:
            self._text.append(" ")
        elif name in _BLOCKS:
            self._flush()

    def _flush(self) -> None:
        """End a block, if it has text."""
        text = "".join(self._text)
        links, self._link_chars = self._link_chars, 0
        self._text.clear()
        if self._pre:
            text = text.strip("\r\n").expandtabs(4)
        else:
            lines = (_SPACE.sub(" ", line).strip() for line in text.split("\n"))
            text = "\n".join(line for line in lines if line)
        if not text.strip():
            return
        if self._rows and self._rows[-1]:
            self._rows[-1][-1] = f"{self._rows[-1][-1]} {' '.join(text.split())}".strip()
        else:
            self._place(self._block(text), links)

    def _block(self, text: str) -> Block:
        name = next((element.name for element in reversed(self._open) if element.name in _BLOCKS), "")
        if len(name) == 2 and name[0] == "h" and name[1].isdigit():
            return Block(text.replace("\n", " "), int(name[1]))
        lists = [element for element in self._open if element.name in {"ul", "ol"}]
        item = next((element for element in reversed(self._open) if element.name in {"li", "ul", "ol"}), None)
        is_item = item is not None and item.name == "li" and name != "pre"
        is_quoted = any(element.name == "blockquote" for element in self._open)
        if item is not None and is_item:
            text = self._item(text, lists, item)
        if is_quoted and (self._is_mail or not is_item):
            return Block("\n".join(f"> {line}" for line in text.split("\n")))
        if is_item:
            return Block(text, group="list")
        return Block(text, group="terms" if name in {"dt", "dd"} else "")

    def _item(self, text: str, lists: list[_Element], item: _Element) -> str:
        """Return the text of a list's item; only its first block has its mark."""
        mark = "  "
        if not item.number:
            item.number = 1
            mark = "- "
            if lists and lists[-1].name == "ol":
                mark = f"{lists[-1].number}. "
                lists[-1].number += 1
        indent = "  " * (len(lists) - 1)
        return indent + mark + text.replace("\n", f"\n{indent}  ")

    def _place(self, block: Block, links: int) -> None:
        self.placed.append(Placed(block, min(links, len(block.text)), self._main > 0, self._article > 0))


_PLACED = {"main", "article", "footer", "aside"}
