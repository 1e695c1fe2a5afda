"""Selection of the turns to send to the model and to offload; tool calls stay with their answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from vicw_client.window.turns import Turn


@dataclass(frozen=True, slots=True)
class Unit:
    """Turns that stay together: one turn, or tool calls with their answers. ``open`` are the ids of unanswered calls.

    An answer without its call is ``orphaned``: no server accepts it.
    """

    turns: tuple[Turn, ...]
    cost: int
    open: frozenset[str] = frozenset()
    orphaned: bool = False


def units_of(turns: Iterable[Turn], cost: Callable[[Turn], int]) -> list[Unit]:
    """Group turns into units, in their order."""
    units: list[Unit] = []
    for turn in turns:
        last = units[-1] if units else None
        if turn.role != "tool":
            units.append(Unit((turn,), cost(turn), turn.calls))
        elif last is not None and turn.tool_call_id in last.open:
            units[-1] = Unit((*last.turns, turn), last.cost + cost(turn), last.open - {turn.tool_call_id})
        else:
            units.append(Unit((turn,), cost(turn), orphaned=True))
    return units


def newest(units: Sequence[Unit], room: int) -> list[Unit]:
    """Return the newest units that fit into ``room`` tokens, in their order: the last, the last question, then more.

    The only possible gap follows a question whose exchange is itself too long. A selection without the oldest turns
    begins with a question, as the templates of many models require. Unanswered calls, and answers without their call,
    are left out.
    """
    complete = [unit for unit in units if not (unit.open or unit.orphaned)]
    last = complete[-1:]
    question = next((unit for unit in reversed(complete) if _is_question(unit)), None)
    selected = [*last, question] if question is not None and question not in last else last
    while sum(unit.cost for unit in selected) > room:
        selected.pop()
    remaining = room - sum(unit.cost for unit in selected)
    first = len(complete)
    while first and (complete[first - 1] in selected or complete[first - 1].cost <= remaining):
        first -= 1
        remaining -= 0 if complete[first] in selected else complete[first].cost
    selection = [unit for n, unit in enumerate(complete) if n >= first or unit in selected]
    begin = next((n for n, unit in enumerate(selection) if _is_question(unit)), 0) if first else 0
    return selection[begin:]


def oldest_over(units: Sequence[Unit], beside: int, high: float, low: float) -> list[Unit]:
    """Return the oldest units to offload: none up to ``high`` tokens, else until at most ``low`` remain.

    ``beside`` are the tokens of other messages. The newest unit and the last question always stay, and the remaining
    units begin with a question.
    """
    remaining = beside + sum(unit.cost for unit in units)
    if remaining <= high:
        return []
    question = max((n for n, unit in enumerate(units) if _is_question(unit)), default=-1)
    over: list[Unit] = []
    for n, unit in enumerate(units[:-1]):
        if remaining <= low and (_is_question(unit) or n > question):
            break
        if n != question:
            over.append(unit)
            remaining -= unit.cost
    return over


def _is_question(unit: Unit) -> bool:
    return unit.turns[0].role == "user"
