"""A language model behind the OpenAI chat wire, over a real server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from support.fakes.chat_server import Chat, chat_response, error_response, serve_chat
from vicw_runtime.model_servers.openai_language import OpenAILanguageModel
from vicw_shared.errors import (
    InvalidInputError,
    LimitExceededError,
    OverloadedError,
    SettingsError,
    TooSlowError,
    UnavailableError,
    VicwError,
)
from vicw_shared.ports import Completion, Finish, Prompt, Role

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
TURNS = [Prompt(Role.SYSTEM, "Read."), Prompt(Role.USER, "A text.")]


@asynccontextmanager
async def model(chat: Chat, **options: Any) -> AsyncIterator[OpenAILanguageModel]:
    opened = OpenAILanguageModel(base_url=chat.url, **{"model": "m", "retry_seconds": 0.0, **options})
    try:
        yield opened
    finally:
        await opened.close()


async def ask(chat: Chat, **options: Any) -> Completion:
    async with model(chat, **options) as opened:
        return await opened.complete(TURNS, SCHEMA, max_tokens=50)


async def test_a_completion_sends_the_schema_and_returns_its_token_counts() -> None:
    async with serve_chat('{"a": "b"}') as chat:
        completion = await ask(chat, api_key="secret")
    assert completion == Completion('{"a": "b"}', Finish.STOP, "m", 100, 10)
    (body,) = chat.asked
    assert body["response_format"]["json_schema"] == {"name": "extraction", "strict": True, "schema": SCHEMA}
    assert body["messages"] == [{"role": "system", "content": "Read."}, {"role": "user", "content": "A text."}]
    assert (body["model"], body["max_tokens"], body["temperature"]) == ("m", 50, 0)
    assert chat.headers[0]["Authorization"] == "Bearer secret"


async def test_the_only_model_of_a_server_needs_no_name() -> None:
    async with serve_chat("{}") as chat:
        assert (await ask(chat, model=None)).model == "scripted"
        chat.models.append("another")
        with pytest.raises(SettingsError, match="not exactly one model, but scripted, another; set VICW_LLM_MODEL"):
            await ask(chat, model=None)


@pytest.mark.parametrize(
    ("reply", "finish"),
    [
        (lambda _: chat_response("{", "length"), Finish.LENGTH),
        (lambda _: chat_response(None, refusal="I cannot help with that."), Finish.REFUSED),
        (lambda _: chat_response(None, "content_filter"), Finish.REFUSED),
        (lambda _: web.json_response({"choices": []}), Finish.STOP),
        (lambda _: web.json_response([1]), Finish.STOP),
        (lambda _: web.Response(text="<html>"), Finish.STOP),
        (
            lambda _: web.json_response({"choices": [{"message": {"content": [1]}}], "usage": {"prompt_tokens": "x"}}),
            Finish.STOP,
        ),
    ],
)
async def test_cut_refused_or_malformed_completions_report_their_finish(reply: Any, finish: Finish) -> None:
    async with serve_chat(reply) as chat:
        completion = await ask(chat)
    assert completion.finish is finish
    assert completion.text in {"", "{"}


async def test_a_server_without_schemas_is_asked_by_tool_then_for_json() -> None:
    def schemaless(body: dict[str, Any]) -> web.Response | str:
        if "json_schema" in json.dumps(body.get("response_format", {})):
            return error_response(500, "response_format type must be one of text or json_object")(body)
        if "tools" in body:
            return error_response(400, "this model does not support tools")(body)
        assert body["response_format"] == {"type": "json_object", "schema": SCHEMA}
        assert json.dumps(SCHEMA) in body["messages"][0]["content"]
        return '{"a": "b"}'

    async with serve_chat(schemaless) as chat, model(chat) as opened:
        for _ in range(2):
            assert (await opened.complete(TURNS, SCHEMA, max_tokens=50)).text == '{"a": "b"}'
    assert len(chat.asked) == 4, "what was refused once is not tried again"


async def test_the_arguments_of_a_tool_call_are_the_completion() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "extraction", "arguments": '{"a": "b"}'}}

    def tools(body: dict[str, Any]) -> web.Response:
        refused = error_response(422, "json_schema: unknown response_format")(body)
        return chat_response(None, "tool_calls", tool_calls=[call]) if "tools" in body else refused

    async with serve_chat(tools) as chat:
        assert (await ask(chat)).text == '{"a": "b"}'
    assert chat.asked[-1]["tool_choice"] == {"type": "function", "function": {"name": "extraction"}}


async def test_unsupported_max_tokens_and_temperature_are_replaced_or_omitted() -> None:
    def modern(body: dict[str, Any]) -> web.Response | str:
        if "max_tokens" in body:
            return error_response(400, "'max_tokens' is not supported. Use 'max_completion_tokens' instead.")(body)
        if "temperature" in body:
            return error_response(400, "'temperature' does not support 0 with this model.")(body)
        return "{}"

    async with serve_chat(modern) as chat:
        await ask(chat)
    assert chat.asked[-1]["max_completion_tokens"] == 50


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (error_response(400, "maximum context length exceeded"), InvalidInputError),
        (
            error_response(400, "response_format tool function schema temperature max_completion_tokens"),
            InvalidInputError,
        ),
        (error_response(401), SettingsError),
        (error_response(404, "no such model"), SettingsError),
        (error_response(413), LimitExceededError),
        (error_response(429), OverloadedError),
        (error_response(500), UnavailableError),
        (error_response(503), UnavailableError),
    ],
)
async def test_llm_error_statuses_map_to_vicw_errors(reply: Any, error: type[VicwError]) -> None:
    async with serve_chat(reply) as chat:
        with pytest.raises(error) as raised:
            await ask(chat)
    assert len(chat.asked) <= 5, "a server that refuses everything is asked a few times only"
    if error is SettingsError:
        assert "VICW_LLM_API_KEY" in raised.value.detail


async def test_an_unreachable_llm_server_and_a_slow_one_raise_different_errors() -> None:
    async with serve_chat("{}") as chat:
        pass
    with pytest.raises(UnavailableError) as raised:
        await ask(chat)
    assert not isinstance(raised.value, TooSlowError)
    async with serve_chat("{}", pause=2.0) as slow:
        with pytest.raises(TooSlowError, match=r"no answer within 0\.2 s"):
            await ask(slow, timeout_seconds=0.2)
        await asyncio.sleep(0)
