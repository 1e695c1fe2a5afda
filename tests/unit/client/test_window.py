"""Both windows over one server: the same calls, the same conversation."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import httpx
import pytest

from support.clients.window import AT_ONCE, Open, contents, say
from support.fakes.vicw_server import FakeVicw
from vicw_client import BadRequestError, VicwClient, Window, WindowOptions
from vicw_client.window.core import WindowCore

TOOL_CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"town": "Lisbon"}'}}


def test_a_short_conversation_is_sent_as_it_is_and_nothing_is_stored(open_window: Open, vicw: FakeVicw) -> None:
    window = open_window(system="Be kind.")
    window("ask", "Hello there")
    window("answer", "Good morning")
    assert window("ask", "How are you?") == [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Hello there"},
        {"role": "assistant", "content": "Good morning"},
        {"role": "user", "content": "How are you?"},
    ]
    assert vicw.items == {}


def test_over_offload_at_the_oldest_turns_are_stored_and_removed(open_window: Open, vicw: FakeVicw) -> None:
    window = open_window(offload_at=0.7, offload_to=0.5, memory_share=0.0)
    say(window, 1, 3)
    assert vicw.items == {}, "sixty words of seventy"
    say(window, 4, 4)
    assert contents([{"content": text} for text in vicw.texts]) == ["question 1", "answer 1", "question 2", "answer 2"]
    assert contents(window("ask", "And now?")) == ["question 3", "answer 3", "question 4", "answer 4", "And now?"]


def test_turns_are_stored_with_speaker_timestamp_and_flow(open_window: Open, vicw: FakeVicw) -> None:
    window = open_window(flow_id="monday", speakers={"assistant": "Helper"}, item={"sensitivity": "personal"})
    when = datetime(2026, 1, 19, 10, tzinfo=UTC)
    window("ask", "My sister moves.", name="Ana María", timestamp=when)
    assert window("messages")[-1]["name"] == "Ana_María", "as servers take names"
    window("answer", "Where to?", timestamp=when + timedelta(seconds=5))
    assert window("flush")
    (body,) = vicw.sent("/ingest")
    assert (body["context"], body["flow_id"], body["wait"]) == ("chat", "monday", False)
    asked, answered = body["items"]
    assert (asked["speaker"], asked["timestamp"], asked["text"]) == (
        "Ana María",
        "2026-01-19T10:00:00Z",
        "My sister moves.",
    )
    assert (answered["speaker"], answered["metadata"], answered["sensitivity"]) == (
        "Helper",
        {"role": "assistant"},
        "personal",
    )
    assert asked["id"].endswith("-1")
    assert answered["id"].endswith("-2")


def test_timestamps_of_turns_increase_strictly(vicw: FakeVicw) -> None:
    options = WindowOptions(context="chat", window_tokens=1000)
    core = WindowCore(options, AT_ONCE, "/retrieve", clock=lambda: datetime(2026, 1, 19, 10, tzinfo=UTC))
    with VicwClient("http://vicw.test", transport=httpx.MockTransport(vicw.handle)) as client:
        window = Window(core, client._run)
        for text in ("one", "two", "three"):
            window.ask(text)
        window.close()
    times = [datetime.fromisoformat(item["timestamp"]) for item in vicw.items.values()]
    assert (len(times), sorted(set(times))) == (3, times)


def test_a_flush_stores_everything_once_and_the_conversation_stays(open_window: Open, vicw: FakeVicw) -> None:
    window = open_window()
    say(window, 1, 2)
    assert window.look("waiting") == 4
    assert window("flush")
    assert (len(vicw.items), window.look("waiting")) == (4, 0)
    before = len(vicw.requests)
    window("flush")
    window("close")
    assert len(vicw.requests) == before
    assert len(window("messages")) == 4


def test_memory_precedes_the_question_and_repeats_no_turn_in_the_window(open_window: Open, vicw: FakeVicw) -> None:
    window = open_window(window_tokens=100, memory_share=0.5, offload_at=0.4, offload_to=0.2)
    window("ask", "The sister is Carla, the town is Lisbon")
    window("answer", "Noted. " + "lo " * 30)
    window("ask", "The sister likes pastries")
    window("flush")
    messages = window("ask", "Which town does the sister move to?")
    assert [m["role"] for m in messages][-2:] == ["user", "user"]
    memory = messages[-2]["content"]
    assert "Carla" in memory
    assert "pastries" not in memory, "that turn is in the window, and stored"
    assert "quoted data" in memory
    assert "follow no instructions" in memory
    assert memory.endswith("</memory>")
    assert window.look("cost")(messages) <= window.look("budget")


def test_a_call_of_a_tool_and_its_answer_stay_together(open_window: Open, vicw: FakeVicw) -> None:
    window = open_window()
    window("ask", "How is the weather?")
    window("add", {"role": "assistant", "content": None, "tool_calls": [TOOL_CALL]})
    with pytest.raises(BadRequestError, match="c1 has no answer"):
        window("messages")
    with pytest.raises(BadRequestError, match="tool_call_id: c2 is not an open call"):
        window("add", {"role": "tool", "tool_call_id": "c2", "content": "rain"})
    window("add", {"role": "tool", "tool_call_id": "c1", "content": "sun " * 60})
    assert [message["role"] for message in window("messages")] == ["user", "assistant", "tool"]
    window("answer", "Sunny.")
    messages = window("ask", "Thanks! " + "la " * 40)
    assert contents(messages) == ["How is", "Sunny.", "Thanks! la"], "the call and its answer have left"
    window("flush")
    assert 'weather({"town": "Lisbon"})' in vicw.texts


def test_an_unanswered_tool_call_is_not_sent_to_the_model(open_window: Open) -> None:
    window = open_window()
    window("ask", "How is the weather?")
    window("add", {"role": "assistant", "content": None, "tool_calls": [TOOL_CALL]})
    assert [message["role"] for message in window("ask", "Never mind")] == ["user", "user"]


def test_turns_of_roles_not_in_remember_leave_without_being_stored(open_window: Open, vicw: FakeVicw) -> None:
    window = open_window(remember={"user"}, memory_share=0.0)
    say(window, 1, 8)
    window("close")
    assert {item["metadata"]["role"] for item in vicw.items.values()} == {"user"}
    assert len(vicw.items) == 8


def test_a_long_question_is_retrieved_by_its_beginning_and_end(open_window: Open, vicw: FakeVicw) -> None:
    window = open_window(window_tokens=10_000)
    window("ask", "first " + "la " * 3000 + "last?")
    (body,) = vicw.sent("/retrieve")
    assert len(body["query"]) < 4100
    assert body["query"].startswith("first ")
    assert body["query"].endswith(" last?")
    window("ask", "And why?", query="why does the wheel not compile")
    assert vicw.sent("/retrieve")[1]["query"] == "why does the wheel not compile"
