"""LanguageModel over any server with the OpenAI chat API, including VICW's own for local GGUF files.

Servers differ in how they constrain an answer to a schema, and in the name of the length limit. When a server refuses a
request feature by name, the adapter repeats the request without that feature, a few times at most.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from vicw_runtime.model_servers.openai_connection import OpenAIConnection, Peer
from vicw_shared.errors import InvalidInputError, SettingsError, UnavailableError
from vicw_shared.ports.language import Completion, Finish, Prompt, Role
from vicw_shared.settings import LlmSettings
from vicw_shared.telemetry.engines import measured
from vicw_shared.wire.embeddings import ModelsResponse

if TYPE_CHECKING:
    from pathlib import Path


PEER = Peer("llm", "the language model's server", "VICW_LLM_")
_NAME = "extraction"
_FINISH = {"length": Finish.LENGTH, "content_filter": Finish.REFUSED}


class _SchemaMode(Enum):
    """Ways to constrain an answer to the schema, the strictest first."""

    SCHEMA = "json_schema"
    TOOL = "tool"
    OBJECT = "json_object"


@dataclass(frozen=True, slots=True)
class _Dialect:
    """Request features that a server accepts."""

    schema_mode: _SchemaMode = _SchemaMode.SCHEMA
    limit_field: str = "max_tokens"
    temperature: bool = True

    def next_dialect(self, refusal: str) -> _Dialect | None:
        """Return the next dialect after a refusal with this text; None: the refusal has another cause."""
        text = refusal.casefold()
        if self.limit_field == "max_tokens" and "max_completion_tokens" in text:
            return replace(self, limit_field="max_completion_tokens")
        if self.temperature and "temperature" in text:
            return replace(self, temperature=False)
        if self.schema_mode is _SchemaMode.SCHEMA and any(
            word in text for word in ("response_format", "schema", "grammar")
        ):
            return replace(self, schema_mode=_SchemaMode.TOOL)
        if self.schema_mode is _SchemaMode.TOOL and any(word in text for word in ("tool", "function", "schema")):
            return replace(self, schema_mode=_SchemaMode.OBJECT)
        return None


@measured("llm")
class OpenAILanguageModel:
    """Client of the server at ``base_url`` (``…/v1``), or on the unix domain socket ``uds``.

    It uses ``model``, or without one the only model of the server.
    """

    def __init__(
        self,
        *,
        base_url: str | None = None,
        uds: Path | None = None,
        model: str | None = None,
        api_key: str | None = None,
        timeout_seconds: float = 120.0,
        retry_seconds: float = 5.0,
    ) -> None:
        self._connection = OpenAIConnection(
            base_url=base_url,
            uds=uds,
            api_key=api_key,
            timeout_seconds=timeout_seconds,
            retry_seconds=retry_seconds,
            peer=PEER,
        )
        self._model = model
        self._dialect = _Dialect()

    async def complete(
        self, messages: Sequence[Prompt], schema: Mapping[str, object], *, max_tokens: int
    ) -> Completion:
        if self._model is None:
            self._model = await self._only_model()
        dialect = self._dialect
        while True:
            body = _body(dialect, self._model, messages, schema, max_tokens)
            try:
                answer = await self._connection.send("POST", "/chat/completions", body=body)
            except (InvalidInputError, UnavailableError) as error:
                # Some servers answer 500 instead of 400.
                fallback = dialect.next_dialect(error.detail)
                if fallback is None:
                    raise
                dialect = fallback
                continue
            self._dialect = dialect
            try:
                return _completion(answer.json(), self._model)
            except (ValueError, RecursionError):
                return Completion("", Finish.STOP, self._model)

    async def close(self) -> None:
        """Close connections. Safe to call twice."""
        await self._connection.close()

    async def _only_model(self) -> str:
        response = await self._connection.send("GET", "/models")
        try:
            rows = ModelsResponse.model_validate(response.json()).data
        except (ValueError, ValidationError):
            rows = []
        if len(rows) != 1:
            names = ", ".join(row.id for row in rows[:20]) or "none"
            raise SettingsError(f"{PEER.label} has not exactly one model, but {names}; set VICW_LLM_MODEL to one")
        return rows[0].id


def _body(
    dialect: _Dialect, model: str, messages: Sequence[Prompt], schema: Mapping[str, object], max_tokens: int
) -> dict[str, Any]:
    body: dict[str, Any] = {"model": model, "messages": list(_messages(messages)), dialect.limit_field: max_tokens}
    if dialect.temperature:
        body["temperature"] = 0
    match dialect.schema_mode:
        case _SchemaMode.SCHEMA:
            json_schema = {"name": _NAME, "strict": True, "schema": schema}
            body["response_format"] = {"type": "json_schema", "json_schema": json_schema}
        case _SchemaMode.TOOL:
            body["tools"] = [{"type": "function", "function": {"name": _NAME, "parameters": schema}}]
            body["tool_choice"] = {"type": "function", "function": {"name": _NAME}}
        case _SchemaMode.OBJECT:
            body["response_format"] = {"type": "json_object", "schema": schema}
            # Constrained to JSON, with the schema as text, too: some servers ignore the one in `response_format`.
            instruction = f"The JSON schema of your answer:\n{json.dumps(schema)}"
            body["messages"].insert(0, {"role": Role.SYSTEM, "content": instruction})
    return body


def _messages(messages: Sequence[Prompt]) -> Iterator[dict[str, str]]:
    for message in messages:
        yield {"role": message.role.value, "content": message.text}


def _completion(body: Any, model: str) -> Completion:
    """Return the completion of a response; missing text becomes ""."""
    choices = _dict(body).get("choices")
    choice = _dict(choices[0]) if isinstance(choices, list) and choices else {}
    message, usage = _dict(choice.get("message")), _dict(_dict(body).get("usage"))
    finish = _FINISH.get(str(choice.get("finish_reason")), Finish.STOP)
    if message.get("refusal"):
        finish = Finish.REFUSED
    calls = message.get("tool_calls")
    arguments = _dict(_dict(calls[0]).get("function")).get("arguments") if isinstance(calls, list) and calls else None
    text = arguments or message.get("content")
    return Completion(
        text if isinstance(text, str) else "",
        finish,
        model,
        _count(usage.get("prompt_tokens")),
        _count(usage.get("completion_tokens")),
    )


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _count(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def open_language_model(settings: LlmSettings) -> OpenAILanguageModel:
    """Return the model at VICW_LLM_URL. Raises SettingsError if there is no URL."""
    if settings.url is None:
        raise SettingsError(
            f"VICW_LLM_MODEL is {settings.model}, and VICW_LLM_URL is not set: only `vicw serve` runs a GGUF file "
            f"itself. Set VICW_LLM_URL to a server that has it (`python -m vicw_embedding.chat` is one)"
        )
    return OpenAILanguageModel(
        base_url=settings.url.strip(),
        model=settings.model,
        api_key=settings.api_key.get_secret_value() if settings.api_key is not None else None,
        timeout_seconds=settings.timeout_seconds,
    )
