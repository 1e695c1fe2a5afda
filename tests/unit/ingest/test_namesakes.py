"""People of one name: who is whose tells them apart, and where two may be meant nobody is."""

from __future__ import annotations

from typing import Any

import pytest

from memory import Memory
from vicw_ingest.identity.candidates import Compared, candidates
from vicw_shared.model import Edge, Label, Node

LENAS, TOMS = "My sister Ana lives in Porto.", "My sister Ana lives in Oslo."


def turn(number: int, speaker: str, text: str, **fields: Any) -> dict[str, Any]:
    return {
        "id": f"t{number}",
        "text": text,
        "speaker": speaker,
        "timestamp": f"2026-03-{number:02d}T09:00:00Z",
        **fields,
    }


async def read(memory: Memory, *turns: dict[str, Any], **fields: Any) -> None:
    for one in turns:
        await memory.ingest(one, extract="rules", **fields)


async def live(memory: Memory) -> tuple[dict[str, Node], list[Edge]]:
    pages = [await memory.standalone.graph.page(label, after=None, limit=1000) for label in Label]
    nodes = {node.uid: node for page in pages for node in page if node.retired_at is None}
    edges = [edge for edge, _, _ in await memory.standalone.graph.edge_page(after=None, limit=5000)]
    return nodes, [edge for edge in edges if edge.source in nodes and edge.target in nodes]


async def relatives(memory: Memory) -> dict[tuple[str, str], set[str]]:
    """Return the uids of whom each owner has in each relationship."""
    nodes, edges = await live(memory)
    found: dict[tuple[str, str], set[str]] = {}
    for edge in edges:
        if edge.type == "HAS_RELATIONSHIP":
            found.setdefault((nodes[edge.source].name, str(edge.properties["desc"])), set()).add(edge.target)
    return found


async def agents(memory: Memory) -> dict[str, set[str]]:
    """Return who did what each statement tells of, by uid."""
    nodes, edges = await live(memory)
    found: dict[str, set[str]] = {}
    for edge in edges:
        if edge.type == "INITIATED" and nodes[edge.target].is_statement:
            found.setdefault(str(nodes[edge.target].text), set()).add(edge.source)
    return found


async def called(memory: Memory, name: str) -> list[Node]:
    return [node for node in (await live(memory))[0].values() if node.name == name and node.label is Label.ENTITY]


@pytest.mark.parametrize("at_once", [True, False])
async def test_two_who_each_have_a_sister_ana_have_two_sisters(memory: Memory, at_once: bool) -> None:
    turns = [turn(1, "Lena", LENAS), turn(2, "Tom", TOMS), turn(3, "Lena", "My sister broke her leg.")]
    if at_once:
        await memory.ingest(*turns, extract="rules")
    else:
        await read(memory, *turns)
    found = await relatives(memory)
    (lenas,), (toms,) = found["Lena", "sister"], found["Tom", "sister"]
    assert lenas != toms
    assert (await agents(memory))["My sister broke her leg."] == {lenas}
    nodes, edges = await live(memory)
    replaced = [edge for edge in edges if edge.type == "SUPERSEDES"]
    assert replaced == [], "Lena's Ana has not moved to Oslo"
    assert sorted(node.name for node in nodes.values() if node.subtype == "attribute") == ["Ana · home", "Ana · home"]


async def test_each_speaks_of_the_own_ana_and_of_the_others_nobody_knows(memory: Memory) -> None:
    await read(memory, turn(1, "Lena", LENAS), turn(2, "Ben", "Ana met Eva in town."), turn(3, "Tom", TOMS))
    await read(memory, turn(4, "Lena", "Ana broke the mug."), turn(5, "Tom", "Ana broke the vase."))
    await read(memory, turn(6, "Ben", "Ana broke the lamp."))
    found = await relatives(memory)
    (lenas,), (toms,) = found["Lena", "sister"], found["Tom", "sister"]
    did = await agents(memory)
    assert did["Ana met Eva in town."] == {lenas}, "there was only one"
    assert (did["Ana broke the mug."], did["Ana broke the vase."]) == ({lenas}, {toms})
    assert "Ana broke the lamp." not in did
    assert {node.uid for node in await called(memory, "Ana")} == {lenas, toms}


async def test_they_are_proposed_to_be_one_and_stay_two_until_somebody_says_so(memory: Memory) -> None:
    await read(memory, turn(1, "Lena", LENAS), turn(2, "Tom", TOMS))
    page = await candidates(memory.standalone.graph, "default", Compared(("ctx",), None, 0.9, 1000), 10)
    pairs = [(pair.entity.name, pair.other.name, pair.reason) for pair in page.candidates]
    assert ("Ana", "Ana", "same name") in pairs


async def test_a_sister_is_the_ana_of_whom_was_spoken_if_she_is_nobodys(memory: Memory) -> None:
    await read(memory, turn(1, "Ben", "Ana met Eva in town."), turn(2, "Lena", LENAS), turn(3, "Lena", LENAS))
    assert len(await called(memory, "Ana")) == 1


async def test_an_update_keeps_who_is_who(memory: Memory) -> None:
    await read(memory, turn(1, "Lena", LENAS), turn(2, "Tom", TOMS))
    before = await relatives(memory)
    await read(memory, turn(2, "Tom", "My sister Ana lives in Bergen."), turn(1, "Lena", "My sister Ana is ill."))
    assert await relatives(memory) == before
    assert (await memory.check()).violations == []


@pytest.mark.parametrize(
    ("texts", "people"),
    [
        (["My brother Tom came.", "My sister Ana came.", "My sister Ana left."], 1),  # Lena and Tom have one sister
        (["My husband Tom came.", "My daughter Ana came.", "My daughter Ana left."], 1),
        (["My husband Tom came.", "My sister Ana came.", "My sister Ana left."], 2),
        (["My friend Tom came.", "My sister Ana came.", "My wife Ana left."], 2),
        (["My friend Tom came.", "My boss Ana came.", "My colleague Ana left."], 1),
        (["My friend Tom came.", "My sister Ana came.", "My boss Ana left."], 1),
    ],
)
async def test_families_may_share_whom_they_have(memory: Memory, texts: list[str], people: int) -> None:
    first, second, third = texts
    await read(memory, turn(1, "Lena", first), turn(2, "Lena", second), turn(3, "Tom", third))
    assert len(await called(memory, "Ana")) == people


async def test_one_has_a_sister_and_an_aunt_of_one_name(memory: Memory) -> None:
    await read(memory, turn(1, "Lena", LENAS), turn(2, "Lena", "My aunt Ana lives in Oslo."))
    found = await relatives(memory)
    assert found["Lena", "sister"] != found["Lena", "aunt"]


async def test_one_text_may_tell_of_two_of_a_name(memory: Memory) -> None:
    text = "Lena's sister Ana lives in Porto. Tom's sister Ana lives in Oslo. Ana wrote a letter."
    await read(memory, {"id": "x", "text": text})
    found = await relatives(memory)
    assert found["Lena", "sister"] != found["Tom", "sister"]
    assert "Ana wrote a letter." not in await agents(memory)


async def test_a_speaker_of_the_name_stays_who_that_is(memory: Memory) -> None:
    await read(memory, turn(1, "Lena", LENAS), turn(2, "Tom", TOMS))
    await read(memory, turn(3, "Ana", "I fixed the mug."), turn(4, "Ana", "I fixed the vase."))
    found = await relatives(memory)
    did = await agents(memory)
    assert did["I fixed the mug."] == did["I fixed the vase."]
    assert not did["I fixed the mug."] & (found["Lena", "sister"] | found["Tom", "sister"])


async def test_a_speaker_who_was_the_only_one_stays_that_one(memory: Memory) -> None:
    await read(memory, turn(1, "Lena", LENAS), turn(2, "Ana", "I fixed the mug."), turn(3, "Tom", TOMS))
    await read(memory, turn(4, "Ana", "I fixed the vase.", user="u1"))
    did = await agents(memory)
    assert did["I fixed the mug."] == did["I fixed the vase."] == (await relatives(memory))["Lena", "sister"]
    _, edges = await live(memory)
    assert {edge.target for edge in edges if edge.type == "IS_PERSON"} == did["I fixed the vase."]


async def test_a_late_father_is_the_father_and_mom_the_mother(memory: Memory) -> None:
    await read(memory, turn(1, "Lena", "My late father Max built boats."), turn(2, "Lena", "My father sold a boat."))
    await read(memory, turn(3, "Lena", "My mom Eva is well."), turn(4, "Lena", "My mother painted the hall."))
    found, did = await relatives(memory), await agents(memory)
    assert did["My father sold a boat."] == found["Lena", "father"]
    assert did["My mother painted the hall."] == found["Lena", "mom"]


async def test_a_late_husband_is_not_the_husband(memory: Memory) -> None:
    await read(memory, turn(1, "Lena", "My late husband Ed built boats."), turn(2, "Lena", "My husband sold a boat."))
    assert "My husband sold a boat." not in await agents(memory)


async def test_what_a_caller_names_stays_as_given(memory: Memory) -> None:
    told = {"entities": [{"id": "e1", "name": "Ana", "subtype": "person"}]}
    await read(memory, turn(1, "Lena", LENAS), turn(2, "Tom", TOMS))
    known = {node.uid for node in await called(memory, "Ana")}
    for number in (3, 4):
        await memory.ingest(turn(number, "Ben", "The guest list.", extraction=told), extract="caller")
    assert len({node.uid for node in await called(memory, "Ana")} | known) == len(known)


async def test_names_in_small_letters_are_names(memory: Memory) -> None:
    await read(memory, turn(1, "Lena", "my sister ana lives in porto"), turn(2, "Lena", "Ana moved to Oslo."))
    await read(memory, turn(3, "Lena", "my brother max broke his leg"))
    (sister,), (brother,) = (await relatives(memory))["Lena", "sister"], (await relatives(memory))["Lena", "brother"]
    assert (await agents(memory))["Ana moved to Oslo."] == {sister}
    assert (await agents(memory))["my brother max broke his leg"] == {brother}
    nodes, edges = await live(memory)
    replaced = [(nodes[e.source].text, nodes[e.target].text) for e in edges if e.type == "SUPERSEDES"]
    assert replaced == [("Ana moved to Oslo.", "my sister ana lives in porto")]
    assert {node.name for node in nodes.values() if node.subtype == "attribute"} == {"ana · home"}
