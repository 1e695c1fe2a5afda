"""Which turns are sent to the model, and which are offloaded: whole exchanges with tools, the newest first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from vicw_client.window.turns import Turn


@dataclass(frozen=True, slots=True)
class Unit:
    """Turns that go together: one, or a call of tools with its answers. ``open`` names the answers that lack.

    An answer whose call is not there is ``torn``: no server takes it.
    """

    turns: tuple[Turn, ...]
    cost: int
    open: frozenset[str] = frozenset()
    torn: bool = False


def units_of(turns: Iterable[Turn], cost: Callable[[Turn], int]) -> list[Unit]:
    """Return the turns in units, in their order."""
    units: list[Unit] = []
    for turn in turns:
        last = units[-1] if units else None
        if turn.role != "tool":
            units.append(Unit((turn,), cost(turn), turn.calls))
        elif last is not None and turn.tool_call_id in last.open:
            units[-1] = Unit((*last.turns, turn), last.cost + cost(turn), last.open - {turn.tool_call_id})
        else:
            units.append(Unit((turn,), cost(turn), torn=True))
    return units


def newest(units: Sequence[Unit], room: int) -> list[Unit]:
    """Return the newest units that fit into ``room`` tokens, in their order: the last, the last question, then more.

    There is no gap but the one behind a question whose exchange is itself too long. What is cut begins with a question,
    as the templates of many models want it. Calls that were never answered, and answers without their call, are left
    out.
    """
    whole = [unit for unit in units if not (unit.open or unit.torn)]
    last = whole[-1:]
    question = next((unit for unit in reversed(whole) if _asks(unit)), None)
    kept = [*last, question] if question is not None and question not in last else last
    while sum(unit.cost for unit in kept) > room:
        kept.pop()
    left = room - sum(unit.cost for unit in kept)
    first = len(whole)
    while first and (whole[first - 1] in kept or whole[first - 1].cost <= left):
        first -= 1
        left -= 0 if whole[first] in kept else whole[first].cost
    shown = [unit for n, unit in enumerate(whole) if n >= first or unit in kept]
    begin = next((n for n, unit in enumerate(shown) if _asks(unit)), 0) if first else 0
    return shown[begin:]


def oldest_over(units: Sequence[Unit], beside: int, high: float, low: float) -> list[Unit]:
    """Return the oldest units to offload: none up to ``high`` tokens, else until at most ``low`` are left.

    ``beside`` is what else takes room. The newest unit and the last question always stay, and what stays begins with
    a question.
    """
    left = beside + sum(unit.cost for unit in units)
    if left <= high:
        return []
    question = max((n for n, unit in enumerate(units) if _asks(unit)), default=-1)
    over: list[Unit] = []
    for n, unit in enumerate(units[:-1]):
        if left <= low and (_asks(unit) or n > question):
            break
        if n != question:
            over.append(unit)
            left -= unit.cost
    return over


def _asks(unit: Unit) -> bool:
    return unit.turns[0].role == "user"
