"""A language model in a GGUF file: random weights, so that whatever is right about an answer is the grammar's doing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from vicw_embedding.chat.engine import ChatEngine, bounded
from vicw_embedding.library import ModelFile
from vicw_ingest.extraction.llm.schema import offered, parse, schema_of
from vicw_shared.errors import InvalidInputError, OverloadedError, SettingsError
from vicw_shared.model import EdgeRegistry

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


def said(text: str) -> list[dict[str, str]]:
    return [{"role": "system", "content": "Read."}, {"role": "user", "content": text}]


async def test_an_answer_is_json_of_its_schema_every_time(engine: ChatEngine) -> None:
    for number in range(6):
        answered = await engine.answer(said(f"river {number} stone"), SCHEMA, 400)
        assert answered.finish == "stop", answered
        value = json.loads(answered.text, strict=False)
        assert list(value) == ["kind", "names", "sure"]
        assert value["kind"] in {"CAUSED", "INITIATED"}
        assert len(value["names"]) <= 3
        assert all(len(name) <= 5 for name in value["names"])
        assert answered.tokens_in > 0
        assert answered.tokens_out > 0


def short(part: Any) -> Any:
    """Return a schema whose lists and strings are as short as a model's of no sense had better be."""
    if isinstance(part, list):
        return [short(one) for one in part]
    if not isinstance(part, dict):
        return part
    held = {key: short(value) for key, value in part.items()}
    if held.get("type") == "array":
        held |= {"minItems": 1, "maxItems": 1}
    return held | {"maxLength": 4} if held.get("type") == "string" and "enum" not in held else held


async def test_the_schema_of_an_extraction_is_one_that_an_answer_can_be_held_to(engine: ChatEngine) -> None:
    types = offered(EdgeRegistry.with_core_types())
    answered = await engine.answer(said("memory"), short(schema_of(types, 1)), 3000)
    assert answered.finish == "stop", answered
    value = json.loads(answered.text, strict=False)
    assert list(value) == ["entities", "concepts", "events", "relations", "claims"]
    (relation,) = value["relations"]
    assert list(relation) == ["source", "type", "target", "certainty", "desc"]
    assert relation["type"] in {kind.name for kind in types}
    answer = parse(answered.text)
    assert bool(answer.problems) or answer.relations[0].type == relation["type"]


async def test_an_answer_that_is_cut_off_says_so(engine: ChatEngine) -> None:
    assert (await engine.answer(said("river"), SCHEMA, 3)).finish == "length"


async def test_what_has_no_room_or_is_no_schema_is_refused_and_the_model_goes_on(engine: ChatEngine) -> None:
    with pytest.raises(InvalidInputError, match="VICW_LLM_CONTEXT_TOKENS"):
        await engine.answer(said("river " * 5000), SCHEMA, 10)
    with pytest.raises(InvalidInputError, match="response_format"):
        await engine.answer(said("river"), {"type": "no such type"}, 10)
    assert (await engine.answer(said("river"), SCHEMA, 400)).finish == "stop"


async def test_requests_take_turns_and_one_that_is_given_up_ends(engine: ChatEngine) -> None:
    endless = {"type": "array", "items": {"type": "string", "maxLength": 200}, "minItems": 90}
    long = asyncio.create_task(engine.answer(said("river"), endless, 3500))
    await asyncio.sleep(0.2)
    others = [asyncio.create_task(engine.answer(said("stone"), SCHEMA, 400)) for _ in range(15)]
    await asyncio.sleep(0)
    with pytest.raises(OverloadedError):
        await engine.answer(said("stone"), SCHEMA, 400)
    long.cancel()
    async with asyncio.timeout(60):
        assert {answer.finish for answer in await asyncio.gather(*others)} == {"stop"}


def test_every_string_has_an_end() -> None:
    held = bounded(
        {"a": {"type": "string"}, "b": [{"type": "string", "maxLength": 7}, {"type": "string", "enum": ["x"]}]}
    )
    assert held["a"]["maxLength"] == 300
    assert held["b"] == [{"type": "string", "maxLength": 7}, {"type": "string", "enum": ["x"]}]


def test_a_file_that_is_no_model_is_a_wrong_setting(tiny_decoder: ModelFile) -> None:
    nothing = tiny_decoder.path.with_name("nothing.gguf")
    with pytest.raises(SettingsError, match="no such file"):
        ChatEngine(nothing, threads=1, context_tokens=512)
    broken = tiny_decoder.path.with_name("broken.gguf")
    broken.write_bytes(b"GGUF, or not")
    with pytest.raises(SettingsError, match="no model that"):
        ChatEngine(broken, threads=1, context_tokens=512)
