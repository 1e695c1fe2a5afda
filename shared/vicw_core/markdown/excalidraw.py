"""Drawings that Obsidian's Excalidraw plug-in keeps as notes: their words are text, their shapes are packed."""

from __future__ import annotations

import re

from vicw_core.markdown.front_matter import FrontMatter
from vicw_shared.text import lines_of

_WORDS = re.compile(r"#{1,2} Text Elements\s*")
_END = re.compile(r"(?:#{1,2} \S.*|%%)\s*")
_REFERENCE = re.compile(r"\s\^[\w-]+(?=\s*$)")


def is_drawing(front: FrontMatter) -> bool:
    """Return whether a note is a drawing."""
    return "excalidraw-plugin" in front.properties


def words_of_drawing(body: str) -> str:
    """Return the words in a drawing, one text element after the other; empty if it has none."""
    words: list[str] = []
    is_word = False
    for line in lines_of(body):
        if _WORDS.fullmatch(line):
            is_word = True
        elif is_word and _END.fullmatch(line):
            break
        elif is_word:
            words.append(_REFERENCE.sub("", line))
    return "".join(words)
