"""One language model in memory; one answer at a time, held to a JSON schema by a grammar."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import jinja2

from vicw_embedding import native
from vicw_shared.errors import FieldProblem, InvalidInputError, OverloadedError, SettingsError

_LONGEST_STRING = 300
_MOST_WAITING = 16
"""Requests that may wait; more are to come again."""

type Messages = list[dict[str, str]]
type Answer = dict[str, Any]
"""A chat completion in OpenAI's form, as llama.cpp writes it."""


class ChatEngine:
    """A GGUF file that answers. Everything that touches it runs in one thread: two in one context crash."""

    def __init__(self, path: Path, *, threads: int, context_tokens: int) -> None:
        """Load ``path``; blocks. Raises SettingsError if it is no model that llama.cpp can run."""
        self.name = path.stem
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="chat")
        self._waiting = 0
        if not path.is_file():
            raise SettingsError(f"VICW_LLM_MODEL names {path}, and there is no such file")
        self._model = self._thread.submit(_load, path, threads, context_tokens).result()

    async def answer(self, messages: Messages, schema: dict[str, Any] | None, max_tokens: int) -> Answer:
        """Return an answer, JSON of the ``schema`` if it was not cut off.

        Whoever gives up waiting ends it. Raises OverloadedError, InvalidInputError for a prompt over the context or a
        schema that is no grammar.
        """
        if self._waiting >= _MOST_WAITING:
            raise OverloadedError("too many requests wait for the language model", dependency="llm")
        given_up = threading.Event()
        self._waiting += 1
        try:
            work = self._thread.submit(self._answer, messages, schema, max_tokens, given_up)
            return await asyncio.wrap_future(work)
        finally:
            self._waiting -= 1
            given_up.set()

    def close(self) -> None:
        """Free the model. Safe to call twice."""
        self._thread.submit(self._model.close).result()
        self._thread.shutdown()

    def _answer(
        self, messages: Messages, schema: dict[str, Any] | None, max_tokens: int, given_up: threading.Event
    ) -> Answer:
        options: dict[str, Any] = {"model": self.name, "max_tokens": max_tokens, "temperature": 0.0}
        if schema is not None:
            options["grammar"] = _grammar(schema)
        self._model.given_up = given_up
        try:
            answer: Answer = self._say(messages, options)
        except ValueError as error:  # what llama-cpp-python says of a prompt that its context has no room for
            fix = "Shorten the text, or raise VICW_LLM_CONTEXT_TOKENS"
            raise InvalidInputError(FieldProblem("messages", str(error), fix)) from error
        return answer

    def _say(self, messages: Messages, options: dict[str, Any]) -> Any:
        try:
            return self._model.create_chat_completion(messages, **options)
        except (jinja2.TemplateError, ValueError):  # a model's template may know no system turn, and say so by either
            return self._model.create_chat_completion(_without_system(messages), **options)


def _load(path: Path, threads: int, context_tokens: int) -> Any:
    native.prepare()
    import llama_cpp

    class Interruptible(llama_cpp.Llama):  # type: ignore[misc]
        """A model that leaves off between two tokens. A stream waits for whole characters, it may be for ever."""

        given_up = threading.Event()

        def generate(self, *args: Any, **options: Any) -> Iterator[int]:
            for token in super().generate(*args, **options):
                if self.given_up.is_set():
                    return
                yield token

    try:
        return Interruptible(str(path), n_ctx=context_tokens, n_threads=threads or None, verbose=False)
    except (ValueError, OSError) as error:
        raise SettingsError(f"VICW_LLM_MODEL: {path} is no model that llama.cpp can run: {error}") from error


def _grammar(schema: dict[str, Any]) -> Any:
    import llama_cpp

    try:
        return llama_cpp.LlamaGrammar.from_json_schema(json.dumps(bounded(schema)), verbose=False)
    except Exception as error:  # whatever a schema that it does not know makes it raise
        problem = f"is no schema that can be held to: {error}"
        raise InvalidInputError(FieldProblem("response_format", problem, "Use plain JSON schema")) from error


def bounded(schema: Any) -> Any:
    """Return a schema whose strings have an end: a model that repeats itself would fill the whole answer with one."""
    if isinstance(schema, list):
        return [bounded(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    held = {key: bounded(value) for key, value in schema.items()}
    unbounded = held.get("type") == "string" and not {"maxLength", "enum", "const", "pattern", "format"} & held.keys()
    return held | {"maxLength": _LONGEST_STRING} if unbounded else held


def _without_system(messages: Messages) -> Messages:
    system = [message["content"] for message in messages if message["role"] == "system"]
    rest = [message for message in messages if message["role"] != "system"]
    if not rest:
        return [{"role": "user", "content": "\n\n".join(system)}]
    return [rest[0] | {"content": "\n\n".join([*system, rest[0]["content"]])}, *rest[1:]]
