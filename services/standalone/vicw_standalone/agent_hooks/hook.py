"""``vicw hook``: what an agent runs at its events. It reads the event, asks the server, and prints the answer.

It starts in a moment, since an agent waits for it: the standard library alone, and the rest where it is needed.
Whatever goes wrong, it prints nothing and succeeds, in time: an agent without memory is better than none.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

from vicw_core.hook_events import OFFLOADING, RECALLING, TURNS_HEADER
from vicw_core.project_context import checkout_of
from vicw_readers.assistants.agents.transcript import OFF_MARKER, TranscriptReader, summarize
from vicw_standalone.agent_hooks.hook_server import HookServer, InvalidError, NoAnswerError, RefusedError
from vicw_standalone.agent_hooks.project import is_off, note_checkout

AGENTS = ("claude-code", "codex")
_RECALL_FIELDS = ("hook_event_name", "session_id", "prompt", "source")
_OFFLOAD_FIELDS = ("hook_event_name", "session_id", "transcript_path")
"""What is sent of an event: the rest is not needed."""
RECALL_SECONDS = 1.2
"""With its start a hook holds a prompt up for 1.5 s at most. The server ends a recall earlier, after its
``VICW_HOOKS_DEADLINE_MS``.
"""
_CONNECT_SECONDS = 0.3
"""Of a recall: a server that is away is not waited for."""
OFFLOAD_SECONDS, _APART_SECONDS = 60.0, 600.0
"""While the agent waits, and in a process that it does not wait for."""
_MAX_EVENT_BYTES = 8 * 1024 * 1024
_TURNS = 100
"""Turns of one request."""


def run(arguments: Sequence[str]) -> None:
    """Handle the event on standard input; ``--verbose`` says on standard error why nothing is printed."""
    from argparse import ArgumentParser

    parser = ArgumentParser("vicw hook", description="Answer a hook of a coding agent: its event is on standard input.")
    parser.add_argument("agent", choices=AGENTS)
    parser.add_argument(
        "--context",
        default=os.environ.get("VICW_CONTEXT"),
        help="default: the name of the Git checkout around the agent's folder",
    )
    parser.add_argument("--url", help="address of the server")
    parser.add_argument("--no-capture", action="store_true", help="recall only: store nothing of the session")
    parser.add_argument("--seconds", type=float, default=RECALL_SECONDS, help="longest time of a recall (%(default)s)")
    parser.add_argument("--verbose", action="store_true", help="say on standard error why there is no answer")
    given = parser.parse_args(arguments)
    timer = None
    try:
        event = json.loads(sys.stdin.buffer.read(_MAX_EVENT_BYTES))
        timer = _end_after(given.seconds if event["hook_event_name"] in RECALLING else OFFLOAD_SECONDS)
        answer = answer_event(event, given.agent, given.context, given.url, captures=not given.no_capture)
    except RefusedError as error:
        answer = {"systemMessage": f"VICW: {error}"}  # shown to the person; the agent goes on without
    except Exception as error:  # an agent must not be held up by whatever it is
        if given.verbose:
            print(f"vicw hook: {str(error) or type(error).__name__}", file=sys.stderr)
        return
    finally:
        if timer is not None:
            timer.cancel()  # an answer is printed as a whole
    if answer:
        print(json.dumps(answer))


def answer_event(
    event: Mapping[str, Any], agent: str, context: str | None, url: str | None, *, captures: bool
) -> dict[str, Any]:
    """Return the server's answer to an event; empty if there is none, or if the event asks for nothing.

    Secrets are masked before anything is sent, wherever to: what is called localhost may lead to another machine.
    Raises whatever goes wrong.
    """
    name, folder = event["hook_event_name"], event.get("cwd") or os.getcwd()  # noqa: PTH109
    if is_off(folder) or OFF_MARKER in (event.get("prompt") or "") or name not in RECALLING | OFFLOADING:
        return {}
    if name in OFFLOADING and not (captures and event.get("transcript_path")):
        return {}
    checkout = None if context else checkout_of(folder)
    context = context or (checkout.name if checkout else "")
    if not context:
        raise NoAnswerError("the folder is in no Git checkout; name a context with --context or VICW_CONTEXT")
    server = HookServer(url)
    try:
        if name in OFFLOADING:
            return _offload(server, agent, context, event)
        path = f"/hooks/{agent}?context={_quoted(context)}"
        answer, _ = server.post(path, _sent(event, _RECALL_FIELDS), _CONNECT_SECONDS)
    except RefusedError as error:
        done, rights = ("recalled", "`retrieve`") if name in RECALLING else ("stored", "`retrieve` and `ingest`")
        raise RefusedError(
            f"nothing is {done}, {server.name} wants another key: {error}. Set VICW_API_KEY, where the agent starts, "
            f"to one with the right {rights}, or run `vicw disconnect {agent}`"
        ) from error
    if name == "SessionStart" and checkout is not None and (other := note_checkout(checkout)) is not None:
        answer["systemMessage"] = (
            f"VICW: {checkout} and {other} share the memory {context!r}, since both have that name. If they are two "
            "projects, set VICW_CONTEXT to another name in one of them"
        )
    return answer


def _offload(server: HookServer, agent: str, context: str, event: Mapping[str, Any]) -> dict[str, Any]:
    """Have this user's own server read the transcript; send the turns to any other. Return a message, if any.

    What listens at the usual port, where nobody has named a server, gets the turns only if it says that it wants them.
    """
    if server.prove_owner() or server.is_guessed:
        path = f"/hooks/{agent}?context={_quoted(context)}"
        answer, headers = server.post(path, _sent(event, _OFFLOAD_FIELDS))
        if TURNS_HEADER not in headers:
            return answer
    if event["hook_event_name"] == "SessionEnd" and hasattr(os, "fork"):
        if not os.fork():  # the agent ends it soon, and posting takes longer
            _work_apart(lambda: _send_turns(server, agent, context, event))
        return {}
    return _send_turns(server, agent, context, event)


def _sent(event: Mapping[str, Any], fields: Sequence[str]) -> dict[str, Any]:
    """Return what is sent of an event."""
    sent = {field: event[field] for field in fields if event.get(field) is not None}
    return sent | ({"prompt": _masked(sent["prompt"])} if "prompt" in sent else {})


def _send_turns(server: HookServer, agent: str, context: str, event: Mapping[str, Any]) -> dict[str, Any]:
    """Send the transcript's turns to a server that cannot read it. Return a message of what could not be read."""
    session = event["session_id"]
    reader = TranscriptReader(session)
    with open(event["transcript_path"], "rb") as file:  # noqa: PTH123
        turns = list(reader.read(file))
    problems = [summary] if (summary := reader.summary()) else []

    def store(turns: list[dict[str, str]]) -> None:
        event = {"event": "turns", "context": context, "session": session, "source": agent, "turns": turns}
        try:
            answer, _ = server.post("/hooks/session", event)
        except InvalidError as error:
            middle = len(turns) // 2
            if middle:
                store(turns[:middle])
                store(turns[middle:])
            else:
                problems.append(f"turn {turns[0]['id']} cannot be stored: {error}")
        else:
            problems.extend(filter(None, [answer.get("problem")]))

    for batch in _batches(list({one.id: one for one in turns}.values())):
        store(
            [
                {"id": one.id, "text": _masked(one.text), "speaker": one.speaker}
                | ({"timestamp": one.timestamp} if one.timestamp else {})
                for one in batch
            ]
        )
    if event["hook_event_name"] == "PreCompact":
        server.post("/hooks/session", {"event": "compact", "context": context, "session": session})
    return {"systemMessage": f"VICW: {summarize(problems)}"} if problems else {}


def _work_apart(work: Callable[[], object]) -> NoReturn:
    """Do the work of a forked process, which the agent neither waits for nor ends, and end it."""
    try:
        os.setsid()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for descriptor in range(3):  # an agent waits until nobody has its pipe
            os.dup2(nowhere, descriptor)
        _end_after(_APART_SECONDS)  # the timer before the fork is not in this process
        work()
    finally:
        os._exit(0)


def _batches[T](turns: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(turns), _TURNS):
        yield turns[start : start + _TURNS]


def _end_after(seconds: float) -> threading.Timer:
    """End the process then, whatever it waits for. Return the timer."""

    def end() -> None:
        os._exit(0)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    return timer


def _quoted(text: str) -> str:
    from urllib.parse import quote

    return quote(text, safe="")


def _masked(text: str) -> str:
    """Return a text without its secrets."""
    from vicw_core.secrets.detector import find_secrets, mask

    return mask(text, find_secrets(text))
