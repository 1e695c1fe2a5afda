"""The texts of Slack: its marks for people, channels and links in words."""

from __future__ import annotations

import html
import re
from typing import Any

from vicw_readers.people.slack.directory import SlackDirectory

_MARK = re.compile(r"<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>")


def slack_text(message: dict[str, Any], directory: SlackDirectory) -> str:
    """Return the words of a message; of one without, those of what an app attached to it."""
    text = in_words(str(message.get("text") or ""), directory)
    if text.strip():
        return text
    parts: list[str] = []
    for one in message.get("attachments") or []:
        if isinstance(one, dict):
            said = [one.get("pretext"), one.get("title"), one.get("text")]
            parts += [in_words(str(part), directory) for part in said if part] or [str(one.get("fallback") or "")]
    if not any(parts):
        parts = list(_of_blocks(message.get("blocks") or [], directory))
    return "\n".join(part for part in parts if part.strip())


def in_words(text: str, directory: SlackDirectory) -> str:
    """Return a text with names for ids, and links as "label (address)"."""

    def word(match: re.Match[str]) -> str:
        kind, target, label = match[1], match[2], match[3]
        if kind == "@":
            return f"@{directory.people.get(target) or label or target}"
        if kind == "#":
            return f"#{label or directory.channels.get(target, target)}"
        if kind == "!":
            return label or f"@{target.split('^')[0]}"
        target = target.removeprefix("mailto:")
        return f"{label} ({target})" if label and label != target else target

    return html.unescape(_MARK.sub(word, text))


def _of_blocks(blocks: list[Any], directory: SlackDirectory) -> list[str]:
    """Return the texts in blocks, however deep they are."""
    found: list[str] = []
    stack: list[Any] = list(reversed(blocks))
    while stack:
        part = stack.pop()
        if isinstance(part, list):
            stack += reversed(part)
        elif isinstance(part, dict):
            text = part.get("text")
            stack += [part[key] for key in ("elements", "fields") if isinstance(part.get(key), list)]
            if isinstance(text, str):
                found.append(in_words(text, directory))
            elif text is not None:
                stack.append(text)
    return found
