"""Where a text may have results of an answer that an application has written in its own way, line by line.

Only places are found here, each with the keys to look it up by; ``heads`` tells whether what stands around one is a
head, ``answering`` what becomes of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from vicw_ingest.echoes.heads import after_heads, before_tail, is_bare
from vicw_shared.model.wording import bare, plain, plain_key, trimmed, verbatim_key

CUT = "…"
_IN_CHARS = 60_000
_MOST_LINES = 300
_FEW_RUNS, _MOST_RUNS = 120, 500
_RUN_LINES, _MOST_RUN_LINES = 12, 60
"""A result may have so many lines; fewer in a text of very many, where up to a gap it may still have more."""
_RUN_CHARS = 6000
_LINE = re.compile(r"[^\n]+")
_CUT = re.compile(rf"[^\n]{CUT}[ \t\"'”]*$")


@dataclass(frozen=True, slots=True)
class Run:
    """Lines that may be a result: their words, ``start`` to ``end``, between what may be a head and what tells more.

    ``first`` and ``last`` are the numbers of the lines; ``opens`` and ``closes`` where they begin and end. ``chars`` is
    how much the words say.
    """

    start: int
    end: int
    opens: int
    closes: int
    first: int
    last: int
    chars: int
    keys: tuple[str, ...]

    @property
    def is_cut(self) -> bool:
        """Whether they end as those of a result that was cut."""
        return self.keys[-1].startswith(CUT)


def cut_key(said: str) -> str:
    """Return what the beginning of a text is looked up by that was cut to fit a budget; ``said`` is what is left."""
    return CUT + said


def is_cut(text: str) -> bool:
    """Tell whether a text ends as one that was cut."""
    return _CUT.search(text, max(0, len(text) - 20)) is not None


def with_cut(text: str, keys: tuple[str, ...], least: int) -> tuple[str, ...]:
    """Return the keys of a text with that of one that was cut, if it is long enough to be known by its beginning."""
    if not is_cut(text) or len(said := plain(text)) < least:
        return keys
    return (*keys, cut_key(said))


def runs(text: str, least: int) -> list[Run]:
    """Return what may be results of at least so many characters, or less behind a head, the longest first."""
    lines = _Lines.of(text)
    found = list(islice(_runs(lines, least), _MOST_RUNS))
    return sorted(found, key=lambda run: run.start - run.end)


@dataclass(frozen=True, slots=True)
class _Lines:
    """The lines of a text that have something in them, each read once: as prose, and as it is."""

    text: str
    spans: tuple[tuple[int, int], ...]
    said: tuple[str, ...]
    kept: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> _Lines:
        """Take a text apart; one that is too long for an answer has none."""
        matches = _LINE.finditer(text) if len(text) <= _IN_CHARS else ()
        found = islice((match for match in matches if not match[0].isspace()), _MOST_LINES)
        spans = tuple((match.start(), match.start() + len(match[0].rstrip())) for match in found)
        lines = [text[start:end] for start, end in spans]
        return cls(text, spans, tuple(map(bare, lines)), tuple(map(_spaced, lines)))

    def read(self, start: int, end: int, first: int, last: int, opening: tuple[str, str]) -> tuple[str, str]:
        """Return what stands between two places of two lines, as prose without its ends and as it is.

        ``opening`` is what stands between the first place and the end of its line.
        """
        ends_line = end == self.spans[last][1]
        if first == last:
            said, kept = opening if ends_line else _both(self.text[start:end])
            return trimmed(said), kept
        closing = (self.said[last], self.kept[last]) if ends_line else _both(self.text[self.spans[last][0] : end])
        inner = slice(first + 1, last)
        said = " ".join(filter(None, (opening[0], *self.said[inner], closing[0])))
        return trimmed(said), " ".join((opening[1], *self.kept[inner], closing[1]))

    def lasts(self, first: int) -> Iterator[int]:
        """Yield the lines that a run may end with that begins with one: those next, and the one before a gap."""
        count = len(self.spans)
        near = first + max(1, min(_RUN_LINES, _FEW_RUNS // count))
        yield from range(first, min(near, count))
        for last in range(near, min(first + _MOST_RUN_LINES, count)):
            if last + 1 == count or self.text.count("\n", self.spans[last][1], self.spans[last + 1][0]) > 1:
                yield last
                return


def _runs(lines: _Lines, least: int) -> Iterator[Run]:
    text = lines.text
    for first, (opens, until) in enumerate(lines.spans):
        for start in dict.fromkeys(after_heads(text, opens, until)):
            enough = least if is_bare(text[opens:start]) else 1
            if until - start > _RUN_CHARS:
                continue
            opening = _both(text[start:until])
            for last in lines.lasts(first):
                closes = lines.spans[last][1]
                if closes - start > _RUN_CHARS:
                    break
                for end in _ends(text, max(start, lines.spans[last][0]), closes):
                    said, kept = lines.read(start, end, first, last, opening)
                    if len(said) < (enough if first == last else least):
                        continue
                    keys: tuple[str, ...] = (plain_key(said), verbatim_key(kept))
                    if len(said) >= least and is_cut(text[start:end]):
                        keys = (*keys, cut_key(said))
                    yield Run(start, end, opens, closes, first, last, len(said), keys)


def _ends(text: str, start: int, end: int) -> Iterator[int]:
    yield end
    if (earlier := before_tail(text, start, end)) is not None:
        yield earlier


def _both(text: str) -> tuple[str, str]:
    return bare(text), _spaced(text)


def _spaced(text: str) -> str:
    return " ".join(text.split())
