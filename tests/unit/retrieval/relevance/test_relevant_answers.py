"""Relevance in answers of the whole read path."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from support.stores.memory import Memory
from vicw_retrieval.relevance.calibration import ANSWER_SIGNALS
from vicw_shared.wire.retrieve import Answered, RetrieveRequest

ITEMS = [{"id": str(number), "text": f"The ferry of pier {number} was late again."} for number in range(6)]
FOREIGN = "Who tuned the harpsichord?"


async def test_every_result_says_how_likely_it_is_evidence(memory: Memory) -> None:
    await memory.ingest(*ITEMS)
    answer = await memory.retrieve("Was the ferry of pier 3 late?")
    assert answer.answered is Answered.LIKELY
    assert 0.5 <= answer.relevance <= 1
    figures = [result.relevance for result in answer.results]
    assert answer.results[0].id == "3"
    assert figures[0] == max(figures) <= answer.relevance
    assert min(figures) > 0
    assert "Unsure" not in answer.text


async def test_a_foreign_question_is_told_in_json_and_in_the_first_line_of_the_text(memory: Memory) -> None:
    await memory.ingest(*ITEMS)
    answer = await memory.retrieve(FOREIGN)
    assert answer.results, "nothing is left out by default"
    assert (answer.answered, answer.relevance < 0.5) == (Answered.UNSURE, True)
    assert answer.text.splitlines()[0] == "Unsure: perhaps nothing here answers the question."


async def test_a_floor_leaves_out_results_and_what_only_they_lead_to(memory: Memory) -> None:
    await memory.ingest(*ITEMS)
    whole = await memory.retrieve("Was the ferry of pier 3 late?")
    floor = whole.results[0].relevance
    answer = await memory.retrieve("Was the ferry of pier 3 late?", min_relevance=floor - 0.001)
    assert [result.id for result in answer.results] == [r.id for r in whole.results if r.relevance >= floor - 0.001]
    assert len(answer.results) < len(whole.results)
    assert (answer.relevance, answer.answered) == (whole.relevance, whole.answered)
    nothing = await memory.retrieve(FOREIGN, min_relevance=0.9)
    assert (nothing.results, nothing.graph.nodes, nothing.text) == ((), (), "")


async def test_an_empty_store_knows_nothing(memory: Memory) -> None:
    answer = await memory.retrieve(FOREIGN)
    assert (answer.answered, answer.relevance, answer.text) == (Answered.NOTHING, 0.0, "")


async def test_the_explanation_has_the_signals(memory: Memory) -> None:
    await memory.ingest(*ITEMS)
    answer = await memory.retrieve("ferry", explain=True)
    assert answer.explain is not None and answer.explain.relevance is not None
    assert set(ANSWER_SIGNALS) == answer.explain.relevance.answer.keys()
    assert answer.explain.relevance.results.keys() == {result.uid for result in answer.results}


@pytest.mark.parametrize("floor", [-0.1, 1.5, "much", True])
def test_a_floor_outside_zero_and_one_is_refused(floor: Any) -> None:
    with pytest.raises(ValidationError, match="min_relevance"):
        RetrieveRequest.model_validate({"query": "q", "min_relevance": floor})
