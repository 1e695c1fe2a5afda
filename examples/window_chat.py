"""A chat that goes on beyond its model's window: what no longer fits is remembered by VICW, and found again.

    make serve                                   # in another terminal
    python examples/window_chat.py --script      # a conversation that is written down, without any model
    python examples/window_chat.py --echo        # yours, with a model that only repeats what you say
    OPENAI_BASE_URL=http://127.0.0.1:8000/v1 python examples/window_chat.py

The last form talks to any OpenAI-compatible server, with ``OPENAI_MODEL`` and ``OPENAI_API_KEY`` where it wants them.
``VICW_URL`` and ``VICW_API_KEY`` say where VICW is.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import httpx

from vicw_client import VicwClient, Window
from vicw_client.window import Message

type Model = Callable[[list[Message]], str]

SYSTEM = "You are a helpful assistant. Answer in one or two sentences."
TOLD_FIRST = "Before we start: my sister Carla moves to Lisbon in March, and her cat is called Biscuit."
ASKED_LAST = "What is the name of my sister's cat?"
TOPICS = ("bread", "sailing", "chess", "violins", "glaciers", "beetles", "bridges", "kites", "tea", "maps", "owls")


def main() -> None:
    """Chat until there is no more to say."""
    arguments = _arguments()
    model = _repeat if arguments.echo or arguments.script else _server_of_the_environment()
    said = _script() if arguments.script else _typed()
    with (
        VicwClient() as client,
        client.window(
            context=arguments.context,
            window_tokens=arguments.window_tokens,
            system=SYSTEM,
            spool=arguments.spool,
            # A script says more in a second than is embedded in one; a chat can leave that to the background.
            wait=arguments.script,
        ) as window,
    ):
        chat(window, model, said, show=arguments.show or arguments.script)


def chat(window: Window, model: Model, said: Iterable[str], *, show: bool) -> None:
    """Answer everything that is said; ``show`` prints what goes to the model."""
    for text in said:
        messages = window.ask(text)
        if show:
            _print_messages(window, messages)
        if window.degraded:
            print(f"(without memory: {window.degraded})", file=sys.stderr)
        if window.last_error:
            print(f"({window.waiting} turns wait to be stored: {window.last_error})", file=sys.stderr)
        reply = model(messages)
        window.answer(reply)
        print(f"model> {reply}\n")


def _print_messages(window: Window, messages: list[Message]) -> None:
    print(f"--- {len(messages)} messages, {window.cost(messages)} of {window.budget} tokens")
    for message in messages:
        print(f"{message['role']:>9}: {message['content']}")
    print("---")


def _script() -> Iterator[str]:
    yield TOLD_FIRST
    for topic in TOPICS:
        yield f"Now tell me something about {topic}. I have read a little about {topic} already, so go into detail."
    yield ASKED_LAST


def _typed() -> Iterator[str]:
    while True:
        try:
            text = input("you> ")
        except EOFError:
            return
        if text.strip():
            yield text


def _repeat(messages: list[Message]) -> str:
    return f"You said: {messages[-1]['content']}"


def _server_of_the_environment() -> Model:
    url = os.environ.get("OPENAI_BASE_URL")
    if not url:
        raise SystemExit("OPENAI_BASE_URL is not set. Name a server, such as http://127.0.0.1:8000/v1, or give --echo")
    key = os.environ.get("OPENAI_API_KEY")
    server = httpx.Client(timeout=300, headers={"Authorization": f"Bearer {key}"} if key else {})

    def complete(messages: list[Message]) -> str:
        body = {"model": os.environ.get("OPENAI_MODEL", "default"), "messages": messages}
        answer = server.post(f"{url.rstrip('/')}/chat/completions", json=body).raise_for_status().json()
        return str(answer["choices"][0]["message"]["content"] or "")

    return complete


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="A chat that goes on beyond its model's window.")
    parser.add_argument("--echo", action="store_true", help="no model: repeat what is said")
    parser.add_argument("--script", action="store_true", help="no model, and a conversation that is written down")
    parser.add_argument("--show", action="store_true", help="print the messages that go to the model")
    parser.add_argument("--context", default="window-chat", help="where VICW remembers it (%(default)s)")
    parser.add_argument("--window-tokens", type=int, default=1024, help="the model's window (%(default)s)")
    parser.add_argument("--spool", type=Path, help="a file from which the next start goes on with this chat")
    return parser.parse_args()


if __name__ == "__main__":
    main()
