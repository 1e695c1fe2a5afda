"""What the start of a JSON text says, though the text goes on."""

from __future__ import annotations

import json
import re
from typing import Any

_MARK = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[{}\[\],]', re.DOTALL)  # a text may be cut within an escape
HEX_ESCAPE = re.compile(r"(?<!\\)((?:\\\\)*)\\x([0-9A-Fa-f]{2})")
"""What some exporters write in place of ``\\u00…``, which is no JSON."""
_CLOSERS = {"{": "}", "[": "]"}
_MOST_LINES = 20


def objects_at_start(text: str) -> tuple[dict[str, Any], ...]:
    """Return the first objects of a JSON text, or of JSON Lines: elements of a list, or the one object.

    Of what is cut off, as much as there is. Empty if it is no JSON, or of something else than objects.
    """
    text = text.lstrip()
    if text[:1] not in {"{", "["}:
        return ()
    lines = text.split("\n")
    values = [_loaded(line) for line in lines[:_MOST_LINES] if line.startswith("{")] if text[0] == "{" else []
    if len(lines) > 1 and any(isinstance(value, dict) for value in values):
        if len(lines) <= _MOST_LINES and lines[-1].startswith("{") and values[-1] is None:
            values[-1] = _loaded(_closed(lines[-1]))  # cut off: a prompt with a picture is long
        found: Any = values
    else:
        found = _loaded(text)
        found = found if found is not None else _loaded(_closed(text))
    values = found if isinstance(found, list) else [found]
    return tuple(value for value in values if isinstance(value, dict))


def _loaded(text: str) -> Any:
    """Return the value of a text, as lenient as the readers are, or None."""
    try:
        return json.loads(HEX_ESCAPE.sub(r"\1\\u00\2", text), strict=False)
    except (ValueError, RecursionError):
        return None


def _closed(text: str) -> str:
    """Return the text up to its last whole value, with the brackets closed that are open there."""
    stack: list[str] = []
    cut = 0
    for match in _MARK.finditer(text):
        mark = match[0]
        if mark in _CLOSERS:
            stack.append(_CLOSERS[mark])
            cut = match.end()
        elif mark in {"}", "]"}:
            if not stack or stack.pop() != mark:
                return ""
            cut = match.end()
        elif mark == ",":
            cut = match.start()
    return text[:cut] + "".join(reversed(stack))  # no bracket comes after the cut
