"""What people said comes before what instructs a program, unless the question asks for that."""

from __future__ import annotations

from typing import Any

import pytest

from support.stores.memory import Memory
from vicw_retrieval.refine.system_texts import asks_for_system_texts, is_named, is_system_text

SCHEMA = (
    '{"name": "order_groceries", "description": "Orders groceries that fit the diet: vegan, no nuts", '
    '"parameters": {"type": "object", "properties": {"diet": {"type": "string"}}}}'
)
SAID: dict[str, Any] = {"id": "said", "speaker": "Nils", "text": "My diet is vegan and I eat no nuts since spring."}
QUESTION = "What is the diet: vegan, no nuts?"


@pytest.mark.parametrize(
    "instruction",
    [
        {"speaker": "system", "text": "Diet: vegan, no nuts. What is the diet? Keep to it."},
        {"subtype": "system_prompt", "text": "Diet: vegan, no nuts. What is the diet? Keep to it."},
        {"speaker": "tool", "text": "diet: vegan, no nuts"},
        {"text": SCHEMA.replace("Orders groceries that fit the diet", "What is the diet")},
    ],
)
async def test_a_text_for_programs_comes_after_what_people_said_and_is_not_hidden(
    memory: Memory, instruction: dict[str, Any]
) -> None:
    await memory.ingest(SAID, {"id": "text"} | instruction)
    assert (await memory.found(QUESTION))[:2] == ["said", "text"]


async def test_a_question_that_asks_for_it_finds_it_first(memory: Memory) -> None:
    await memory.ingest(SAID, {"id": "tool", "text": SCHEMA}, {"id": "rules", "speaker": "system", "text": "Be brief."})
    assert (await memory.found("Which tool orders groceries that fit the diet?"))[0] == "tool"
    assert (await memory.found("order_groceries diet"))[0] == "tool"


async def test_where_people_said_nothing_of_it_it_is_the_answer(memory: Memory) -> None:
    await memory.ingest(
        {"id": "rules", "speaker": "system", "text": "Replies end with a haiku about herons."},
        *({"id": f"n{n}", "speaker": "Nils", "text": f"The boat left at {n}."} for n in range(12)),
    )
    assert (await memory.found("herons haiku replies"))[0] == "rules"


@pytest.mark.parametrize(
    ("speaker", "subtype", "text", "expected"),
    [
        ("System", "turn", "x", True),
        ("developer", "turn", "x", True),
        (None, "tool_schema", "x", True),
        (None, "system message", "x", True),
        (None, "note", SCHEMA, True),
        (None, "note", f"```json\n[{SCHEMA}]\n```", True),
        (None, "note", '{"type": "object", "properties": {"a": {"type": "string"}}}', True),
        (None, "note", '{"name": "Ana", "parameters": 3}', False),
        (None, "note", f"I pasted this: {SCHEMA}", False),
        ("assistant", "turn", "You prefer tea.", False),
        ("Ana", "toolbox", "The system is down.", False),
    ],
)
def test_what_is_for_programs(speaker: str | None, subtype: str, text: str, *, expected: bool) -> None:
    assert is_system_text(speaker, subtype, [text]) is expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("What does the system prompt say?", True),
        ("Welche Werkzeuge hast du?", True),
        ("Quels outils peux-tu appeler ?", True),
        ("¿Qué herramientas tienes?", True),
        ("你有哪些工具?", True),
        ("What did the carpenter say about the solar system?", False),
        ("Where is my toolbox?", False),
    ],
)
def test_questions_for_such_texts(query: str, *, expected: bool) -> None:
    assert asks_for_system_texts(query) is expected


def test_a_tool_is_named_by_its_whole_name() -> None:
    assert is_named("What does ORDER_groceries need?", [SCHEMA])
    assert not is_named("Who will order groceries?", [SCHEMA])
