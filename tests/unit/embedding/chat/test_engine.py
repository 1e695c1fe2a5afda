"""A language model in a GGUF file: random weights, so that whatever is right about an answer is the grammar's doing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from support.models.tiny_gguf import decoder
from vicw_embedding.chat.engine import Answer, ChatEngine, bounded
from vicw_embedding.models.model_files import ModelFile
from vicw_embedding.process.supervisor import ChatProcess
from vicw_ingest.extraction.llm.schema import extractable_types, parse, schema_of
from vicw_runtime.model_servers.openai_language import OpenAILanguageModel
from vicw_shared.errors import InvalidInputError, OverloadedError, SettingsError, TooSlowError
from vicw_shared.model import EdgeRegistry
from vicw_shared.ports.language import Finish, Prompt, Role
from vicw_shared.settings import LlmSettings

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "kind": {"enum": ["CAUSED", "INITIATED"]},
        "names": {"type": "array", "items": {"type": "string", "maxLength": 5}, "maxItems": 3},
        "sure": {"anyOf": [{"type": "number"}, {"type": "null"}]},
    },
    "required": ["kind", "names", "sure"],
    "additionalProperties": False,
}


@pytest.fixture
async def engine(tiny_decoder: ModelFile) -> AsyncIterator[ChatEngine]:
    opened = ChatEngine(tiny_decoder.path, threads=1, context_tokens=4096)
    yield opened
    await asyncio.to_thread(opened.close)


def choice(answer: Answer) -> tuple[str, str]:
    """Return an answer's text, and why it ended."""
    (only,) = answer["choices"]
    return only["message"]["content"], only["finish_reason"]


def prompt_turns(text: str) -> list[dict[str, str]]:
    return [{"role": "system", "content": "Read."}, {"role": "user", "content": text}]


async def test_every_chat_answer_is_json_of_its_schema(engine: ChatEngine) -> None:
    for number in range(6):
        answered = await engine.answer(prompt_turns(f"river {number} stone"), SCHEMA, 400)
        text, finish = choice(answered)
        assert finish == "stop", answered
        value = json.loads(text, strict=False)
        assert list(value) == ["kind", "names", "sure"]
        assert value["kind"] in {"CAUSED", "INITIATED"}
        assert len(value["names"]) <= 3
        assert all(len(name) <= 5 for name in value["names"])
        assert answered["usage"]["prompt_tokens"] > 0
        assert answered["usage"]["completion_tokens"] > 0


def shortened_schema(part: Any) -> Any:
    """Return a schema whose lists and strings are as short as a model's of no sense had better be."""
    if isinstance(part, list):
        return [shortened_schema(one) for one in part]
    if not isinstance(part, dict):
        return part
    held = {key: shortened_schema(value) for key, value in part.items()}
    if held.get("type") == "array":
        held |= {"minItems": 1, "maxItems": 1}
    return held | {"maxLength": 4} if held.get("type") == "string" and "enum" not in held else held


async def test_the_extraction_schema_constrains_a_chat_answer(engine: ChatEngine) -> None:
    types = extractable_types(EdgeRegistry.with_core_types())
    answered = await engine.answer(prompt_turns("memory"), shortened_schema(schema_of(types, 1)), 3000)
    text, finish = choice(answered)
    assert finish == "stop", answered
    value = json.loads(text, strict=False)
    assert list(value) == ["entities", "concepts", "events", "relations", "claims"]
    (relation,) = value["relations"]
    assert list(relation) == ["source", "type", "target", "certainty", "desc"]
    assert relation["type"] in {kind.name for kind in types}
    answer = parse(text)
    assert bool(answer.problems) or answer.relations[0].type == relation["type"]


async def test_a_chat_answer_cut_at_max_tokens_finishes_with_length(engine: ChatEngine) -> None:
    assert choice(await engine.answer(prompt_turns("river"), SCHEMA, 3))[1] == "length"


async def test_an_overlong_prompt_or_invalid_schema_is_refused(engine: ChatEngine) -> None:
    with pytest.raises(InvalidInputError, match="VICW_LLM_CONTEXT_TOKENS"):
        await engine.answer(prompt_turns("river " * 5000), SCHEMA, 10)
    with pytest.raises(InvalidInputError, match="response_format"):
        await engine.answer(prompt_turns("river"), {"type": "no such type"}, 10)
    assert choice(await engine.answer(prompt_turns("river"), SCHEMA, 400))[1] == "stop"


@pytest.mark.parametrize("refusing", ["raise_exception('System role not supported')", "message.no.such"])
async def test_the_system_turn_is_merged_for_templates_that_refuse_it(tmp_path: Path, refusing: str) -> None:
    template = (
        "{% for message in messages %}{% if message.role == 'system' %}{{ " + refusing + " }}{% endif %}"
        "{{ message.role }} {{ message.content }}{% endfor %}"
    )
    opened = ChatEngine(decoder(tmp_path / "gem.gguf", template).path, threads=1, context_tokens=4096)
    try:
        merged = await opened.answer(prompt_turns("river"), SCHEMA, 400)
        asked = await opened.answer([{"role": "user", "content": "Read.\n\nriver"}], SCHEMA, 400)
    finally:
        await asyncio.to_thread(opened.close)
    assert choice(merged) == choice(asked)
    assert merged["usage"] == asked["usage"]


async def test_chat_requests_are_queued_and_a_cancelled_one_ends(engine: ChatEngine) -> None:
    endless = {"type": "array", "items": {"type": "string", "maxLength": 200}, "minItems": 90}
    long = asyncio.create_task(engine.answer(prompt_turns("river"), endless, 3500))
    await asyncio.sleep(0.2)
    others = [asyncio.create_task(engine.answer(prompt_turns("stone"), SCHEMA, 400)) for _ in range(15)]
    await asyncio.sleep(0)
    with pytest.raises(OverloadedError):
        await engine.answer(prompt_turns("stone"), SCHEMA, 400)
    long.cancel()
    async with asyncio.timeout(60):
        assert {choice(answer)[1] for answer in await asyncio.gather(*others)} == {"stop"}


def test_strings_in_a_schema_get_a_maximum_length() -> None:
    held = bounded(
        {"a": {"type": "string"}, "b": [{"type": "string", "maxLength": 7}, {"type": "string", "enum": ["x"]}]}
    )
    assert held["a"]["maxLength"] == 300
    assert held["b"] == [{"type": "string", "maxLength": 7}, {"type": "string", "enum": ["x"]}]


def test_a_missing_or_broken_model_file_is_a_settings_error(tiny_decoder: ModelFile) -> None:
    nothing = tiny_decoder.path.with_name("nothing.gguf")
    with pytest.raises(SettingsError, match="no such file"):
        ChatEngine(nothing, threads=1, context_tokens=512)
    broken = tiny_decoder.path.with_name("broken.gguf")
    broken.write_bytes(b"GGUF, or not")
    with pytest.raises(SettingsError, match="cannot run"):
        ChatEngine(broken, threads=1, context_tokens=512)


async def test_the_chat_process_answers_after_a_client_timed_out(tiny_decoder: ModelFile) -> None:
    process = ChatProcess(LlmSettings(model=str(tiny_decoder.path), threads=1, context_tokens=4096))
    await process.start()
    model, hasty = (OpenAILanguageModel(uds=process.uds, timeout_seconds=seconds) for seconds in (60, 0.5))
    endless = {"type": "array", "items": {"type": "string", "maxLength": 200}, "minItems": 90}
    try:
        with pytest.raises(TooSlowError):
            await hasty.complete([Prompt(Role.USER, "river")], endless, max_tokens=3500)
        answered = await model.complete([Prompt(Role.USER, "river")], SCHEMA, max_tokens=400)
        assert (answered.model, answered.finish) == ("tiny-decoder", Finish.STOP)
        assert json.loads(answered.text, strict=False)["kind"] in {"CAUSED", "INITIATED"}
        cut = await model.complete([Prompt(Role.USER, "river")], SCHEMA, max_tokens=3)
        assert (cut.finish, cut.tokens_out) == (Finish.LENGTH, 3)
    finally:
        await model.close()
        await hasty.close()
        await process.close()
    assert process.pid is None
