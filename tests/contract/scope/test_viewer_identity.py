"""Who a viewer is, and what he sees for it and nobody else does: on both pairs of stores."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from support.stores.graph_queries import GraphClient, edges_as_text
from support.stores.pairs import Side, asked_for
from vicw_core.identity.merge import MergeDecision
from vicw_ingest.identity.changes import merge, rename, split
from vicw_ingest.identity.entities import ComparisonScope, candidates
from vicw_ingest.identity.user_persons import identify
from vicw_shared.errors import InvalidInputError
from vicw_shared.model import EdgeRegistry
from vicw_shared.ports import look_up
from vicw_shared.uids import named_uid

DECISION = MergeDecision("t", datetime(2026, 1, 1, tzinfo=UTC), EdgeRegistry.with_core_types())


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def side(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    async with asked_for(request, store) as opened:
        yield opened


def person(name: str, context: str = "chat", subtype: str = "person") -> str:
    return named_uid("t", context, subtype, name)


async def tell(side: Side, *items: dict[str, Any], context: str = "chat", **fields: Any) -> None:
    body = {"context": context, "items": items, "extract": "none", **fields}
    if any("extraction" in item for item in items):
        body["extract"] = "caller"
    await side.ingest(body, "t", None)
    await side.indexer.drain()
    assert (await side.check()).violations == []


def turn(name: str, speaker: str, user: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"id": name, "text": f"{name} was said.", "speaker": speaker, "user": user, **fields}


def secret(name: str, *about: str, sensitivity: str = "personal") -> dict[str, Any]:
    return {"id": name, "text": f"the secret {name}", "about": about, "sensitivity": sensitivity}


async def visible_secrets(side: Side, user: str, **viewer: Any) -> set[str | None]:
    """Return which secrets a viewer gets: the same from every door."""
    viewer = {"user": user, **viewer}
    answer = await side.retrieve({"query": "the secret", "limit": 50, "viewer": viewer}, "t")
    found = {result.id for result in answer.results if "secret" in result.text}
    asker = GraphClient(side.graph)
    walked: set[str | None] = set()
    for context in ("chat", "other"):
        walk = await asker.ask("walk", context=context, viewer=viewer, hops=1, types={"exclude": []}, limit=500)
        walked |= {node.id for node in walk.nodes if "secret" in (node.text or "")}
    assert walked == found
    for uid in {node.uid for node in (await side.nodes()).values() if node.content_hash and not node.speaker}:
        with suppress(InvalidInputError):
            shown = await asker.ask("walk", start=[uid], viewer=viewer, hops=0)
            assert {node.id for node in shown.nodes} <= found | {None}
    return found


async def test_a_user_sees_memories_about_the_person_it_identifies(side: Side) -> None:
    await tell(side, turn("a", "Ana", "u-17"), turn("b", "Ben", "u-18"), turn("c", "Clara"))
    await tell(side, secret("of ana", "Ana"), secret("of ben", "Ben"), secret("of clara", "Clara"))
    assert await visible_secrets(side, "u-17") == {"of ana"}
    assert await visible_secrets(side, "U-18") == {"of ben"}
    assert await visible_secrets(side, "u-19") == set()
    assert await visible_secrets(side, "ana") == {"of ana"}, "by the name, as before"
    assert await visible_secrets(side, person("u-17", subtype="user")) == {"of ana"}
    await tell(side, secret("deep", "Ana", sensitivity="sensitive"), {**secret("far", "Ana"), "portable": False})
    assert await visible_secrets(side, "u-17") == {"of ana", "deep"}
    assert await visible_secrets(side, "u-17", chat="group", context="chat") == {"of ana", "far"}


async def test_people_of_one_name_in_two_contexts_are_different_viewers(side: Side) -> None:
    await tell(side, turn("a", "Ana", "u-17"), secret("here", "Ana"))
    await tell(side, turn("a", "Ana", "u-20"), secret("there", "Ana"), context="other")
    assert await visible_secrets(side, "u-17") == {"here"}
    assert await visible_secrets(side, "u-20") == {"there"}


async def test_a_user_does_not_become_another_users_person_by_its_name(side: Side) -> None:
    await tell(side, turn("a", "Ana", "u-17"), secret("hers", "Ana"))
    await tell(side, turn("b", "ANA", "u-66"), turn("c", "Ana", "u-17"))
    assert await visible_secrets(side, "u-66") == set()
    assert await visible_secrets(side, "u-17") == {"hers"}
    users = await GraphClient(side.graph).ask("users", node=person("Ana"))
    assert edges_as_text(users) == ["u-17 IS_PERSON Ana"]


async def test_a_partial_name_does_not_link_a_user_to_a_person(side: Side) -> None:
    await tell(side, turn("a", "Ana Souza"), secret("hers", "Ana Souza"))
    await tell(side, turn("b", "Ana", "u-17"))
    assert await visible_secrets(side, "u-17") == set()
    names = {node.name for node in (await side.nodes()).values() if node.subtype == "person"}
    assert names == {"Ana Souza", "Ana"}


async def test_viewer_visibility_follows_merges_until_they_are_split(side: Side) -> None:
    await tell(side, turn("a", "Ana", "u-17"), turn("b", "Anna"), secret("one", "Ana"), secret("two", "Anna"))
    await tell(side, turn("c", "A. Souza"), secret("three", "A. Souza"), context="other")
    await merge(side.graph, DECISION, person("Anna"), person("Ana"))
    await merge(side.graph, DECISION, person("Ana"), person("A. Souza", "other"))
    assert await visible_secrets(side, "u-17") == {"one", "two", "three"}
    assert await visible_secrets(side, "anna") == {"one", "two", "three"}
    await tell(side, turn("d", "Ana", "u-17"))
    await split(side.graph, DECISION, person("Ana"))
    assert await visible_secrets(side, "u-17") == {"one", "two"}, "what was told meanwhile makes him no other"
    await split(side.graph, DECISION, person("Anna"))
    assert await visible_secrets(side, "u-17") == {"one"}


async def test_people_who_share_an_account_do_not_see_each_others_memories(side: Side) -> None:
    await tell(side, turn("a", "Ana", "family"), turn("b", "Ben", "family"), turn("c", "Ana"))
    await tell(side, secret("of ana", "Ana"), secret("of ben", "Ben"), secret("of both", "family"))
    assert await visible_secrets(side, "family") == {"of ana", "of ben", "of both"}
    assert "of ben" not in await visible_secrets(side, "ana")
    assert "of ana" not in await visible_secrets(side, "ben")


async def test_a_callers_is_person_edge_identifies_a_user_until_it_is_retracted(side: Side) -> None:
    extraction = {
        "entities": [{"name": "u-17", "subtype": "user"}, {"name": "Ana", "subtype": "person"}],
        "relations": [{"source": "u-17", "type": "IS_PERSON", "target": "Ana"}],
    }
    await tell(side, {"id": "x", "text": "an account", "extraction": extraction, "sensitivity": "personal"})
    await tell(side, turn("a", "Ana"), turn("b", "Ben", "u-17"), secret("of ana", "Ana"), secret("of ben", "Ben"))
    assert await visible_secrets(side, "u-17") == {"of ana", "of ben"}
    await side.retract({"context": "chat", "ids": ["x"]}, "t")
    assert await visible_secrets(side, "u-17") == {"of ben"}
    over = {**extraction, "entities": extraction["entities"]}
    await tell(side, {"id": "y", "text": "a guest", "extraction": over, "expires_at": "2020-01-01T00:00:00Z"})
    assert await visible_secrets(side, "u-17") == {"of ben"}


async def test_a_user_loses_its_person_once_no_item_supports_it(side: Side) -> None:
    await tell(side, turn("a", "Ana", "u-17"), turn("b", "Ana", "u-17"), turn("c", "Ana"), secret("of ana", "Ana"))
    await side.retract({"context": "chat", "ids": ["a"]}, "t")
    assert await visible_secrets(side, "u-17") == {"of ana"}, "another item says so"
    await tell(side, turn("b", "Ben", "u-17"))
    assert await visible_secrets(side, "u-17") == set()
    assert edges_as_text(await GraphClient(side.graph).ask("person", node="u-17")) == ["u-17 IS_PERSON Ben"]
    await side.retract({"context": "chat", "ids": ["b"]}, "t")
    assert await look_up(side.graph, "t", ["u-17", "ben"]) == {}, "neither keeps the other"
    await tell(side, turn("d", "Clara", "u-17"))
    assert edges_as_text(await GraphClient(side.graph).ask("person", node="u-17")) == ["u-17 IS_PERSON Clara"]


async def test_merged_users_share_visibility_until_they_are_split(side: Side) -> None:
    await tell(side, turn("a", "Ana", "u-17"), turn("b", "Ben", "u-18"))
    await merge(side.graph, DECISION, person("u-17", subtype="user"), person("u-18", subtype="user"))
    await tell(side, turn("c", "Clara", "u-17"))
    await tell(side, secret("of ana", "Ana"), secret("of ben", "Ben"), secret("of clara", "Clara"))
    assert await visible_secrets(side, "u-18") == {"of ana", "of ben", "of clara"}
    await side.retract({"context": "chat", "ids": ["c"]}, "t")
    assert await visible_secrets(side, "u-17") == {"of ana", "of ben"}
    await split(side.graph, DECISION, person("u-17", subtype="user"))
    assert await visible_secrets(side, "u-17") == {"of ana"}


async def test_an_update_removes_the_identity_that_the_earlier_version_gave(side: Side) -> None:
    await tell(side, turn("a", "Ana", "u-17"), secret("of ana", "Ana"))
    await tell(side, turn("a", "Ben", "u-17"), turn("b", "Ana"))
    assert await visible_secrets(side, "u-17") == set(), "though the same request speaks of both"


async def test_a_user_can_be_identified_with_a_person_and_separated_again(side: Side) -> None:
    await tell(side, turn("a", "Ana", "u-17"), turn("b", "ANA", "u-18"), turn("c", "Ben", "u-17"))
    await tell(side, secret("of ana", "Ana"), secret("of ben", "Ben"))
    ana, u17, u18 = person("Ana"), person("u-17", subtype="user"), person("u-18", subtype="user")
    assert await visible_secrets(side, "u-18") == set(), "the name alone is another user's"
    assert await identify(side.graph, DECISION, u18, ana)
    assert not await identify(side.graph, DECISION, u18, ana)
    assert await visible_secrets(side, "u-18") == {"of ana"}
    await side.retract({"context": "chat", "ids": ["b"]}, "t")
    await tell(side, turn("b", "Clara", "u-18"))
    assert await visible_secrets(side, "u-18") == {"of ana"}, "said by a person, it rests on no item"

    assert await visible_secrets(side, "u-17") == {"of ana", "of ben"}
    assert await identify(side.graph, DECISION, u17, ana, holds=False)
    assert not await identify(side.graph, DECISION, u17, ana, holds=False)
    await tell(side, turn("d", "Ana", "u-17"))
    assert await visible_secrets(side, "u-17") == {"of ben"}, "items say no more than a name"
    assert await identify(side.graph, DECISION, u17, ana)
    assert await visible_secrets(side, "u-17") == {"of ana", "of ben"}


async def test_identify_refuses_anything_but_a_user_and_a_person(side: Side) -> None:
    await tell(side, turn("a", "Ana", "u-17", tags=["sea"]))
    ana, user, tag = person("Ana"), person("u-17", subtype="user"), person("sea", subtype="tag")
    for one, other, told in (
        (ana, user, "user: 'Ana' is of subtype 'person'. Name an entity of subtype 'user'"),
        (user, user, "person: 'u-17' is of subtype 'user'. Name an entity that is not a user"),
        (user, tag, "person: 'sea' is of subtype 'tag'"),
        ("x", ana, "user: no node has the uid x"),
        (user, "x", "person: no node has the uid x"),
    ):
        with pytest.raises(InvalidInputError, match=told):
            await identify(side.graph, DECISION, one, other)
    with pytest.raises(InvalidInputError, match="no node has the uid"):
        await identify(side.graph, replace(DECISION, tenant="u"), user, ana)


async def test_a_user_and_its_person_are_not_duplicate_candidates(side: Side) -> None:
    await tell(side, turn("a", "Ana Souza", "Ana Souza"), turn("b", "Ana Sousa"))
    page = await candidates(side.graph, "t", ComparisonScope(("chat",), None, 0.8, 99), 9)
    assert {frozenset((one.entity.name, one.other.name)) for one in page.candidates} == {
        frozenset(("Ana Souza", "Ana Sousa"))
    }


async def test_a_renamed_person_keeps_its_user(side: Side) -> None:
    await tell(side, turn("a", "Ana", "u-17"))
    await rename(side.graph, "t", person("Ana"), "Ana Lima", most_chars=99)
    await tell(side, turn("b", "Ana", "u-17"), secret("one", "Ana Lima"), secret("two", "Ana"))
    assert await visible_secrets(side, "u-17") == {"one", "two"}
    people = [node.name for node in (await side.nodes()).values() if node.subtype == "person"]
    assert people == ["Ana Lima"]


async def test_a_name_shared_by_user_and_person_resolves_to_the_person(side: Side) -> None:
    await tell(side, turn("a", "Ana", "ana"), secret("hers", "Ana"))
    about = await GraphClient(side.graph).ask("about", node="ana")
    assert [node.subtype for node in about.nodes if node.uid in about.start] == ["person"]
    assert "hers" in {node.id for node in about.nodes}
    by_user = await GraphClient(side.graph).ask("about", node=person("ana", subtype="user"))
    assert "hers" in {node.id for node in by_user.nodes}, "a user's memories are those of the person"


async def test_a_name_in_a_text_is_linked_to_the_person_not_to_the_user(side: Side) -> None:
    await tell(side, turn("a", "Ana Souza", "Ana Souza"))
    await tell(side, {"id": "x", "text": "Ben met Ana Souza. She slept."}, extract="rules")
    nodes, edges = await side.nodes(), (await side.edges()).values()
    mentioned = {nodes[edge.target].subtype for edge in edges if edge.type == "MENTIONS" and edge.source in nodes}
    whom = [nodes[edge.target].uid for edge in edges if edge.type == "MENTIONS" and "Souza" in nodes[edge.target].name]
    assert set(whom) == {person("Ana Souza")}
    assert "user" not in mentioned


async def test_a_walk_hides_user_identities_the_viewer_may_not_see(side: Side) -> None:
    hidden = turn("a", "Ana", "u-17", sensitivity="personal", about=["Ben"])
    await tell(side, hidden, turn("b", "Ana"))
    walk = await GraphClient(side.graph).ask("walk", start=["ana"], viewer={"user": "clara"}, hops=2)
    assert "u-17" not in {node.name for node in walk.nodes}
    known = await GraphClient(side.graph).ask("walk", start=[person("Ana")], viewer={"user": "ben"}, hops=1)
    assert "u-17" in {node.name for node in known.nodes}
