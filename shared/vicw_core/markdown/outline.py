"""Parse a Markdown page: headings, links, wiki links and names of code (CommonMark and tables)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from vicw_core.markdown.links import LinkKind, PageLink
from vicw_core.markdown.references import BLOCK_UUID, of_address, references_in, tags_in
from vicw_core.text.heading_anchors import Unique, slug

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

_WIKI = re.compile(r"\[\[(?P<inner>[^\[\]\n]{1,400})\]\]")
_CODE = re.compile(r"[\w./-]*[A-Za-z_][\w./-]*(?:\(\))?")
_LIKE_CODE = re.compile(r"\w\(\)$|_|[a-z][A-Z]|\w\.\w|\w/\w|^[A-Z]\w*[a-z]\w*$")
_SUMMARY_CHARS = 300
_HEADING_ID = re.compile(r"\s*\{\s*#(?P<id>[\w:.-]+)[^{}]*\}\s*$")
_BLOCK_ID = re.compile(rf"(?:^|\s)\^(?P<id>[\w-]+)\s*$|^\s*id::\s+(?P<uuid>{BLOCK_UUID})\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading with the ``anchor`` that links to it, and the offset in the text and the line where it begins.

    ``written`` is the title with its markup; a ``nested`` heading is inside a quotation or a list.
    """

    title: str
    level: int
    anchor: str
    start: int
    line: int
    written: str
    nested: bool


@dataclass(frozen=True, slots=True)
class Outline:
    """The outline of a page. ``summary`` is its first paragraph.

    ``blocks`` are the ids of blocks (``^id`` at the end of one, or ``id:: UUID`` in it), each with the anchor of the
    heading that it is under, which is empty before the first.
    """

    headings: tuple[Heading, ...] = ()
    blocks: tuple[tuple[str, str], ...] = ()
    links: tuple[PageLink, ...] = ()
    summary: str | None = None


def outline(text: str) -> Outline:
    """Return the outline of a page. Lines count from 1; images and the content of code blocks are not links."""
    starts = _line_starts(text)
    anchors = Unique()
    headings: list[Heading] = []
    links: list[PageLink] = []
    blocks: dict[str, str] = {}
    summary: str | None = None
    level = 0
    for token in _parser().parse(text):
        if token.type == "heading_open":
            level = int(token.tag[1:])
        elif token.type == "heading_close":
            level = 0
        elif token.type == "inline" and token.map is not None:
            named = _HEADING_ID.search(token.content) if level else None
            plain_text = _HEADING_ID.sub("", _plain(token)) if named else _plain(token)
            if level and plain_text:
                content = token.content[: named.start()] if named else token.content
                line, written = token.map[0], " ".join(map(str.strip, content.split("\n")))
                anchor = anchors(named["id"] if named else slug(content))
                headings.append(Heading(plain_text, level, anchor, starts[line], line, written, token.level > 1))
            elif summary is None and not level and plain_text:
                summary = plain_text[:_SUMMARY_CHARS]
            under = headings[-1].anchor if headings else ""
            blocks |= {found["id"] or found["uuid"].lower(): under for found in _BLOCK_ID.finditer(token.content)}
            links += _links(token, token.map[0] + 1)
        elif token.type == "html_block" and token.map is not None:
            links += tags_in(token.content, token.map[0] + 1)
    return Outline(tuple(headings), tuple(blocks.items()), tuple(dict.fromkeys(links)), summary)


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # slow to import, and only pages are parsed

    parser = MarkdownIt("commonmark").enable("table")
    parser.inline.ruler.before("link", "wiki_link", _wiki)
    return parser


def _wiki(state: StateInline, silent: bool) -> bool:
    match = _WIKI.match(state.src, state.pos, state.posMax) if state.src.startswith("[[", state.pos) else None
    if match is None:
        return False
    if not silent:
        state.push("wiki_link", "", 0).content = match["inner"]
    state.pos = match.end()
    return True


def _line_starts(text: str) -> list[int]:
    starts = [0]
    starts += [match.end() for match in re.finditer(r"\r\n|\n|\r", text)]
    return starts


def _plain(token: Token) -> str:
    parts = []
    for child in token.children or ():
        if child.type == "wiki_link":
            parts.append(child.content.partition("|")[2] or child.content.partition("#")[0])
        elif child.type in {"text", "code_inline", "softbreak", "hardbreak"}:
            parts.append(child.content or " ")
    return " ".join("".join(parts).split())


def _links(token: Token, line: int) -> Iterator[PageLink]:
    inside = False
    for child in token.children or ():
        if child.type in {"softbreak", "hardbreak"}:
            line += 1
        elif child.type == "wiki_link":
            yield _wiki_link(child.content, line)
        elif child.type == "link_open":
            inside = True
            if link := of_address(str(child.attrs.get("href", "")), line):
                yield link
        elif child.type == "link_close":
            inside = False
        elif child.type == "text" and not inside:
            yield from references_in(child.content, line)
        elif child.type == "html_inline":
            yield from tags_in(child.content, line)
        elif child.type == "code_inline" and _CODE.fullmatch(child.content) and _LIKE_CODE.search(child.content):
            yield PageLink(LinkKind.CODE, child.content.removesuffix("()"), line)


def _wiki_link(inner: str, line: int) -> PageLink:
    target, _, heading = inner.partition("|")[0].partition("#")
    return PageLink(LinkKind.WIKI, target.strip(), line, heading.rpartition("#")[2].strip() or None)
