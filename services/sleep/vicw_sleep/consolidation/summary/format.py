"""Format of a summary: how its lines begin, how it is cut into passages, and the title of a Macro-Event."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from vicw_core.language.sentences import sentences
from vicw_sleep.consolidation.model import SourceEvent

_TITLE_CHARS = 60


def heads_of(sources: Sequence[SourceEvent]) -> list[str]:
    """Return the beginning of each source's line: the speaker, and the title unless the previous line has the same."""
    before = ["", *(source.called for source in sources)]
    return [
        f"{source.head} ({source.called})" if source.called and source.called != last else source.head
        for source, last in zip(sources, before, strict=False)
    ]


def cut_lines(text: str, size: int, heads: Collection[str] = ()) -> Iterator[str]:
    """Yield passages of whole lines, of at most ``size`` characters; a longer line is cut after a sentence, or a word.

    The continuation repeats the one of ``heads`` that the line begins with: each line may be read by itself later.

    >>> list(cut_lines("ab\\ncd\\nefghij kl", 6))
    ['ab\\ncd', 'efghij', 'kl']
    >>> list(cut_lines("Ana: We met. We did not go.", 24, ["Ana"]))
    ['Ana: We met.', 'Ana: We did not go.']
    """
    lines: list[str] = []
    for line in (part for whole in text.split("\n") for part in _cut(whole, size, _head(whole, heads))):
        if lines and len("\n".join([*lines, line])) > size:
            yield "\n".join(lines)
            lines = []
        lines.append(line)
    if lines:
        yield "\n".join(lines)


def _head(line: str, heads: Collection[str]) -> str:
    matches = [head for head in heads if head and line.startswith((f"{head}: ", f"{head} ("))]
    return f"{max(matches, key=len)}: " if matches else ""


def _cut(line: str, size: int, head: str) -> Iterator[str]:
    head = head if 2 * len(head) < size else ""
    while len(line) > size:
        ends = [span.end for span in sentences(line) if len(head) < span.end <= size]
        end = max(ends, default=0) or line.rfind(" ", len(head) + 1, size + 1)
        end = end if end > 0 else size
        yield line[:end].rstrip()
        rest = line[end:].lstrip()
        line = f"{head}{rest}" if rest else ""
    if line:
        yield line


def title_of(sources: Sequence[SourceEvent]) -> str:
    """Return a display title for the Macro-Event of these sources: the speakers, and the beginning of the text."""
    if sources[0].event.is_macro:
        return sources[0].event.name
    heads = list(dict.fromkeys(one.head for one in sources))
    text = " ".join(sources[0].text.split())
    title = f"{', '.join(head for head in heads if head)}: {text}".removeprefix(": ")
    return title if len(title) <= _TITLE_CHARS else f"{title[: _TITLE_CHARS - 1]}…"
