"""The filter of a question: by metadata, time, speaker, user and source, beside all else that chooses results."""

from __future__ import annotations

from typing import Any, NoReturn

import pytest

from support.stores.memory import Memory
from vicw_shared.errors import InvalidInputError, UnavailableError

_NOTES: tuple[dict[str, Any], ...] = (
    {"id": "n1", "text": "A note on the roof", "metadata": {"house": 3}, "speaker": "Ana", "source": "mail/1"},
    {"id": "n2", "text": "A note on the cellar", "metadata": {"house": 4}, "timestamp": "2026-01-05T00:00:00Z"},
    {"id": "n3", "text": "A note on the garden", "metadata": {"house": 3}, "timestamp": "2026-01-20T00:00:00Z"},
    {"id": "n4", "text": "A note on the stairs", "metadata": {"house": "3"}, "tags": ["Wood"]},
    {"id": "n5", "text": "A note on the window", "speaker": "Ben", "user": "u7"},
)


@pytest.mark.parametrize(
    ("sent", "passing"),
    [
        ({"metadata.house": 3}, ["n1", "n3"]),
        ({"metadata.house": "3"}, ["n4"]),
        ({"metadata.house": {"gt": 3}}, ["n2"]),
        ({"happened": {"gte": "2026-01-10T00:00:00Z"}}, ["n3"]),
        ({"happened": {"lt": "2026-01-10T00:00:00Z"}}, ["n2"]),
        ({"speaker": "Ana"}, ["n1"]),
        ({"source": {"prefix": "mail/"}}, ["n1"]),
        ({"user": "u7"}, ["n5"]),
        ({"tags": {"none": ["wood"]}, "not": {"metadata.house": 3}}, ["n2", "n5"]),
        ({"any": [{"tags": "WOOD"}, {"id": "n2"}]}, ["n2", "n4"]),
    ],
    ids=str,
)
async def test_only_what_passes_is_a_result(memory: Memory, sent: dict[str, Any], passing: list[str]) -> None:
    await memory.ingest(*_NOTES, context="API")
    await memory.ingest({**_NOTES[0], "id": "elsewhere"}, context="other")
    assert set(await memory.found("note", context="API", filter=sent)) == {*passing}


async def test_trigger_phrases_tags_and_named_times_bring_nothing_else(memory: Memory) -> None:
    same = {"tags": ["Harbour"], "timestamp": "2026-03-05T10:00:00Z", "trigger_phrases": ["crane failed"]}
    await memory.ingest(
        {"id": "in", "text": "The crane failed at the quay.", "metadata": {"k": 1}, **same},
        {"id": "triggered", "text": "Call Mara first.", **same},
        {"id": "tagged", "text": "Something else altogether.", "tags": ["Harbour"]},
        {"id": "then", "text": "It rained.", "timestamp": "2026-03-05T11:00:00Z"},
        flow_id="f",
    )
    question = "The crane failed: what happened on 2026-03-05?"
    assert set(await memory.found(question)) == {"in", "triggered", "tagged", "then"}
    answer = await memory.retrieve(question, filter={"metadata.k": 1})
    assert [result.id for result in answer.results] == ["in"]
    assert "Call Mara first." in answer.text, "what stands around a result need not pass"


async def test_what_an_event_of_the_question_means_need_not_pass(memory: Memory) -> None:
    await memory.ingest(
        {"id": "storm", "text": "The storm broke the crane.", "timestamp": "2026-03-05T10:00:00Z"},
        {"id": "after", "text": "Ben ordered a part.", "timestamp": "2026-03-06T10:00:00Z", "metadata": {"k": 1}},
        {"id": "before", "text": "Ben had lunch.", "timestamp": "2026-03-01T10:00:00Z", "metadata": {"k": 1}},
        flow_id="f",
    )
    found = await memory.found("What happened after the storm broke the crane?", filter={"metadata.k": 1})
    assert found[0] == "after"
    assert set(found) <= {"after", "before"}


async def test_a_wrong_filter_is_refused_by_the_name_of_its_place(memory: Memory) -> None:
    deep: dict[str, Any] = {"speaker": "Ana"}
    for _ in range(6):
        deep = {"not": deep}
    for sent, place in ((deep, "filter"), ({"all": [{"label": "Thing"}]}, "filter.all[0].label")):
        with pytest.raises(InvalidInputError) as refused:
            await memory.retrieve("note", filter=sent)
        assert [problem.field for problem in refused.value.problems] == [place]


async def test_without_the_graph_nobody_knows_what_passes(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    async def slow(*_: Any, **__: Any) -> NoReturn:
        raise UnavailableError("graph", "does not answer: passing_items is over its time")

    await memory.ingest(*_NOTES, wait=True)
    with monkeypatch.context() as patched:
        patched.setattr(memory.standalone.graph, "passing_items", slow)
        for _ in range(3):
            with pytest.raises(UnavailableError, match="over its time"):
                await memory.retrieve("note", filter={"metadata.house": 3})
    other = await memory.retrieve("note")
    assert (len(other.results), other.degraded) == (len(_NOTES), ()), "other questions still ask the graph"
    outage = memory.standalone.retrieval_ports().outage
    outage.record_failure()
    outage.record_failure()
    with pytest.raises(UnavailableError, match="only it knows which items pass a filter"):
        await memory.retrieve("note", filter={"metadata.house": 3})
