"""A server that is away, refuses or fails, and a program that ends: the chat goes on, and no turn is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from support.clients.window import AT_ONCE, PATIENT, Open, contents, say, words
from support.fakes.vicw_server import FakeVicw
from vicw_client import BadRequestError, NotStoredError, SpoolError, VicwClient


@pytest.mark.parametrize("fault", [httpx.ConnectError, httpx.ReadTimeout, 429, 503, 507, 500, 401, 404])
def test_the_chat_continues_and_loses_no_turn_while_ingest_fails(open_window: Open, vicw: FakeVicw, fault: Any) -> None:
    window = open_window(memory_share=0.0)
    vicw.fails = {"/ingest": fault}
    messages = say(window, 1, 12)
    assert sum(words(message["content"]) for message in messages) <= 100
    assert contents(messages)[-1] == "question 12"
    assert window.look("last_error") is not None
    vicw.fails = {}
    say(window, 13, 13)
    while window.look("failed"):  # a fault that lasts is laid to the turn
        window("retry_failed")
    window("close")
    assert sorted(int(item_id.rpartition("-")[2]) for item_id in vicw.items) == list(range(1, 27))
    assert window.look("last_error") is None


def test_an_unavailable_server_is_not_retried_at_once(open_window: Open, vicw: FakeVicw) -> None:
    window = open_window(PATIENT)
    vicw.fails = {"/ingest": 503, "/retrieve": 503}
    say(window, 1, 12)
    assert (len(vicw.sent("/ingest")), len(vicw.sent("/retrieve"))) == (1, 1)
    assert window.look("waiting") == 24
    assert "503" in window.look("degraded")


@pytest.mark.parametrize("fault", [httpx.ConnectError, httpx.ReadTimeout, 422, 429, 500])
def test_messages_are_returned_without_memory_when_retrieval_fails(
    open_window: Open, vicw: FakeVicw, fault: Any
) -> None:
    window = open_window()
    vicw.fails = {"/retrieve": fault}
    assert window("ask", "Is anybody there?") == [{"role": "user", "content": "Is anybody there?"}]
    assert window.look("degraded")
    assert window.look("memory") is None
    vicw.fails = {}
    window("ask", "And now?")
    assert window.look("degraded") is None


def test_a_turn_that_is_refused_is_put_aside_and_blocks_no_other(open_window: Open, vicw: FakeVicw) -> None:
    window = open_window(memory_share=0.0)
    vicw.refuses = "question 2"
    say(window, 1, 8)
    (failed,) = window.look("failed")
    assert failed.turn.text.startswith("question 2")
    assert isinstance(failed.error, BadRequestError)
    assert window.look("last_error") is None
    assert not window("flush")
    assert len(vicw.items) == 15
    with pytest.raises(NotStoredError, match="1 turns are not stored"):
        window("close")
    vicw.refuses = ""
    assert window("retry_failed")
    assert (len(vicw.items), window.look("failed")) == (16, ())
    window("close")


def test_a_turn_that_fails_the_server_repeatedly_is_put_aside(open_window: Open, vicw: FakeVicw) -> None:
    window = open_window(memory_share=0.0)
    vicw.breaks = "question 1 "
    say(window, 1, 14)
    assert [failed.turn.number for failed in window.look("failed")] == [1]
    assert "answer 1 " in " ".join(vicw.texts)


def test_turns_refused_by_the_client_itself_are_put_aside_too(open_window: Open, vicw: FakeVicw) -> None:
    window = open_window()
    window("ask", "fine")
    window("answer", "a NUL \x00 in it")
    window("ask", "half a pair \ud83d")
    assert not window("flush")
    assert [failed.turn.number for failed in window.look("failed")] == [2, 3]
    assert vicw.texts == ["fine"]


def test_close_raises_if_turns_would_be_lost_and_can_be_repeated(open_window: Open, vicw: FakeVicw) -> None:
    window = open_window()
    window("ask", "Remember me")
    vicw.fails = {"/ingest": httpx.ConnectError}
    with pytest.raises(NotStoredError, match="1 turns are not stored") as lost:
        window("close")
    assert [turn.text for turn in lost.value.turns] == ["Remember me"]
    vicw.fails = {}
    window("close")
    assert vicw.texts == ["Remember me"]
    with pytest.raises(RuntimeError, match="closed"):
        window("ask", "Still there?")


def test_a_window_as_context_manager_stores_its_turns_on_exit(vicw: FakeVicw) -> None:
    with VicwClient("http://vicw.test", retry=AT_ONCE, transport=httpx.MockTransport(vicw.handle)) as client:
        with client.window(context="chat", window_tokens=100) as window:
            window.ask("Remember me")
        assert vicw.texts == ["Remember me"]
        vicw.fails = {"/ingest": httpx.ConnectError}
        with pytest.raises(KeyError) as error, client.window(context="chat", window_tokens=100) as window:
            window.ask("And me")
            raise KeyError("the program's own")
        assert "1 turns are not stored" in str(error.value.__notes__), "the error is not hidden by another"


def test_a_conversation_continues_from_its_spool_after_a_restart(
    open_window: Open, vicw: FakeVicw, tmp_path: Path
) -> None:
    spool = tmp_path / "new" / "chat.jsonl"
    window = open_window(spool=spool, memory_share=0.0)
    vicw.fails = {"/ingest": httpx.ConnectError}
    say(window, 1, 8)
    before = window("ask", "One more")
    with pytest.raises(SpoolError, match="in use by another window"):
        open_window(spool=spool)
    window("close")
    assert vicw.items == {}
    vicw.fails = {}
    again = open_window(spool=spool, memory_share=0.0)
    assert again.look("waiting") == 17
    assert again("messages") == before
    assert again.look("flow_id") == window.look("flow_id")
    say(again, 9, 9)
    again("close")
    assert sorted(int(item_id.rpartition("-")[2]) for item_id in vicw.items) == list(range(1, 20))
    assert len({item_id.rpartition("-")[0] for item_id in vicw.items}) == 1
    third = open_window(spool=spool, memory_share=0.0)
    assert third.look("waiting") == 0
    assert contents(third("messages"))[-1] == "answer 9"


def test_refused_turns_are_retried_after_a_restart(open_window: Open, vicw: FakeVicw, tmp_path: Path) -> None:
    spool = tmp_path / "chat.jsonl"
    vicw.refuses = "question 1 "
    window = open_window(spool=spool, memory_share=0.0)
    say(window, 1, 8)
    window("close")
    vicw.refuses = ""
    open_window(spool=spool, memory_share=0.0)("close")
    assert len(vicw.items) == 16


def test_a_spool_that_cannot_be_opened_raises_spool_error(open_window: Open, tmp_path: Path) -> None:
    with pytest.raises(SpoolError, match="Name a file that can be written"):
        open_window(spool=tmp_path)


def test_ask_uses_the_window_timeout_and_flush_the_client_timeout() -> None:
    waits: list[Any] = []

    def handle(request: httpx.Request) -> httpx.Response:
        waits.append(request.extensions["timeout"]["read"])
        return httpx.Response(503)

    with VicwClient("http://vicw.test", retry=AT_ONCE, transport=httpx.MockTransport(handle)) as client:
        window = client.window(context="chat", window_tokens=100, timeout_seconds=3.0)
        window.ask("Anybody there?")
        assert waits == [3.0]
        window.flush()
        assert waits == [3.0, 120.0, 120.0], "who flushes is as patient as the client"
