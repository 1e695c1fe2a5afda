"""The doors of identity, and what they are good for: asked as a client does, over the one-process application."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest

from support.generators.secrets import GITHUB_TOKEN
from support.stores.memory import Memory
from vicw_client import AsyncVicwClient, BadRequestError, ConflictError, NotFoundError
from vicw_core.identity.name_similarity import EITHER
from vicw_shared.uids import named_uid
from vicw_standalone.app import create_standalone_app

CHAT = (
    {"id": "a", "text": "I moved to Oslo.", "speaker": "Ana"},
    {"id": "b", "text": "The keeper slept.", "about": ["Ana Souza"], "tags": ["sea"]},
    {
        "id": "c",
        "text": "Souza Ana called.",
        "extraction": {"entities": [{"name": "Souza Ana", "subtype": "person"}]},
    },
)


def person(name: str) -> str:
    return named_uid("default", "ctx", "person", name)


@pytest.fixture
async def client(memory: Memory) -> AsyncIterator[AsyncVicwClient]:
    await memory.ingest(*CHAT, extract="caller")
    transport = httpx.ASGITransport(create_standalone_app(memory.standalone))
    async with AsyncVicwClient("http://127.0.0.1", transport=transport) as connected:
        yield connected


async def test_entities_can_be_listed_merged_split_and_renamed(client: AsyncVicwClient) -> None:
    listed = await client.entities("ctx", limit=2)
    assert [entity.name for entity in listed.entities] == ["Ana", "Ana Souza"]
    rest = await client.entities("ctx", after=listed.next)
    assert [(entity.name, entity.subtype) for entity in rest.entities] == [("sea", "tag"), ("Souza Ana", "person")]
    assert [one.name for one in (await client.entities("ctx", subtype="tag", prefix="SE")).entities] == ["sea"]

    proposed, *either = (await client.entity_candidates("ctx")).candidates
    assert {proposed.entity.name, proposed.other.name} == {"Ana Souza", "Souza Ana"}
    assert [(one.score, {one.entity.name, one.other.name} & {"Ana"}) for one in either] == [(EITHER, {"Ana"})] * 2
    merged = await client.merge(person("Souza Ana"), person("Ana Souza").upper())
    assert (merged.changed, merged.entity.canonical) == (True, person("Ana Souza"))
    assert not (await client.merge(person("Souza Ana"), person("Ana Souza"))).changed
    (proposed,) = (await client.entity_candidates("ctx")).candidates
    assert {proposed.entity.name, proposed.other.name} == {"Ana", "Ana Souza"}, "of the two there is one left"

    split = await client.split(person("Souza Ana"))
    assert (split.changed, split.entity.merged_into, split.entity.canonical) == (True, None, person("Souza Ana"))
    left = {one.score for one in (await client.entity_candidates("ctx")).candidates}
    assert left == {EITHER}, "of these two a person has decided"

    renamed = await client.rename(person("Ana Souza"), "Ana S. Souza")
    assert (renamed.entity.uid, renamed.entity.aliases) == (person("Ana Souza"), ("Ana Souza",))
    assert (await client.entity(person("Ana Souza"))).name == "Ana S. Souza"


async def test_a_user_can_be_linked_to_and_unlinked_from_a_person(client: AsyncVicwClient, memory: Memory) -> None:
    await memory.ingest({"id": "d", "text": "Hello.", "speaker": "Anna", "user": "u-17"}, extract="none")
    user = named_uid("default", "ctx", "user", "u-17")
    said = await client.identify(user.upper(), person("Ana Souza"))
    assert (said.entity.name, said.entity.subtype, said.changed) == ("u-17", "user", True)
    joined = await client.graph.person(node="u-17")
    assert {node.name for node in joined.nodes} == {"u-17", "Anna", "Ana Souza"}
    assert (await client.identify(user, person("Ana Souza"), holds=False)).changed
    assert {node.name for node in (await client.graph.person(node="u-17")).nodes} == {"u-17", "Anna"}


async def test_renaming_an_entity_to_a_secret_is_refused(client: AsyncVicwClient) -> None:
    with pytest.raises(BadRequestError, match=r"name: contains a secret \(github-token\) in a name") as refusal:
        await client.rename(person("Ana Souza"), f"Ana {GITHUB_TOKEN}")
    assert GITHUB_TOKEN not in str(refusal.value)
    assert (await client.entity(person("Ana Souza"))).name == "Ana Souza"


async def test_invalid_entity_requests_are_refused_with_the_reason(client: AsyncVicwClient) -> None:
    with pytest.raises(BadRequestError, match=r"into: no node has the uid x. Give a uid that GET /entities"):
        await client.merge(person("Ana Souza"), "x")
    with pytest.raises(BadRequestError, match="name"):
        await client.rename(person("Ana Souza"), " ")
    with pytest.raises(BadRequestError, match="context"):
        await client.entities(" ")
    with pytest.raises(BadRequestError, match="limit"):
        await client.entities("ctx", limit=0)
    with pytest.raises(BadRequestError, match="prefix: has 300 characters"):
        await client.entities("ctx", prefix="x" * 300)
    with pytest.raises(BadRequestError, match="threshold"):
        await client.entity_candidates("ctx", threshold=0.1)
    with pytest.raises(BadRequestError, match="context"):
        await client.entity_candidates()
    with pytest.raises(ConflictError, match="entity: 'Ana Souza' is not merged"):
        await client.split(person("Ana Souza"))
    for uid in ("x", person("nobody")):
        with pytest.raises(NotFoundError, match="No named entity"):
            await client.entity(uid)
        with pytest.raises(NotFoundError, match="No named entity"):
            await client.rename(uid, "Ben")


async def test_an_unknown_context_lists_no_entities_or_candidates(client: AsyncVicwClient) -> None:
    assert (await client.entities("elsewhere")).entities == ()
    page = await client.entity_candidates("elsewhere")
    assert (page.candidates, page.examined, page.complete) == ((), 0, True)


async def test_an_unknown_query_parameter_of_entities_is_refused(memory: Memory) -> None:
    transport = httpx.ASGITransport(create_standalone_app(memory.standalone))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as http:
        for path in ("/entities", "/entities/candidates"):
            answer = await http.get(path, params={"context": "ctx", "sub_type": "person"})
            assert answer.status_code == 422
            assert [error["field"] for error in answer.json()["errors"]] == ["sub_type"]
