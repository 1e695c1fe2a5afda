"""What notes mark inside their text: tags, properties, and comments that no reader sees.

Forms of Obsidian, Logseq and Dataview. Code has none of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from vicw_core.markdown.references import BLOCK_UUID
from vicw_shared.text import lines_of

_FENCE = re.compile(r" {0,3}(?:> ?)*(`{3,}|~{3,})")
_CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
_TAG = re.compile(r"(?<!\]\()(?<![^\s(,;>\[*_~\"'“])#([\w/-]*[^\W\d][\w/-]*)")
_PROPERTY = re.compile(r"[ \t>*+-]*(?P<key>[^\W\d_][\w -]{0,60})::(?:[ \t]+(?P<value>\S.*?))?\s*")
_COMMENT = re.compile(r"%%.*?%%|<!--.*?-->", re.DOTALL)
_OF_BLOCK = re.compile(rf"id::[ \t]+{BLOCK_UUID}\s*|collapsed::[ \t]+(?:true|false)\s*", re.IGNORECASE)
"""What Logseq notes of a block, not its writer."""
_NOT_NL = re.compile(r"[^\r\n]")


def prose_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines outside code blocks, each with its number from 0, and without the code in it."""
    fence = ""
    for number, line in enumerate(lines_of(text)):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line[mark.end() :].strip():
                fence = ""
        elif mark:
            fence = mark[1]
        else:
            yield number, _CODE.sub(lambda code: " " * len(code[0]), line)


def inline_tags(text: str) -> tuple[str, ...]:
    """Return the tags in a text, without their ``#``, each once.

    >>> inline_tags("#kitchen and #area/food, not #12, `#code` or a#b")
    ('kitchen', 'area/food')
    """
    found = (tag[1].strip("/") for _, line in prose_lines(text) for tag in _TAG.finditer(line))
    return tuple(dict.fromkeys(filter(None, found)))


def with_ancestors(tags: tuple[str, ...]) -> tuple[str, ...]:
    """Return the tags with those that they are nested in, so that the outer one finds the inner ones.

    >>> with_ancestors(("area/home/roof", "todo"))
    ('area/home/roof', 'area/home', 'area', 'todo')
    """
    whole = (tag.split("/") for tag in tags)
    return tuple(dict.fromkeys("/".join(parts[:end]) for parts in whole for end in range(len(parts), 0, -1)))


def inline_properties(text: str) -> dict[str, str]:
    """Return the properties that lines of a text give, ``key:: value``; of a repeated one the last.

    >>> inline_properties("- state:: open\\n- std::vector\\n")
    {'state': 'open'}
    """
    found = (_PROPERTY.fullmatch(line) for _, line in prose_lines(text))
    return {
        match["key"].strip().lower(): match["value"]
        for match in found
        if match and match["value"] and not _OF_BLOCK.fullmatch(match[0].lstrip(" \t>*+-"))
    }


def without_comments(text: str) -> str:
    """Return a text without its comments (``%% … %%``, ``<!-- … -->``); it has as many lines.

    A comment that nothing closes is text, and so is one in code.
    """
    if "%%" not in text and "<!--" not in text:
        return text
    shown = {number for number, _ in prose_lines(text)}
    lines = lines_of(text)
    hidden, start = list[str](), 0
    while start < len(lines):  # code blocks stand between the runs of prose
        end = start
        is_prose = start in shown
        while end < len(lines) and (end in shown) == is_prose:
            end += 1
        run = "".join(lines[start:end])
        hidden.append(_COMMENT.sub(_blank, run) if is_prose else run)
        start = end
    return "".join(hidden)


def _blank(comment: re.Match[str]) -> str:
    return _NOT_NL.sub("", comment[0])
