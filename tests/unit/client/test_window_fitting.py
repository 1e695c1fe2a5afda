"""Whatever is said, what is sent keeps to the budget and the order; whatever leaves is stored."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import httpx
from hypothesis import given, settings
from hypothesis import strategies as st

from support.fakes.vicw_server import FakeVicw
from support.generators.example_count import TIMES
from vicw_client import BadRequestError, Retry, VicwClient, Window, estimate_tokens
from vicw_client.window.selection import newest, oldest_over, units_of
from vicw_client.window.turns import Turn

WHEN = datetime(2026, 1, 19, tzinfo=UTC)
ROLES = st.sampled_from(["user", "assistant", "call", "tool"])


def turns_of(kinds: list[str]) -> list[Turn]:
    """Return turns of these kinds; an answer of a tool is that of the last call."""
    turns: list[Turn] = []
    call = 0
    for number, kind in enumerate(kinds, start=1):
        call += kind == "call"
        calls = ({"id": f"c{call}", "function": {"name": "f"}},) if kind == "call" else ()
        role = "assistant" if kind == "call" else kind
        turns.append(Turn(number, role, "x", WHEN, None, calls, f"c{call}" if kind == "tool" else None))
    return turns


def numbers(units: list[Any]) -> list[int]:
    return [turn.number for unit in units for turn in unit.turns]


@given(st.lists(st.tuples(ROLES, st.integers(0, 30)), min_size=1, max_size=30), st.integers(0, 200))
@settings(max_examples=300 * TIMES)
def test_newest_turns_fit_the_budget_in_order_with_their_question(said: list[tuple[str, int]], room: int) -> None:
    turns = turns_of([kind for kind, _ in said])
    costs = {turn.number: cost for turn, (_, cost) in zip(turns, said, strict=True)}
    units = units_of(turns, lambda turn: costs[turn.number])
    assert numbers(units) == [turn.number for turn in turns]
    shown = newest(units, room)
    assert sum(unit.cost for unit in shown) <= room
    assert numbers(shown) == sorted(numbers(shown))
    assert not any(unit.open or unit.orphaned for unit in shown)
    whole = [unit for unit in units if not (unit.open or unit.orphaned)]
    if whole and whole[-1].cost <= room:
        assert whole[-1] in shown
        question = next((unit for unit in reversed(whole) if unit.turns[0].role == "user"), whole[-1])
        assert question in shown or question.cost + whole[-1].cost > room
    if sum(unit.cost for unit in whole) <= room:
        assert shown == whole


@given(st.lists(st.tuples(ROLES, st.integers(0, 30)), min_size=1, max_size=30), st.integers(0, 20))
@settings(max_examples=300 * TIMES)
def test_offloading_frees_the_budget_and_keeps_the_newest_turns(said: list[tuple[str, int]], beside: int) -> None:
    turns = turns_of([kind for kind, _ in said])
    costs = {turn.number: cost for turn, (_, cost) in zip(turns, said, strict=True)}
    units = units_of(turns, lambda turn: costs[turn.number])
    over = oldest_over(units, beside, 100, 50)
    total = beside + sum(costs.values())
    assert bool(over) <= (total > 100)
    assert units[-1] not in over
    stays = [unit for unit in units if unit not in over]
    left = beside + sum(unit.cost for unit in stays)
    questions = [unit for unit in units if unit.turns[0].role == "user"]
    assert not questions or questions[-1] in stays
    if total > 100:
        assert left <= 50 or set(numbers(stays)) <= set(numbers([*questions[-1:], units[-1]]))


def test_a_long_exchange_with_tools_keeps_its_question() -> None:
    units = units_of(turns_of(["user", "assistant", "user"] + ["call", "tool"] * 5), lambda _: 10)
    assert numbers(newest(units, 60)) == [3, 10, 11, 12, 13]
    assert numbers(oldest_over(units, 0, 100, 60)) == [1, 2, 4, 5, 6, 7, 8, 9]


TEXTS = st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=120)
COUNTERS = st.sampled_from([len, estimate_tokens, lambda text: len(text.split()), lambda text: 7 if text else 0])


@st.composite
def scripts(draw: st.DrawFn) -> list[tuple[str, str]]:
    kinds = st.sampled_from(["ask", "ask", "answer", "tools", "away", "back"])
    return draw(st.lists(st.tuples(kinds, TEXTS.filter(str.strip)), max_size=40))


@given(scripts(), COUNTERS, st.integers(50, 900), st.sampled_from([0.0, 0.25, 0.3]), st.integers(0, 8))
@settings(max_examples=150 * TIMES)
def test_any_conversation_keeps_to_its_budget_and_loses_nothing(
    script: list[tuple[str, str]], count: Any, size: int, share: float, per_message: int
) -> None:
    vicw, recorded = FakeVicw(), 0
    retry = Retry(attempts=1, first_seconds=0.0, longest_seconds=0.0)
    with VicwClient("http://vicw.test", retry=retry, transport=httpx.MockTransport(vicw.handle)) as client:
        window = client.window(
            context="chat",
            window_tokens=size,
            count_tokens=count,
            message_tokens=per_message,
            memory_share=share,
            system="Be kind.",
        )
        for kind, text in script:
            if kind in {"away", "back"}:
                vicw.fails = {"/ingest": 503, "/retrieve": httpx.ConnectError} if kind == "away" else {}
                continue
            try:
                recorded += _say(window, kind, text)
            except BadRequestError as refused:
                assert "tokens" in str(refused) or "is empty" in str(refused)
        vicw.fails = {}
        window.flush()
        texts = [*vicw.texts, *(failed.turn.text for failed in window.failed)]
        assert len(texts) == recorded
        assert not window.waiting


def _say(window: Window, kind: str, text: str) -> int:
    """Say it and judge what would be sent; return how many turns are to be stored."""
    if kind == "ask":
        messages = window.ask(text)
        assert messages[-1] == {"role": "user", "content": text}
        assert window.cost(messages) <= window.budget
        return 1
    if kind == "answer":
        window.answer(text)
        return 1
    window.add({"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": {"name": "f"}}]})
    try:
        window.add({"role": "tool", "content": text, "tool_call_id": "c"})
        messages = window.messages()
    except BadRequestError:
        return 1
    assert [message["role"] for message in messages][-2:] == ["assistant", "tool"]
    assert window.cost(messages) <= window.budget
    return 2
