"""What an edit proposes is the item as its caller sent it: taken, it changes the text and nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from memory import Memory, open_memory
from unit.sleep.mirror.folders import mirror_of, pages
from vicw_shared.clock import EPOCH
from vicw_shared.model import Label, Node
from vicw_shared.model.knowledge import PAGE
from vicw_shared.ports import WholeItem
from vicw_sleep.mirror.atoms import atom_of
from vicw_sleep.mirror.edits import edits_of
from vicw_sleep.mirror.proposing import Proposal, proposal_of

TURN = {
    "id": "a",
    "text": "The king sleeps.",
    "subtype": "letter",
    "name": "Of the king",
    "speaker": "Ana",
    "user": "u-1",
    "timestamp": "2026-03-01T10:00:00.000001Z",
    "flow_id": "chapter",
    "flow_step": 0,
    "tags": ["court"],
    "bucket": "novel",
    "source": "ch.md",
    "metadata": {"page": 3},
    "sensitivity": "sensitive",
    "portable": False,
    "about": ["Ana", "Ben"],
    "importance": 0.0,
    "protected": True,
    "trigger_phrases": ["who sleeps"],
    "expires_at": "2126-01-01T00:00:00Z",
}
NOTE = {"id": "b", "text": "The queen sleeps."}


async def proposed(memory: Memory, path: Path) -> dict[str, Proposal]:
    """Build a mirror for all eyes, have everybody wake in it, and return what that proposes."""
    mirror = mirror_of(memory, path, "*")
    await mirror.build()
    for name, text in pages(path).items():
        (path / name).write_text(text.replace(" sleeps.\n", " wakes.\n"), "utf-8")
    edits = [(edit.atom, edit.after) for edit in await edits_of(mirror) if edit.atom is not None]
    return {atom.id: await proposal_of(mirror.graph, atom, text) for atom, text in edits}


async def items(memory: Memory) -> dict[str, Node]:
    found = [*await whole_items(memory, Label.EVENT), *await whole_items(memory, Label.ENTITY)]
    return {whole.item.source_id or "": whole.item for whole in found}


def told(item: Node) -> Node:
    """Return what is said of an item beside its text."""
    name = "" if item.title is None else item.name
    made = replace(item, uid="", created_at=EPOCH, qdrant_id=None, content_hash=None, text_key=None, name=name)
    return replace(made, version=1, indexed=False)


async def whole_items(memory: Memory, label: Label) -> list[WholeItem]:
    return await memory.standalone.graph.whole_page(memory.tenant, label, after=None, limit=100)


async def test_an_edit_that_is_taken_changes_nothing_but_the_text(store: Path, tmp_path: Path) -> None:
    async with open_memory(store, vectors=False) as memory:
        await memory.ingest(TURN, {**TURN, "id": "c", "text": "Nobody.", "flow_step": 1}, NOTE)
        before = await items(memory)
        about = {whole.item.source_id: whole.about for whole in await whole_items(memory, Label.EVENT)}
        found = await proposed(memory, tmp_path / "m")
        assert found.keys() == {"a", "b"}
        for proposal in found.values():
            fields = json.loads(json.dumps(proposal.fields))
            place = {name: fields.pop(name) for name in ("context", "domain")}
            assert (await memory.ingest(fields, **place)).items[0].status == "updated"
        after = await items(memory)
        for name in ("a", "b"):
            assert told(after[name]) == told(before[name]), "but for the text, and what is made of it"
        assert {whole.item.source_id: whole.about for whole in await whole_items(memory, Label.EVENT)} == about
        assert found["a"].fields["user"] == "u-1"


async def test_a_text_that_was_emptied_is_not_proposed(store: Path, tmp_path: Path) -> None:
    async with open_memory(store, vectors=False) as memory:
        await memory.ingest(NOTE)
        mirror = mirror_of(memory, tmp_path / "m")
        (whole,) = await whole_items(memory, Label.ENTITY)
        atom = atom_of(whole)
        assert atom is not None
        assert "`vicw retract`" in (await proposal_of(mirror.graph, atom, " \n")).problem


async def test_what_has_no_id_and_a_page_of_a_folder_are_not_proposed(store: Path, tmp_path: Path) -> None:
    async with open_memory(store, vectors=False) as memory:
        page = {"id": "p", "text": "# King\n\nHe sleeps.\n", "page": {"folder": "notes", "path": "king.md"}}
        await memory.ingest({"text": "Nobody sleeps."}, page)
        told = {proposal.problem for proposal in (await proposed(memory, tmp_path / "m")).values()}
        assert told == {
            "has no id of its caller's, so it cannot be updated",
            "is a file of a knowledge folder: edit it there",
        }
        assert PAGE in {node.subtype for node in (await items(memory)).values()}
