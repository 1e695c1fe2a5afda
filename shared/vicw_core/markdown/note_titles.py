"""What the name of a note's file says: its title, and the day of a journal."""

from __future__ import annotations

import re
from datetime import date
from pathlib import PurePosixPath
from urllib.parse import unquote

MARKDOWN_SUFFIXES = frozenset({".md", ".markdown", ".mdx"})
_NOTION = re.compile(r"(?P<title>.*\S)[ _-][0-9a-f]{32}$")
_DAY = re.compile(r"(\d{4})([-_.]?)(\d\d)\2(\d\d)(?![\d])")


def is_markdown(name: str) -> bool:
    """Return whether a file is Markdown, by its suffix."""
    return PurePosixPath(name).suffix.lower() in MARKDOWN_SUFFIXES


def is_notion_export(name: str) -> bool:
    """Return whether a file has a name that Notion gives: a title and 32 hexadecimal digits."""
    return _NOTION.match(PurePosixPath(name).stem) is not None


def note_title(name: str) -> str:
    """Return the title that a file's name gives: without Notion's digits, and with Logseq's slashes.

    >>> note_title("wiki/Runbook c5006330011b4ccb87abe6a6fd94a376.md"), note_title("pages/garden___herbs.md")
    ('Runbook', 'garden/herbs')
    """
    stem = PurePosixPath(name).stem.removesuffix(".excalidraw")
    if match := _NOTION.match(stem):
        stem = match["title"]
    return unquote(stem.replace("___", "/")) if "___" in stem or "%" in stem else stem


def day_of(name: str) -> date | None:
    """Return the day that a file's name begins with, or None.

    >>> day_of("journals/2025_03_05.md"), day_of("2025-03-05 Pier.md"), day_of("2025-13-05.md")
    (datetime.date(2025, 3, 5), datetime.date(2025, 3, 5), None)
    """
    match = _DAY.match(PurePosixPath(name).stem)
    try:
        return date(int(match[1]), int(match[3]), int(match[4])) if match else None
    except ValueError:
        return None
