"""Escape stored text as inert Markdown: no headings, links, tags, comments or embeds.

Lists, emphasis, quotations, tables, web links and closed code blocks keep their form. Active syntax gets a backslash.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_PUNCTUATION = r"[!-/:-@\[-`{-~]"
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*([^`\s]*)[ \t]*$")
_LANGUAGES = frozenset(
    (
        "bash c cpp cs csharp css diff go html http ini java javascript js json kotlin lua makefile markdown md "
        "php perl powershell py python r rb ruby rs rust scala sh shell sql swift text toml ts tsx typescript txt "
        "xml yaml yml"
    ).split()
)
"""Allowed languages of code blocks: any other may make a plugin of the reader run or draw the block."""
_ACTIVE = re.compile(
    rf"\\(?={_PUNCTUATION}|$)"  # so that every backslash before punctuation is an escape
    r"|^[ ]{0,3}(?=#{1,6}(?:\s|$)|[-=_*](?:[ \t]*[-=_*])*[ \t]*$|```|~~~)"  # heading, rule, fence
    r"|\[(?=\[)|(?<=\[)\["  # wiki link
    r"|!(?=\[)|\](?=\((?!https?://))"  # image, link to anything but the web
    r"|<(?=[A-Za-z/!?])"  # HTML
    r"|%(?=%)|(?<=%)%"  # comment
    r"|#(?=[^\s#])"  # tag
    r"|\^(?=[\w-]+\s*$)"  # mark of a block
    r"|`(?=\$?=)"  # query of a plugin
    r"|\$"  # formula
    r"|<(?=%)"  # template of a plugin
)
_SNIPPET_CHARS = 60
_READ_FACTOR = 10
"""Length of text to read for a line, as a multiple of the line's length."""
_LINE_END = re.compile(r"\r\n?")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_IN_LINE = re.compile(r"[\\`*\[\]<>#|^%$!~]")


def shown(text: str) -> str:
    """Return ``text`` as Markdown lines. Control characters become U+FFFD, every line end becomes ``\\n``.

    Closed code blocks without a language, or in a known one, keep their lines.
    """
    lines, escaped = _plain(text).split("\n"), list[str]()
    unclosed: dict[str, int] = {}
    while len(escaped) < len(lines):
        here = len(escaped)
        end = _end_of_fence(lines, here, unclosed)
        escaped += lines[here:end] if end > here else [_ACTIVE.sub(_escaped, lines[here])]
    return "\n".join(escaped)


def fenced(text: str) -> str:
    """Return ``text`` as one code block."""
    plain = _plain(text)
    longest = max((len(run) for run in re.findall(r"`+", plain)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{plain}\n{fence}"


def in_line(text: str, most: int = _SNIPPET_CHARS) -> str:
    """Return the beginning of ``text`` as inert part of a line."""
    words = " ".join(_plain(text[: most * _READ_FACTOR]).split())
    cut = words if len(words) <= most else f"{words[: most - 1].rstrip()}…"
    return _IN_LINE.sub(lambda match: f"\\{match[0]}", cut)


def label(text: str) -> str:
    """Return ``text`` as a link label, without the characters that end a link: a backslash does not escape them."""
    return " ".join(re.sub(r"[\[\]|^\\`<>%$*]", " ", _plain(text)).split())[:_SNIPPET_CHARS] or "…"


def _plain(text: str) -> str:
    return _CONTROL.sub("\ufffd", _LINE_END.sub("\n", text))


def _escaped(match: re.Match[str]) -> str:
    return f"{match[0]}\\" if match[0].isspace() or not match[0] else f"\\{match[0]}"


def _end_of_fence(lines: Sequence[str], start: int, unclosed: dict[str, int]) -> int:
    """Return the end of the code block that begins at a line; the line itself if there is none.

    ``unclosed`` keeps, per mark, the length from which no closing fence follows, so that the scan stays linear.
    """
    opened = _FENCE.fullmatch(lines[start])
    if opened is None or opened[2].casefold() not in _LANGUAGES | {""}:
        return start
    mark, length = opened[1][0], len(opened[1])
    if length >= unclosed.get(mark, length + 1):
        return start
    for number in range(start + 1, len(lines)):
        closed = _FENCE.fullmatch(lines[number])
        if closed and not closed[2] and closed[1][0] == mark and len(closed[1]) >= length:
            return number + 1
    unclosed[mark] = length
    return start
