"""References in a page's text that are no links of Markdown: those of site builders, of HTML, and to blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote

from vicw_core.markdown.links import LinkKind, PageLink

BLOCK_UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
"""The form of a block's id in Logseq."""
_URL = re.compile(r"https?://[^\s<>()\[\]\"'`]+[^\s<>()\[\]\"'`.,;:!?]", re.IGNORECASE)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_BLOCK = re.compile(rf"\(\((?P<id>{BLOCK_UUID})\)\)")
_HUGO = re.compile(r"""\{\{[<%]\s*(?:rel)?(?:ref|include)\s+["']?(?P<path>[^"'\s}]+)""")
_INCLUDE = re.compile(
    r"""--8<--\s+["'](?P<snippet>[^"']+)"""
    r"""|\{%-?\s*include(?:-markdown)?\s+["'](?P<template>[^"']+)"""
    r"""|\{!\s*(?P<markdown>[^\s{}!]+)\s*!\}"""
)
"""Snippets of MkDocs, includes of its macros and of its include plug-ins."""
_MDX_IMPORT = re.compile(r"""^import\s[\w\s{},*]+\sfrom\s+["'](?P<path>[^"']+\.mdx?)["']""", re.MULTILINE)
_TAG = re.compile(r"""<(?:a|Link)\s(?:[^<>]*\s)?(?:href|to)=["'](?P<href>[^"'<>]+)["']""")


def references_in(text: str, line: int) -> Iterator[PageLink]:
    """Yield the references in a run of text that begins at ``line``."""
    if "http" in text:
        yield from (PageLink(LinkKind.URL, match[0], line) for match in _URL.finditer(text))
    if "((" in text:
        yield from (PageLink(LinkKind.BLOCK, match["id"].lower(), line) for match in _BLOCK.finditer(text))
    if "{" in text or "--8<--" in text:
        for match in _HUGO.finditer(text):
            # Hugo looks a name without a path up in the whole site.
            yield _of_path(match["path"], line, LinkKind.PATH if "/" in match["path"] else LinkKind.WIKI)
        for match in _INCLUDE.finditer(text):
            yield _of_path(match["snippet"] or match["template"] or match["markdown"], line, LinkKind.INCLUDE)
    if text.startswith("import"):
        yield from (_of_path(match["path"], line, LinkKind.PATH) for match in _MDX_IMPORT.finditer(text))


def tags_in(html: str, line: int) -> Iterator[PageLink]:
    """Yield the links in tags of HTML, and of the component that Docusaurus has for them."""
    for match in _TAG.finditer(html):
        if link := of_address(match["href"], line + html.count("\n", 0, match.start())):
            yield link


def of_address(href: str, line: int) -> PageLink | None:
    """Return the link that an address is; None for one that leads to no page, such as ``mailto:``."""
    if href.lower().startswith(("http://", "https://")):
        return PageLink(LinkKind.URL, href, line)
    if block := _BLOCK.fullmatch(href):
        return PageLink(LinkKind.BLOCK, block["id"].lower(), line)
    if _SCHEME.match(href) or href.startswith("//") or not href:
        return None
    path, _, heading = href.partition("#")
    return PageLink(LinkKind.PATH, unquote(path.partition("?")[0]), line, unquote(heading) or None)


def _of_path(written: str, line: int, kind: LinkKind) -> PageLink:
    path, _, heading = written.partition("#")
    return PageLink(kind, path, line, heading or None)
