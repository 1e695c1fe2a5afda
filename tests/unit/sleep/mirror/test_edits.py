"""An edit in the mirror comes back as a proposal; it is never stored, and never lost, by itself."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from memory import Memory, open_memory
from unit.sleep.mirror.folders import everything, mirror_of, pages
from vicw_shared.errors import NotFoundError
from vicw_sleep.mirror.edits import Edit, edits_of
from vicw_sleep.mirror.folder import MirrorFolder

TEXT = "The king takes the amulet.\n# and more [[x]]\nHe leaves."


@pytest.fixture
async def memory(store: Path) -> AsyncIterator[Memory]:
    async with open_memory(store, vectors=False) as opened:
        await opened.ingest(
            {"id": "a", "text": TEXT, "source": "ch.md"},
            {"id": "b", "text": "The queen stays.", "source": "ch.md"},
            {"id": "c", "text": "Far away.", "source": "other.md"},
        )
        yield opened


def page(path: Path, source: str = "ch.md") -> Path:
    (found,) = (file for file in path.rglob(f"{source}_*.md") if ".vicw-edits" not in file.parts)
    return found


def change(path: Path, *changes: tuple[str, str]) -> None:
    text = page(path).read_text("utf-8")
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    page(path).write_text(text, "utf-8")


def told(edits: list[Edit]) -> list[tuple[str, str]]:
    return [(edit.atom.id, edit.after) if edit.atom else ("", edit.problem) for edit in edits]


async def test_without_an_edit_there_is_nothing_to_tell(memory: Memory, tmp_path: Path) -> None:
    mirror = mirror_of(memory, tmp_path / "m")
    with pytest.raises(NotFoundError, match="vicw mirror build"):
        await edits_of(mirror)
    await mirror.build()
    assert await edits_of(mirror) == []


async def test_an_edited_text_is_proposed_as_it_would_be_stored(memory: Memory, tmp_path: Path) -> None:
    mirror = mirror_of(memory, tmp_path / "m")
    await mirror.build()
    change(
        tmp_path / "m",
        ("\nHe leaves.", "\nHe leaves,\nand \\#never comes back."),
        ("\n\nThe queen stays.", "\n\nThe queen goes."),
    )
    expected = {"a": TEXT.replace("\nHe leaves.", "\nHe leaves,\nand #never comes back."), "b": "The queen goes."}
    assert dict(told(await edits_of(mirror))) == expected
    assert (await memory.standalone.graph.items("default", "b", ["ctx"]))[0].version == 1, "nothing was stored"


async def test_lines_that_were_put_in_or_taken_out_are_of_the_text_beside_them(memory: Memory, tmp_path: Path) -> None:
    mirror = mirror_of(memory, tmp_path / "m")
    await mirror.build()
    change(
        tmp_path / "m",
        ("The king takes the amulet.\n\\#", "\\#"),
        ("\n\nThe queen stays.\n", "\n\nThe queen stays.\nAnd waits.\n"),
    )
    expected = {"a": TEXT.split("\n", 1)[1], "b": "The queen stays.\nAnd waits."}
    assert {uid: after.strip("\n") for uid, after in told(await edits_of(mirror))} == expected


async def test_what_is_changed_outside_of_the_texts_is_said_and_no_proposal(memory: Memory, tmp_path: Path) -> None:
    mirror = mirror_of(memory, tmp_path / "m")
    await mirror.build()
    change(tmp_path / "m", ('context: "ctx"', 'context: "mine"'))
    ((uid, problem),) = told(await edits_of(mirror))
    assert (uid, problem[:7]) == ("", "changed")


async def test_an_atom_that_somebody_has_put_in_is_none_of_the_one_before_it(memory: Memory, tmp_path: Path) -> None:
    mirror = mirror_of(memory, tmp_path / "m")
    await memory.ingest({"id": "z", "text": "\n".join(f"line {n}" for n in range(40)), "source": "ch.md"})
    await mirror.build()
    change(tmp_path / "m", ("\nHe leaves.\n", "\nHe leaves.\n\n---\n\n## [new] A new one\n\nsaid by me\n\nNews.\n"))
    assert [problem for uid, problem in told(await edits_of(mirror)) if not uid]
    assert [after for uid, after in told(await edits_of(mirror)) if uid] == []


async def test_a_page_in_another_encoding_is_said_to_be_so(memory: Memory, tmp_path: Path) -> None:
    mirror = mirror_of(memory, tmp_path / "m")
    await mirror.build()
    text = page(tmp_path / "m").read_text("utf-8")
    page(tmp_path / "m").write_bytes(text.encode("utf-8-sig"))
    assert await edits_of(mirror) == []
    page(tmp_path / "m").write_bytes(text.replace("The queen", "Die Königin").encode("cp1252", "replace"))
    ((_, problem),) = told(await edits_of(mirror))
    assert "is no UTF-8" in problem


@pytest.mark.timeout(20)
@pytest.mark.parametrize("most", [1, 10_000])
async def test_a_long_page_is_compared_soon(memory: Memory, tmp_path: Path, most: int) -> None:
    lines = "\n\n".join(f"word{n} and more" for n in range(8000))
    await memory.ingest({"id": "long", "text": lines, "source": "long.md"})
    mirror = mirror_of(memory, tmp_path / "m")
    await mirror.build()
    there = page(tmp_path / "m", "long.md")
    head, text = there.read_text("utf-8").split("\n\nword1 ")
    there.write_text(f"{head}\n\nword1 {text.replace(' more', ' less', most)}", "utf-8")
    ((uid, after),) = told(await edits_of(mirror))
    assert (uid, after.count("less")) == ("long", min(most, 7998 + 1))


@pytest.mark.parametrize("way", ["sync", "build"])
async def test_an_edit_is_kept_aside_before_its_page_is_written_anew(memory: Memory, tmp_path: Path, way: str) -> None:
    mirror = mirror_of(memory, tmp_path / "m")
    await mirror.build()
    change(tmp_path / "m", ("The queen stays.", "The queen goes."))
    await memory.ingest({"id": "d", "text": "It rains.", "source": "ch.md"})
    done = await getattr(mirror, way)()
    assert len(done.edited) == 1
    assert "The queen stays." in everything(tmp_path / "m")
    edits = [edit for edit in await edits_of(mirror) if edit.atom and edit.atom.id == "b"]
    assert [(edit.aside, edit.after) for edit in edits] == [(True, "The queen goes.")]
    await mirror.build()
    assert [e.after for e in await edits_of(mirror) if e.atom and e.atom.id == "b"] == ["The queen goes."], "still kept"


@pytest.mark.parametrize("way", ["sync", "build"])
async def test_each_edit_of_a_page_is_kept(memory: Memory, tmp_path: Path, way: str) -> None:
    mirror = mirror_of(memory, tmp_path / "m")
    await mirror.build()
    for number, does in enumerate(("goes", "flies")):
        change(tmp_path / "m", ("The queen stays.", f"The queen {does}."))
        await memory.ingest({"id": f"d{number}", "text": "It rains.", "source": "ch.md"})
        assert len((await getattr(mirror, way)()).edited) == 1
    edits = [edit for edit in await edits_of(mirror) if edit.atom and edit.atom.id == "b"]
    assert sorted((edit.after, edit.aside) for edit in edits) == [
        ("The queen flies.", True),
        ("The queen goes.", True),
    ]


async def test_an_edit_that_is_saved_while_a_mirror_is_swapped_is_kept(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mirror = mirror_of(memory, tmp_path / "m")
    await mirror.build()
    change(tmp_path / "m", ("The queen stays.", "The queen goes."))
    monkeypatch.setattr("os.sync", lambda: change(tmp_path / "m", ("The queen goes.", "The queen flies.")))
    assert len((await mirror.build()).edited) == 1
    assert "The queen stays." in "".join(pages(tmp_path / "m").values())
    edits = [edit for edit in await edits_of(mirror) if edit.atom and edit.atom.id == "b"]
    assert {edit.after for edit in edits} == {"The queen goes.", "The queen flies."}


async def test_an_edit_that_is_saved_while_other_pages_are_written_is_kept(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mirror = mirror_of(memory, tmp_path / "m")
    await mirror.build()
    place = MirrorFolder.place

    def editing(self: MirrorFolder, new: Path, name: str) -> None:
        place(self, new, name)
        if "/ch.md" in name:
            other = page(tmp_path / "m", "other.md")
            other.write_text(other.read_text("utf-8").replace("Far away.", "Near."), "utf-8")

    monkeypatch.setattr(MirrorFolder, "place", editing)
    for number, source in enumerate(("ch.md", "other.md")):
        await memory.ingest({"id": f"d{number}", "text": "It rains.", "source": source})
    assert len((await mirror.sync()).edited) == 1
    assert [edit.after for edit in await edits_of(mirror) if edit.atom and edit.atom.id == "c"] == ["Near."]


async def test_a_page_of_which_the_store_has_other_texts_by_now_is_named(memory: Memory, tmp_path: Path) -> None:
    mirror = mirror_of(memory, tmp_path / "m")
    await mirror.build()
    change(tmp_path / "m", ("The queen stays.", "The queen goes."))
    await memory.retract("a")
    ((uid, problem),) = told(await edits_of(mirror))
    assert uid == ""
    assert "by now" in problem
