"""What an application writes of results in its own way does not come into memory again, on both pairs of stores."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contract.sides import Side, asked_for
from contract.test_echoes import CACHE, QUESTION, REPAIR, links, ranking, remember, say, tell
from vicw_shared.model import Label
from vicw_shared.wire.ingest import IngestedItem

TEMPLATES = [
    {"result": "- {text}"},
    {"result": "{text}"},
    {"result": "{rank}. {text}"},
    {"result": "[{id}] {text}"},
    {"result": "({date}) {speaker}: {text}"},
    {"result": "**{speaker}** ({date}):\n{text}\n"},
    {"result": '<memory id="{id}" speaker="{speaker}">{text}</memory>', "whole": "<memories>\n{results}\n</memories>"},
    {"result": "{text} — {speaker}, {date}"},
    {"result": "### {head}\n{text}\n---"},
    {"whole": "{results}", "result": "{speaker}: {text}"},
    {"whole": "Context:\n{results}\n", "result": "{text}"},
    {"whole": "Context:\n\n{results}", "result": "{text}\n"},
]
LONG = (
    "The deployment failed because the certificate of the gateway had expired, which nobody had noticed in spite of "
    "the reminders. Ana renewed it by hand at night, and Ben wrote a job that renews it every month from now on."
)


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def side(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    async with asked_for(request, store) as opened:
        yield opened


async def caused(side: Side) -> int:
    return len([edge for edge in (await side.edges()).values() if edge.type == "CAUSED"])


async def passage(side: Side, item: IngestedItem) -> str:
    nodes = await side.nodes()
    return "".join(nodes[node.uid].text or "" for node in item.nodes if node.label is Label.CHUNK)


def told(item: IngestedItem) -> tuple[str, list[tuple[str | None, str]]]:
    return item.status.value, [(source.id, source.how.value) for source in item.sources]


@pytest.mark.parametrize("speaker", ["assistant", "user", None])
@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: "|".join(template.values()))
async def test_an_answer_in_the_caller_s_words_is_linked_however_often_it_comes(
    side: Side, template: dict[str, str], speaker: str | None
) -> None:
    uids = await remember(side)
    before, nodes, edges = await side.retrieve(QUESTION, "t"), await side.nodes(), await caused(side)
    assert edges == 1
    for _ in range(3):
        answer = await side.retrieve({**QUESTION, "template": template}, "t")
        assert answer.results[0].uid == uids["a"]
        echo = await say(side, answer.text, speaker)
        assert (echo.status, echo.uid) == ("linked", uids["a"])
        assert {source.id for source in echo.sources} == {"a", "b"}
    after = await side.retrieve(QUESTION, "t")
    assert (ranking(after), await side.nodes(), await caused(side)) == (ranking(before), nodes, edges)


@pytest.mark.parametrize(
    "head", ["Ana: ", "Memory: ", "- Ana: ", "[a] ", "1) ", "[2026-01-01 10:00] Ana: ", "* (Ana) ", "(0.83) "]
)
async def test_one_result_behind_a_head_is_linked(side: Side, head: str) -> None:
    uids = await remember(side)
    for speaker in ("assistant", "user"):
        echo = await say(side, head + CACHE, speaker)
        assert (echo.status, echo.uid) == ("linked", uids["a"])


@pytest.mark.parametrize("between", ["\n", "\n\n", "\n---\n", "\n- "])
async def test_results_in_a_row_are_linked(side: Side, between: str) -> None:
    await remember(side)
    echo = await say(side, between.join([CACHE, REPAIR]), "user")
    assert told(echo) == ("linked", [("a", "answer"), ("b", "answer")])


async def test_results_of_several_lines_are_linked(side: Side) -> None:
    recipe = "Boil two litres of water with much salt.\n\n- Add the pasta.\n- Stir once a minute.\nServe it at once."
    await tell(side, {"id": "r", "text": recipe}, {"id": "c", "text": CACHE})
    for text in (f"{CACHE}\n{recipe}", f"- {recipe}\n- {CACHE}", f"Memory: {recipe}", f"[r]\n{recipe}\n\n[c]\n{CACHE}"):
        echo = await say(side, text)
        assert echo.status == "linked"
        assert {source.id for source in echo.sources} == {"r"} | ({"c"} if CACHE in text else set())


async def test_a_short_result_beside_another_is_one_where_its_head_says_so(side: Side) -> None:
    await remember(side)
    await say(side, "Thanks!", "Ana", id="s")
    echo = await say(side, f"Ana: {CACHE}\nAna: Thanks!")
    assert told(echo) == ("linked", [("a", "answer"), ("s", "answer")])
    for text in ("Ana: Thanks!", "Ana: Thanks!"):
        assert told(await say(side, text, "Cleo")) == ("created", [])
    reply = await say(side, f"Ana: {CACHE}\nThanks!", "Cleo")
    assert (reply.status, await passage(side, reply)) == ("created", "Thanks!")


@pytest.mark.parametrize(
    ("template", "chars"),
    [({}, 150), ({"result": "{text}"}, 80), ({"result": "- {text}"}, 80), ({"whole": "Context:\n{results}\n"}, 150)],
)
async def test_a_result_that_was_cut_is_known_by_its_beginning(
    side: Side, template: dict[str, str], chars: int
) -> None:
    await tell(side, {"id": "l", "speaker": "Ana", "text": LONG}, {"text": CACHE})
    before = await caused(side)
    for _ in range(3):
        answer = await side.retrieve({"query": "certificate", "template": template, "budget": {"chars": chars}}, "t")
        assert answer.text.rstrip().endswith("…")
        assert told(await say(side, answer.text)) == ("linked", [("l", "answer")])
    assert await caused(side) == before


async def test_what_was_cut_is_a_quotation_beside_what_is_new(side: Side) -> None:
    await tell(side, {"id": "l", "speaker": "Ana", "text": LONG})
    beginning = f"{LONG[:90]}…"
    turn = await say(side, f"{beginning}\nWho said that, and to whom?", "Cleo")
    assert told(turn) == ("created", [("l", "quote")])
    assert await passage(side, turn) == f"{beginning}\nWho said that, and to whom?"
    assert told(await say(side, "The deployment failed…", "Cleo")) == ("created", [])
    assert told(await say(side, f"The deployment worked because{LONG[29:90]}…")) == ("created", [])
    assert told(await say(side, f"{LONG[:90]} of the second one…")) == ("created", [])


async def test_a_prompt_in_the_caller_s_words_is_stored_without_the_results(side: Side) -> None:
    await remember(side)
    before = await caused(side)
    for result in ("{speaker}: {text}", "{rank}. {text}", "[{id}] {text}", "{text}"):
        template = {"whole": "Context:\n{results}\n\nQuestion: did Ben find out why?", "result": result}
        prompt = (await side.retrieve({**QUESTION, "template": template, "limit": 2}, "t")).text
        turn = await say(side, prompt, "user")
        assert (turn.status, {source.how for source in turn.sources}) == ("created", {"answer"})
        assert (await passage(side, turn)).endswith("Question: did Ben find out why?")
        assert CACHE not in await passage(side, turn)
        assert {edge.weight for edge in (await links(side, turn.uid)).values()} == {0.0}
    assert await caused(side) == before


@pytest.mark.parametrize(
    "text",
    [
        f"Wrong: {CACHE}",
        f"Ben: {CACHE}",
        f"I never said: {CACHE}",
        f"(2027-05-03) {CACHE}",
        f"{CACHE} (as always)",
        f"> {CACHE}\n\nI do not think so.",
        f"{CACHE}\nAnd it happened to us on Monday, too.",
        f'You said "{CACHE}" and I wonder.',
    ],
)
async def test_own_words_about_a_memory_are_stored_and_its_causes_are_not_told_again(side: Side, text: str) -> None:
    await remember(side)
    before = await caused(side)
    turn = await say(side, text, "Cleo")
    assert told(turn) == ("created", [("a", "quote")])
    assert await passage(side, turn) == text
    assert await caused(side) == before


async def test_what_is_new_beside_a_quotation_is_read(side: Side) -> None:
    await remember(side)
    before = await caused(side)
    await say(side, f"{CACHE}\nThe alarm rang because the disk was full.", "Cleo")
    assert await caused(side) == before + 1
    names = {node.name for node in (await side.nodes()).values()}
    assert "the disk was full" in names


async def test_a_document_with_paragraphs_of_another_is_stored_whole(side: Side) -> None:
    await tell(side, {"id": "one", "text": CACHE, "source": "a.md"}, {"id": "two", "text": REPAIR, "source": "b.md"})
    both = f"# Notes\n\n{CACHE}\n\n{REPAIR}"
    item = await say(side, both, None, source="c.md")
    assert (item.status, await passage(side, item)) == ("created", both)
    assert {source.how for source in item.sources} == {"quote"}


async def test_who_says_in_a_row_what_he_said_before_says_it_again(side: Side) -> None:
    for name, text in (("x", CACHE), ("y", REPAIR)):
        await say(side, text, "Ana", id=name, flow_id="f")
    assert (await say(side, CACHE, "Ana", flow_id="f")).status == "created"
    assert (await say(side, f"{CACHE}\n{REPAIR}", "Ana", flow_id="f")).status == "created"


OWN = st.lists(st.sampled_from("maybe Cleo doubts this since Monday rain never helped gulls".split()), min_size=2)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(own=OWN.map(" ".join), result=st.sampled_from(["{}", "- {}", "Ana: {}", "Memory: {}", "1. {}"]), data=st.data())
async def test_own_words_are_never_lost(side: Side, own: str, result: str, data: Any) -> None:
    if not (await side.nodes()):
        await remember(side)
    quoted = result.format(CACHE)
    text = data.draw(
        st.sampled_from(
            [f"{quoted}\n{own}", f"{own}\n{quoted}", f"{own}: {CACHE}", f"{quoted} {own}", f"{CACHE} ({own})"]
        )
    )
    turn = await say(side, text, "Cleo")
    if turn.status == "linked":  # an earlier example has stored these very words
        assert any(own in (node.text or "") for node in (await side.nodes()).values())
    else:
        assert own in await passage(side, turn)


@pytest.mark.parametrize("text", [f"Memory: {CACHE}", f"Context:\n{CACHE[:45]}…", f"- {CACHE}\n- {REPAIR}"])
async def test_what_others_may_not_see_is_not_linked_in_any_form(side: Side, text: str) -> None:
    private = {"sensitivity": "personal", "about": ["Ana"]}
    await tell(side, {"id": "s", "text": CACHE, **private}, {"id": "r", "text": REPAIR, **private})
    assert (await say(side, text, None, **private)).status == "linked"
    for fields in ({**private, "about": ["Ben"]}, {}):
        assert told(await say(side, text, None, **fields)) == ("created", [])
    (elsewhere,) = (await tell(side, {"text": text, "speaker": "assistant"}, tenant="u")).items
    assert told(elsewhere) == ("created", [])


async def test_a_result_behind_a_head_may_be_of_another_context(side: Side) -> None:
    uids = await remember(side)
    (echo,) = (await tell(side, {"text": f"Ana: {CACHE}\nBen: {REPAIR}"}, context="diary")).items
    assert [(source.uid, source.context) for source in echo.sources] == [(uid, "ops") for uid in uids.values()]
    assert echo.status == "linked"
    (item,) = (await tell(side, {"text": f"{CACHE}\n{REPAIR}"}, context="diary")).items
    assert told(item) == ("created", [])
