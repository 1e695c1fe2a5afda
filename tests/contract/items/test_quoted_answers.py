"""Parts of an answer, quoted or cut, do not come into memory again, on both pairs of stores."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contract.items.test_deduplication import (
    CACHE,
    QUESTION,
    REPAIR,
    duplicate_edges,
    ingest_text,
    ingest_two_turns,
    ranking,
    tell,
)
from support.stores.pairs import Side, asked_for
from vicw_shared.model import Label
from vicw_shared.wire.ingest import IngestedItem

TEMPLATES = [
    {"whole": "{results}"},
    {"whole": "<memory>\n{results}\n</memory>"},
    {"result": "[{date} · {speaker}] {text}"},
    {"whole": "<recalled-memories>\n{results}\n</recalled-memories>", "result": "[{date} · {speaker}] {text}"},
]
"""Our own forms: an answer's, and that of the Python client's window."""
LONG = (
    "The deployment failed because the certificate of the gateway had expired, which nobody had noticed in spite of "
    "the reminders. Ana renewed it by hand at night, and Ben wrote a job that renews it every month from now on."
)


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def side(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    async with asked_for(request, store) as opened:
        yield opened


async def count_caused_edges(side: Side) -> int:
    return len([edge for edge in (await side.edges()).values() if edge.type == "CAUSED"])


async def passage_text(side: Side, item: IngestedItem) -> str:
    nodes = await side.nodes()
    return "".join(nodes[node.uid].text or "" for node in item.nodes if node.label is Label.CHUNK)


def status_and_sources(item: IngestedItem) -> tuple[str, list[tuple[str | None, str]]]:
    return item.status.value, [(source.id, source.how.value) for source in item.sources]


def quoted(text: str) -> str:
    return "".join(f"> {line}" for line in text.splitlines(keepends=True))


@pytest.mark.parametrize("write", [str, quoted], ids=["as it is", "quoted"])
@pytest.mark.parametrize("speaker", ["assistant", "user", None])
@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: "|".join(template.values()))
async def test_a_quoted_answer_is_linked_and_not_stored_again(
    side: Side, template: dict[str, str], speaker: str | None, write: Any
) -> None:
    uids = await ingest_two_turns(side)
    before, nodes, edges = await side.retrieve(QUESTION, "t"), await side.nodes(), await count_caused_edges(side)
    assert edges == 1
    for _ in range(3):
        answer = await side.retrieve({**QUESTION, "template": template}, "t")
        assert answer.results[0].uid == uids["a"]
        echo = await ingest_text(side, write(answer.text), speaker)
        assert (echo.status, echo.uid) == ("linked", uids["a"])
        assert {source.id for source in echo.sources} == {"a", "b"}
    after = await side.retrieve(QUESTION, "t")
    assert (ranking(after), await side.nodes(), await count_caused_edges(side)) == (ranking(before), nodes, edges)


async def test_quoted_results_of_several_lines_are_linked(side: Side) -> None:
    recipe = "Boil two litres of water with much salt.\n\n- Add the pasta.\n- Stir once a minute.\nServe it at once."
    await tell(side, {"id": "r", "text": recipe}, {"id": "c", "text": CACHE})
    text = f"[1] ops · document · id r\n{recipe}\n[2] ops · document · id c\n{CACHE}"
    for one in (text, quoted(text)):
        assert status_and_sources(await ingest_text(side, one)) == ("linked", [("r", "answer"), ("c", "answer")])


@pytest.mark.parametrize("write", [str, quoted], ids=["as it is", "quoted"])
async def test_a_truncated_result_is_recognised_by_its_beginning(side: Side, write: Any) -> None:
    await tell(side, {"id": "l", "speaker": "Ana", "text": LONG}, {"text": CACHE})
    before = await count_caused_edges(side)
    for _ in range(3):
        answer = await side.retrieve({"query": "certificate", "budget": {"chars": 150}}, "t")
        assert answer.text.rstrip().endswith("…")
        assert status_and_sources(await ingest_text(side, write(answer.text))) == ("linked", [("l", "answer")])
    assert await count_caused_edges(side) == before
    for other in ("The deployment failed…", f"The deployment worked because{LONG[29:90]}…", f"{LONG[:90]} of it all…"):
        assert status_and_sources(await ingest_text(side, f"[1] ops · message · Ana\n{other}")) == ("created", [])


@pytest.mark.parametrize("write", [str, quoted], ids=["as it is", "quoted"])
async def test_a_prompt_is_stored_without_the_quoted_results(side: Side, write: Any) -> None:
    await ingest_two_turns(side)
    before = await count_caused_edges(side)
    answer = (await side.retrieve({**QUESTION, "limit": 2}, "t")).text
    turn = await ingest_text(side, f"Context:\n{write(answer)}\n\nQuestion: did Ben find out why?", "user")
    assert (turn.status, {source.how for source in turn.sources}) == ("created", {"answer"})
    assert (await passage_text(side, turn)).endswith("Question: did Ben find out why?")
    assert CACHE not in await passage_text(side, turn)
    assert {edge.weight for edge in (await duplicate_edges(side, turn.uid)).values()} == {0.0}
    assert await count_caused_edges(side) == before


OWN = st.lists(st.sampled_from("maybe Cleo doubts this since Monday rain never helped gulls".split()), min_size=2)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    own=OWN.map(" ".join),
    result=st.sampled_from(["[1] ops · message · Ana\n{}", "> [1] ops · message\n> {}", "[2026-01-01 10:00 · Ana] {}"]),
    data=st.data(),
)
async def test_new_text_around_quoted_results_is_never_lost(side: Side, own: str, result: str, data: Any) -> None:
    if not (await side.nodes()):
        await ingest_two_turns(side)
    block = result.format(CACHE)
    text = data.draw(st.sampled_from([f"{block}\n{own}", f"{own}\n{block}", f"{block} {own}", f"<{own}>\n{block}"]))
    turn = await ingest_text(side, text, "Cleo")
    if turn.status == "linked":  # an earlier example has stored these very words
        assert any(own in (node.text or "") for node in (await side.nodes()).values())
    else:
        assert own in await passage_text(side, turn)


async def test_a_quoted_answer_is_not_linked_to_sources_of_a_wider_audience(side: Side) -> None:
    private = {"sensitivity": "personal", "about": ["Ana"]}
    await tell(side, {"id": "s", "text": CACHE, **private}, {"id": "r", "text": REPAIR, **private})
    for text in (f"[1] ops · document\n{CACHE}", f"[1] ops · document\n{CACHE[:45]}…"):
        assert (await ingest_text(side, text, None, **private)).status == "linked"
        for fields in ({**private, "about": ["Ben"]}, {}):
            assert status_and_sources(await ingest_text(side, text, None, **fields)) == ("created", [])
        (elsewhere,) = (await tell(side, {"text": text, "speaker": "assistant"}, tenant="u")).items
        assert status_and_sources(elsewhere) == ("created", [])


@pytest.mark.parametrize("write", [str, quoted], ids=["as it is", "quoted"])
@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: "|".join(template.values()))
async def test_the_note_of_an_answer_that_is_unsure_is_no_new_text(
    side: Side, template: dict[str, str], write: Any
) -> None:
    await ingest_two_turns(side)
    question = {"query": "Is there a zeppelin in the attic?", "template": template}
    answer = await side.retrieve(question, "t")
    assert answer.results
    assert "Unsure: perhaps nothing here answers the question." in answer.text
    item = await ingest_text(side, write(answer.text), "assistant")
    assert status_and_sources(item)[0] == "linked"
