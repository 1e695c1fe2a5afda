"""A page that a person has edited is kept aside before it is written anew."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from support.documents.mirror_pages import everything, mirror_of, pages
from support.stores.memory import Memory, open_memory

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


def kept_edits(path: Path) -> list[str]:
    """Return the pages that were kept aside, in the order of their texts."""
    return sorted(file.read_text("utf-8") for file in (path / ".vicw-edits").rglob("*.md"))


@pytest.mark.parametrize("way", ["sync", "build"])
async def test_an_edit_is_kept_aside_before_its_page_is_written_anew(memory: Memory, tmp_path: Path, way: str) -> None:
    mirror = mirror_of(memory, tmp_path / "m")
    await mirror.build()
    change(tmp_path / "m", ("The queen stays.", "The queen goes."))
    await memory.ingest({"id": "d", "text": "It rains.", "source": "ch.md"})
    done = await getattr(mirror, way)()
    assert len(done.edited) == 1
    assert "The queen stays." in everything(tmp_path / "m")
    for _ in range(2):
        (edit,) = kept_edits(tmp_path / "m")
        assert "\n\nThe queen goes.\n" in edit
        assert "It rains." not in edit
        await mirror.build()


@pytest.mark.parametrize("way", ["sync", "build"])
async def test_each_edit_of_a_page_is_kept(memory: Memory, tmp_path: Path, way: str) -> None:
    mirror = mirror_of(memory, tmp_path / "m")
    await mirror.build()
    for number, does in enumerate(("goes", "flies")):
        change(tmp_path / "m", ("The queen stays.", f"The queen {does}."))
        await memory.ingest({"id": f"d{number}", "text": "It rains.", "source": "ch.md"})
        assert len((await getattr(mirror, way)()).edited) == 1
    one, other = sorted(kept_edits(tmp_path / "m"), key=lambda text: "flies" in text)
    assert "\n\nThe queen goes.\n" in one
    assert "\n\nThe queen flies.\n" in other


async def test_an_edit_that_is_saved_while_a_mirror_is_swapped_is_kept(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mirror = mirror_of(memory, tmp_path / "m")
    await mirror.build()
    change(tmp_path / "m", ("The queen stays.", "The queen goes."))
    monkeypatch.setattr("os.sync", lambda: change(tmp_path / "m", ("The queen goes.", "The queen flies.")))
    assert len((await mirror.build()).edited) == 1
    assert "The queen stays." in "".join(pages(tmp_path / "m").values())
    assert ["The queen flies." in edit for edit in kept_edits(tmp_path / "m")] == [True]
