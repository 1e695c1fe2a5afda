"""One language model in memory; one answer at a time, constrained to a JSON schema by a grammar."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import jinja2

from vicw_embedding.engine import llama
from vicw_shared.errors import FieldProblem, InvalidInputError, OverloadedError, SettingsError

_MAX_STRING_CHARS = 300
_MAX_WAITING = 16
"""Maximum waiting requests; further ones are refused with OverloadedError."""

type Messages = list[dict[str, str]]
type Answer = dict[str, Any]
"""A chat completion in OpenAI's form, as llama.cpp writes it."""


class ChatEngine:
    """A loaded GGUF file. All its work runs in one thread: two threads in one context crash."""

    def __init__(self, path: Path, *, threads: int, context_tokens: int) -> None:
        """Load ``path``; blocks. Raises SettingsError if llama.cpp cannot run it."""
        self.name = path.stem
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="chat")
        self._waiting = 0
        if not path.is_file():
            raise SettingsError(f"VICW_LLM_MODEL names {path}: no such file")
        self._model = self._thread.submit(_load, path, threads, context_tokens).result()

    async def answer(self, messages: Messages, schema: dict[str, Any] | None, max_tokens: int) -> Answer:
        """Return an answer, JSON of the ``schema`` unless it was cut off.

        Cancelling the call ends the work. Raises OverloadedError, and InvalidInputError for a prompt over the context
        or a schema that has no grammar.
        """
        if self._waiting >= _MAX_WAITING:
            raise OverloadedError("too many requests wait for the language model", dependency="llm")
        cancelled = threading.Event()
        self._waiting += 1
        try:
            work = self._thread.submit(self._answer, messages, schema, max_tokens, cancelled)
            return await asyncio.wrap_future(work)
        finally:
            self._waiting -= 1
            cancelled.set()

    def close(self) -> None:
        """Free the model. Safe to call twice."""
        self._thread.submit(self._model.close).result()
        self._thread.shutdown()

    def _answer(
        self, messages: Messages, schema: dict[str, Any] | None, max_tokens: int, cancelled: threading.Event
    ) -> Answer:
        options: dict[str, Any] = {"model": self.name, "max_tokens": max_tokens, "temperature": 0.0}
        if schema is not None:
            options["grammar"] = _grammar(schema)
        self._model.cancelled = cancelled
        try:
            answer: Answer = self._complete(messages, options)
        except ValueError as error:  # llama-cpp-python's error for a prompt over its context
            fix = "Shorten the text, or raise VICW_LLM_CONTEXT_TOKENS"
            raise InvalidInputError(FieldProblem("messages", str(error), fix)) from error
        return answer

    def _complete(self, messages: Messages, options: dict[str, Any]) -> Any:
        try:
            return self._model.create_chat_completion(messages, **options)
        except (jinja2.TemplateError, ValueError):  # raised by templates without a system role
            return self._model.create_chat_completion(_without_system(messages), **options)


def _load(path: Path, threads: int, context_tokens: int) -> Any:
    llama.prepare()
    import llama_cpp

    class Interruptible(llama_cpp.Llama):  # type: ignore[misc]
        """A model that can stop after each token. A stream may wait for a complete character for ever."""

        cancelled = threading.Event()

        def generate(self, *args: Any, **options: Any) -> Iterator[int]:
            for token in super().generate(*args, **options):
                if self.cancelled.is_set():
                    return
                yield token

    try:
        return Interruptible(str(path), n_ctx=context_tokens, n_threads=threads or None, verbose=False)
    except (ValueError, OSError) as error:
        raise SettingsError(f"VICW_LLM_MODEL: llama.cpp cannot run {path}: {error}") from error


def _grammar(schema: dict[str, Any]) -> Any:
    import llama_cpp

    try:
        return llama_cpp.LlamaGrammar.from_json_schema(json.dumps(bounded(schema)), verbose=False)
    except Exception as error:  # an unsupported schema may raise anything
        problem = f"cannot be converted to a grammar: {error}"
        raise InvalidInputError(FieldProblem("response_format", problem, "Use plain JSON schema")) from error


def bounded(schema: Any) -> Any:
    """Return a schema with bounded strings: a model that repeats itself would fill the whole answer with one."""
    if isinstance(schema, list):
        return [bounded(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    limited = {key: bounded(value) for key, value in schema.items()}
    unbounded = (
        limited.get("type") == "string" and not {"maxLength", "enum", "const", "pattern", "format"} & limited.keys()
    )
    return limited | {"maxLength": _MAX_STRING_CHARS} if unbounded else limited


def _without_system(messages: Messages) -> Messages:
    system = [message["content"] for message in messages if message["role"] == "system"]
    rest = [message for message in messages if message["role"] != "system"]
    if not rest:
        return [{"role": "user", "content": "\n\n".join(system)}]
    return [rest[0] | {"content": "\n\n".join([*system, rest[0]["content"]])}, *rest[1:]]
