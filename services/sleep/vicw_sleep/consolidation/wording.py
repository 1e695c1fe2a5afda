"""How a summary is cut into passages, and what a Macro-Event is called."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vicw_sleep.consolidation.material import Material

_TITLE_CHARS = 60


def cut_lines(text: str, size: int) -> Iterator[str]:
    """Yield passages of whole lines, of ``size`` characters at most; a longer line is cut at words.

    >>> list(cut_lines("ab\\ncd\\nefghij kl", 6))
    ['ab\\ncd', 'efghij', 'kl']
    """
    held: list[str] = []
    for line in (part for whole in text.split("\n") for part in _cut(whole, size)):
        if held and len("\n".join([*held, line])) > size:
            yield "\n".join(held)
            held = []
        held.append(line)
    if held:
        yield "\n".join(held)


def _cut(line: str, size: int) -> Iterator[str]:
    while len(line) > size:
        end = line.rfind(" ", 1, size + 1)
        end = end if end > 0 else size
        yield line[:end]
        line = line[end:].lstrip()
    if line:
        yield line


def title_of(sources: Sequence[Material]) -> str:
    """Return what to show of what stands for these: who says it, and how it begins."""
    if sources[0].event.is_macro:
        return sources[0].event.name
    heads = list(dict.fromkeys(one.head for one in sources))
    said = " ".join(sources[0].text.split())
    title = f"{', '.join(head for head in heads if head)}: {said}".removeprefix(": ")
    return title if len(title) <= _TITLE_CHARS else f"{title[: _TITLE_CHARS - 1]}…"
