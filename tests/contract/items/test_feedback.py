"""What people say of results: stored, bounded, shown, exported and erased, on both stores."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from contract.sleep.test_consolidation import consolidate, draft, tell, thread, turn
from support.stores.exports import exported, imported
from support.stores.pairs import Side, asked_for, embedded
from vicw_core.feedback import record_id
from vicw_ingest.erasure.eraser import Eraser
from vicw_ingest.erasure.selection import choose_items, choose_user
from vicw_retrieval.feedback.service import list_feedback
from vicw_retrieval.ports import RetrievalPorts
from vicw_retrieval.request.engines import CircuitBreaker
from vicw_shared.errors import InvalidInputError, MissingRecordError
from vicw_shared.model import EdgeRegistry
from vicw_shared.ports import Steps
from vicw_shared.settings import LimitSettings, RetrievalSettings
from vicw_shared.wire.feedback import FeedbackPage, FeedbackQuery, ResultFeedback

ITEMS: list[dict[str, Any]] = [
    {"id": "pot", "text": "The spare key is under the flower pot.", "user": "ana", "speaker": "Ana"},
    {"id": "hook", "text": "The spare key is on the hook.", "user": "ben", "speaker": "Ben"},
    {"id": "door", "text": "The door is green.", "user": "ana", "speaker": "Ana"},
    {"id": "safe", "text": "The key of the safe is with Ana.", "sensitivity": "personal", "about": ["Ana"]},
]
QUESTION = "Where is the spare key?"


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def side(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    async with asked_for(request, store) as opened:
        yield opened


@pytest.fixture
async def uids(side: Side) -> dict[str, str]:
    answer = await side.ingest({"context": "home", "items": ITEMS}, "t", None)
    await side.indexer.drain()
    return {str(item.id): item.uid for item in answer.items}


def said(item: str, verdict: str = "useful", query: str = QUESTION, user: str | None = None) -> dict[str, Any]:
    viewer = {"user": user} if user is not None else None
    return {"context": "home", "item": item, "verdict": verdict, "query": query, "viewer": viewer}


def ports_of(side: Side) -> RetrievalPorts:
    limits, settings, log = LimitSettings(), RetrievalSettings(), side.graph.log
    return RetrievalPorts(side.graph, side.vectors, side.embedder, "", limits, settings, CircuitBreaker(), log=log)


async def shown(side: Side, **fields: Any) -> dict[str, ResultFeedback]:
    answer = await side.retrieve({"query": QUESTION, "limit": 20, "explain": True, **fields}, "t")
    assert answer.explain is not None
    ids = {result.uid: str(result.id) for result in answer.results}
    return {ids[uid]: feedback for uid, feedback in answer.explain.feedback.items()}


async def erase(side: Side, selection: Any) -> None:
    eraser = Eraser(side.graph, side.indexer.indexes, EdgeRegistry.with_core_types())
    await eraser.run(await eraser.begin(selection, key=None))


async def test_verdicts_are_counted_once_and_shown_where_they_are_explained(side: Side, uids: dict[str, str]) -> None:
    assert await shown(side) == {}
    first = await side.feedback(said("pot", "useful", user="ana"), "t")
    assert (first.uid, first.context, first.useful, first.wrong) == (uids["pot"], "home", 1, 0)
    again = await side.feedback({**said(uids["pot"], "useful", user="ana"), "context": None}, "t")
    assert (again.useful, again.wrong) == (1, 0), "sent twice"
    await side.feedback(said("pot", "useful", user="ben"), "t")
    changed = await side.feedback(said("pot", "wrong", user="ana"), "t")
    assert (changed.useful, changed.wrong) == (1, 1), "Ana has changed her mind"
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    await side.feedback(said("pot", "wrong", f"What is {secret[:40]} for?"), "t")
    pot = (await shown(side))["pot"]
    assert (pot.useful, pot.wrong) == (1, 2)
    assert [(one.verdict, one.query) for one in pot.latest] == [
        ("wrong", "What is [secret: github-token] for?"),
        ("wrong", QUESTION),
        ("useful", QUESTION),
    ]
    to_ben = (await shown(side, viewer={"user": "ben"}))["pot"]
    assert (to_ben.useful, to_ben.wrong, to_ben.latest) == (1, 2, ()), "a viewer sees no question of others"
    plain = await side.retrieve({"query": QUESTION}, "t")
    assert plain.explain is None
    assert await side.graph.scan(Steps(tenant="t"), limit=9) == [], "it is no maintenance"
    assert (await side.check()).violations == []


async def test_what_was_said_is_listed_by_the_page(side: Side, uids: dict[str, str]) -> None:
    for item, verdict in (("pot", "useful"), ("hook", "wrong"), ("safe", "wrong"), ("pot", "wrong")):
        await side.feedback(said(item, verdict, f"{verdict} {item}?"), "t")

    async def listed(tenant: str = "t", **query: Any) -> FeedbackPage:
        return await list_feedback(FeedbackQuery(**query), tenant, ports_of(side))

    first = await listed(limit=2)
    assert [(one.uid, one.useful, one.wrong) for one in first.items] == [(uids["pot"], 1, 1), (uids["safe"], 0, 1)]
    assert [(one.verdict, one.query) for one in first.items[0].latest] == [
        ("wrong", "wrong pot?"),
        ("useful", "useful pot?"),
    ]
    rest = await listed(limit=2, after=first.next)
    assert ([one.uid for one in rest.items], rest.next) == ([uids["hook"]], None)
    assert [one.uid for one in (await listed(verdict="useful")).items] == [uids["pot"]]
    assert (await listed(context="work")).items == () == (await listed("other")).items
    for tenant, query in (("other", {}), ("t", {"verdict": "wrong"})):
        with pytest.raises(InvalidInputError, match="after"):
            await listed(tenant, after=first.next, **query)


async def test_nobody_judges_what_it_may_not_see(side: Side, uids: dict[str, str]) -> None:
    assert (await side.feedback(said("safe", user="ana"), "t")).useful == 1
    for body, tenant in (
        (said("safe", user="ben"), "t"),
        ({**said(uids["safe"], user="ben"), "context": None}, "t"),
        (said("pot"), "other"),
        ({**said(uids["pot"]), "context": None}, "other"),
        ({**said(uids["pot"]), "context": "work"}, "t"),
        (said("nobody"), "t"),
    ):
        with pytest.raises(MissingRecordError, match="There is no item"):
            await side.feedback(body, tenant)
    with pytest.raises(InvalidInputError, match="query"):
        await side.feedback(said("pot", query="x" * 2001), "t")
    assert set(await shown(side, viewer={"user": "ben"})) == set(), "not even the number of what is hidden"
    assert set(await shown(side)) == {"safe"}


async def test_the_oldest_verdicts_go_and_stay_counted(side: Side, uids: dict[str, str]) -> None:
    for number in range(5):
        given = await side.feedback(said("hook", query=f"Question {number}?"), "t", feedback=3)
    assert given.useful == 5
    hook = (await shown(side))["hook"]
    assert [one.query for one in hook.latest] == ["Question 4?", "Question 3?", "Question 2?"]


async def test_an_export_takes_it_along(side: Side, uids: dict[str, str], store: Path, tmp_path: Path) -> None:
    await side.feedback(said("pot", "wrong"), "t")
    await side.indexer.drain()
    await exported(side, tmp_path / "export")
    async with embedded(store) as other:
        await imported(tmp_path / "export", other)
        assert await shown(other) == await shown(side) != {}
        assert (await other.feedback(said("pot", "wrong"), "t")).wrong == 1


async def test_it_is_of_one_version_and_of_a_consolidated_item_too(side: Side, uids: dict[str, str]) -> None:
    await side.feedback(said("pot", "wrong"), "t")
    await side.patch("pot", {"text": "The spare key is gone."}, "t", "home")
    assert (await side.feedback(said("pot"), "t")).wrong == 0, "the new version is judged anew"
    await tell(side, [turn(number, f"Reef survey {number}: the coral is pale.") for number in range(1, 6)])
    items = await thread(side)
    body = {"item": items[1].uid, "verdict": "useful", "query": "Which coral is pale?"}
    assert (await side.feedback(body, "t")).useful == 1
    await consolidate(side, await draft(side, items))
    await side.indexer.drain()
    assert (await side.feedback(body | {"query": "Is it pale?"}, "t")).useful == 2
    assert (await shown(side, query="pale coral reef survey"))[str(items[1].source_id)].useful == 2


async def test_it_goes_with_the_item_and_with_who_said_it(side: Side, uids: dict[str, str]) -> None:
    await side.feedback(said("pot"), "t")
    await side.feedback(said("hook", user="ana"), "t")
    await side.feedback(said("hook", "wrong", user="ben"), "t")
    await side.feedback(said("hook", "wrong", "The spare key is under the flower pot. Is it?"), "t")
    await erase(side, await choose_items(side.graph, "t", ["pot"], "home"))
    assert await side.graph.log.step(record_id(uids["pot"])) is None
    hook = (await shown(side))["hook"]
    assert (hook.useful, hook.wrong) == (1, 1), "the question that repeats what is erased has gone"
    await erase(side, await choose_user(side.graph, "t", "ana", None))
    hook = (await shown(side))["hook"]
    assert (hook.useful, hook.wrong) == (0, 1), "Ana's verdict has gone, Ben's has not"


async def test_an_item_that_nobody_judges_any_more_is_not_listed(side: Side, uids: dict[str, str]) -> None:
    await side.feedback(said("door", "wrong", "Is the door red?", user="ben"), "t")
    assert [one.uid for one in (await list_feedback(FeedbackQuery(), "t", ports_of(side))).items] == [uids["door"]]
    await erase(side, await choose_user(side.graph, "t", "ben", None))
    assert (await list_feedback(FeedbackQuery(), "t", ports_of(side))).items == ()
