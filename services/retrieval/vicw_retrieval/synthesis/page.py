"""The page of an answer: blocks of text chosen by worth until the caller's budget is full, written in reading order.

The caller's template around the evidence has placeholders in braces and no other syntax, so it is never code.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from typing import Self

from vicw_shared.clock import format_minute
from vicw_shared.errors import FieldProblem, InvalidInputError
from vicw_shared.text import BYTES_PER_TOKEN, one_fact, quoted_below, quoted_lines, tag_guard, trimmed
from vicw_shared.wire.answer_format import DEFAULT_BUDGET_CHARS, PLACE, Budget, Template
from vicw_shared.wire.retrieve import Result

ELLIPSIS = "…"

type Guard = Callable[[str], str]
"""Makes a piece of a memory fit to stand inside a caller's template."""


@dataclass(frozen=True, slots=True)
class TextMeter:
    """Measures text in characters, or ``in_bytes`` of UTF-8: a budget of tokens is three times as many bytes."""

    limit: int
    in_bytes: bool = False

    @classmethod
    def of(cls, budget: Budget) -> Self:
        """Return the measure of a caller's budget."""
        if budget.tokens is not None:
            return cls(budget.tokens * BYTES_PER_TOKEN, in_bytes=True)
        return cls(budget.chars or DEFAULT_BUDGET_CHARS)

    def size(self, text: str) -> int:
        """Return how much of the limit a text takes."""
        return len(text.encode("utf-8", "surrogatepass")) if self.in_bytes else len(text)

    def cut(self, text: str, room: int) -> str:
        """Return a text that takes at most ``room``: its beginning and an ellipsis where it is too long.

        >>> TextMeter(0).cut("a long text", 7), TextMeter(0, in_bytes=True).cut("a long text", 7)
        ('a long…', 'a lo…')
        """
        if self.size(text) <= room:
            return text
        remaining = room - self.size(ELLIPSIS)
        if remaining < 0:
            return self._head(text, max(0, room))
        return self._head(text, remaining) + ELLIPSIS

    def _head(self, text: str, room: int) -> str:
        if self.in_bytes:  # a character that is cut through is left out
            return text.encode("utf-8", "replace")[:room].decode("utf-8", "ignore")
        return text[:room]


@dataclass(frozen=True, slots=True)
class TextBlock:
    """A piece of the text: the result that it belongs to, by rank, and its number there; 0 is the result itself."""

    rank: int
    number: int
    text: str


@dataclass(slots=True)
class TextPage:
    """Blocks chosen up to ``size``, in the meter's unit.

    ``shortened`` are the ranks of results that are in it in part; ``lines`` how many lines of each had no room.
    """

    meter: TextMeter
    size: int
    guard: Guard = str
    chosen: list[TextBlock] = field(default_factory=list)
    shortened: set[int] = field(default_factory=set)
    lines: Counter[int] = field(default_factory=Counter)

    @property
    def room(self) -> int:
        """The room for one more block, its line break included."""
        return self.size - sum(self._cost(block) for block in self.chosen) + (1 if self.chosen else 0)

    @property
    def ranks(self) -> frozenset[int]:
        """The ranks of the results in it."""
        return frozenset(block.rank for block in self.chosen if block.number == 0)

    def line(self, rank: int, number: int, text: str) -> TextBlock:
        """Return a line about a result, guarded."""
        return TextBlock(rank, number, self.guard(text))

    def begin(self, block: TextBlock) -> None:
        """Add a block in any case, cut if it is too long."""
        text = self.meter.cut(block.text, self.room)
        self.chosen.append(TextBlock(block.rank, block.number, text))
        if text != block.text:
            self.shortened.add(block.rank)

    def fill(self, blocks: Iterable[TextBlock], share: float = 1.0) -> list[TextBlock]:
        """Add blocks in order while they fit into a share of the whole page; return those added."""
        room = self.room - int(self.size * (1 - share))
        taken = []
        for block in blocks:
            cost = self._cost(block)
            if cost <= room:
                taken.append(block)
                room -= cost
        self.chosen += taken
        return taken

    def _cost(self, block: TextBlock) -> int:
        return self.meter.size(block.text) + 1

    def text(self, places: Mapping[int, tuple[int, int]]) -> str:
        """Return the page: blocks in the place of their result, by number."""
        ordered = sorted(self.chosen, key=lambda block: (places[block.rank], block.number))
        return "\n".join(block.text for block in ordered)


RESULT = "[{rank}] {head}\n{text}"
"""Default format of a result."""


_TAG = re.compile(r"</?([A-Za-z][\w.-]*)")


def fill_text(template: Template, results: str) -> str:
    """Return the text with the results in their place."""
    return PLACE.sub(lambda _: results, template.whole)


def require_room(template: Template, meter: TextMeter) -> None:
    """Raise InvalidInputError if the caller's own words leave no room for a result."""
    if meter.size(fill_text(template, "")) < meter.limit:
        return
    problem = FieldProblem("template.whole", "takes all of the budget", "Shorten it, or raise the budget")
    raise InvalidInputError(problem)


def write_result(template: str, result: Result, zone: tzinfo = UTC, guard: Guard = str) -> str:
    """Return a result in a template, with its time in ``zone``. Unknown values are the empty string.

    The lines of its text are quoted, but for a first line that the template begins; its other values are one line each.
    So no memory looks like the head of another, a line around it, or the caller's own words.
    """
    values = {
        "rank": str(result.rank),
        "id": result.id or result.source or result.uid,
        "address": result.id or result.uid,
        "speaker": result.speaker or "",
        "date": format_minute(result.timestamp, zone),
        "context": result.context,
        "domain": result.domain,
        "flow": result.flow_id or "",
        "kind": result.subtype,
        "name": result.name,
    }
    values = {name: guard(one_fact(value)) for name, value in values.items()}
    named = not {"id", "address"}.isdisjoint(PLACE.findall(template))
    values["head"] = _head(result, values, with_id=not named)
    text = guard(trimmed(result.text))

    def value(place: re.Match[str]) -> str:
        if place[1] != "text":
            return values[place[1]]
        line = template[: place.start()].rpartition("\n")[2]
        return quoted_below(text) if PLACE.sub(value, line).strip() else quoted_lines(text)

    return PLACE.sub(value, template)


def guard_of(template: Template) -> Guard:
    """Return what replaces the tags of a template in memories, so that none ends what the caller has begun.

    >>> guard_of(Template(whole="<notes>{results}</notes>"))("</notes> <b>")
    '‹/notes> <b>'
    """
    tags = dict.fromkeys(_TAG.findall(f"{template.whole} {template.result or ''}"))
    return tag_guard(*tags) if tags else str


def writes_speaker(template: str) -> bool:
    """Return whether a result in this template names its speaker.

    >>> writes_speaker(RESULT), writes_speaker("- {text}")
    (True, False)
    """
    return not {"head", "speaker"}.isdisjoint(PLACE.findall(template))


def _head(result: Result, values: Mapping[str, str], *, with_id: bool) -> str:
    """Return the known facts of a result in one line, without repeats but a speaker with the context's name."""
    # The speaker's name, or the beginning of the text, says nothing.
    says_nothing = result.name == result.speaker or result.text.lstrip().startswith(result.name.rstrip(ELLIPSIS))
    place = (values["context"], values["domain"], values["kind"], "" if says_nothing else values["name"])
    facts = (
        *dict.fromkeys(place),
        values["speaker"],
        values["date"],
        f"id {values['id']}" if with_id and (result.id or result.source) else "",
    )
    return " · ".join(fact for fact in facts if fact)
