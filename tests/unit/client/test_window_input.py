"""What a window does not take, and what it says of it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from support.clients.window import Open, contents
from support.fakes.vicw_server import FakeVicw
from vicw_client import BadRequestError, VicwClient, WindowOptions

TOOL_CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"town": "Lisbon"}'}}


def test_text_longer_than_the_window_is_refused_and_changes_nothing(open_window: Open) -> None:
    window = open_window(system="Be kind.")
    with pytest.raises(BadRequestError) as refused:
        window("ask", "la " * 99)
    (wrong,) = refused.value.problem.errors
    assert (wrong.field, wrong.problem) == ("text", "takes 99 tokens; 98 are left of a window of 100")
    assert "window_tokens" in wrong.fix
    assert len(window("ask", "la " * 98)) == 2


@pytest.mark.parametrize("text", ["", " \n"])
def test_an_empty_question_is_refused(open_window: Open, text: str) -> None:
    with pytest.raises(BadRequestError, match="text: is empty"):
        open_window()("ask", text)


def test_a_models_empty_or_overlong_reply_is_no_error(open_window: Open, vicw: FakeVicw) -> None:
    window = open_window(memory_share=0.0)
    window("ask", "Well?")
    window("answer", "")
    window("add", {"role": "assistant", "content": None})
    window("ask", "Tell me all")
    window("answer", "lo " * 300)
    assert contents(window("ask", "Shorter, please")) == ["Shorter, please"]
    window("close")
    assert [text.split()[0] for text in vicw.texts] == ["Well?", "Tell", "lo", "Shorter,"]


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ({"role": "robot", "content": "x"}, "role"),
        ({"role": "user", "content": [{"type": "text", "text": "x"}]}, "content"),
        ({"role": "user", "content": None}, "content"),
        ({"role": "user", "content": "x", "tool_calls": [TOOL_CALL]}, "tool_calls"),
        ({"role": "assistant", "content": None, "tool_calls": [{"function": {}}]}, "tool_calls"),
        ({"role": "user", "content": "x", "name": 7}, "name"),
        ({"role": "tool", "content": "x"}, "tool_call_id"),
        ({"role": "user", "content": "x", "tool_call_id": "c1"}, "tool_call_id"),
    ],
)
def test_an_invalid_message_is_refused_with_its_field(open_window: Open, message: dict[str, Any], field: str) -> None:
    window = open_window()
    with pytest.raises(BadRequestError) as refused:
        window("add", message)
    assert [wrong.field for wrong in refused.value.problem.errors] == [field]
    assert window("messages") == []


def test_a_time_without_a_zone_is_refused(open_window: Open) -> None:
    with pytest.raises(BadRequestError, match="timestamp: has no time zone"):
        open_window()("ask", "now?", timestamp=datetime(2026, 1, 19))


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"window_tokens": 0}, "window_tokens"),
        ({"reply_tokens": 100}, "reply_tokens"),
        ({"reply_tokens": -1}, "reply_tokens"),
        ({"offload_at": 0.0, "memory_share": 0.1}, "offload_at"),
        ({"offload_at": 0.5, "offload_to": 0.6}, "offload_to"),
        ({"offload_at": 0.8}, "memory_share"),
        ({"memory_share": -0.1}, "memory_share"),
        ({"batch": 0}, "batch"),
        ({"timeout_seconds": -1.0}, "timeout_seconds"),
        ({"template": "memory"}, "template"),
        ({"memory_role": "tool"}, "memory_role"),
        ({"context": ""}, "context"),
        ({"flow_id": "\x00"}, "flow_id"),
        ({"ingest": {"domian": "coding"}}, "ingest.domian"),
        ({"ingest": {"wait": True}}, "ingest.wait"),
        ({"item": {"sensitivity": "secret"}}, "item.sensitivity"),
        ({"item": {"id": "mine"}}, "item.id"),
        ({"retrieve": {"limit": 0}}, "retrieve.limit"),
        ({"retrieve": {"timezone": "Europe/Berlim"}}, "retrieve.timezone"),
        ({"retrieve": {"query": "mine"}}, "retrieve.query"),
    ],
)
def test_invalid_window_options_are_named(options: dict[str, Any], field: str) -> None:
    with pytest.raises(BadRequestError) as refused:
        WindowOptions(**{"context": "chat", "window_tokens": 100, **options})
    assert [wrong.field for wrong in refused.value.problem.errors] == [field]


def test_window_options_are_given_as_fields_or_as_one_object() -> None:
    with VicwClient("http://vicw.test") as client:
        options = WindowOptions(context="chat", window_tokens=8192)
        assert client.window(options).budget == 8192 - 1024
        with pytest.raises(TypeError, match="not both"):
            client.window(options, context="chat")
