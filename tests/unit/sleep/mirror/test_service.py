"""The mirror of a store: what is in it, and that a run builds it anew when it has to."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from support.documents.mirror_pages import assert_consistent, everything, mirror_of, pages
from support.stores.memory import Memory, open_memory
from vicw_shared.clock import now


@pytest.fixture
async def memory(store: Path) -> AsyncIterator[Memory]:
    async with open_memory(store) as opened:
        yield opened


async def test_an_atom_is_filed_by_bucket_tag_and_source(memory: Memory, tmp_path: Path) -> None:
    await memory.ingest(
        {
            "id": "c3-p7",
            "text": "The king takes the amulet.",
            "tags": ["Amulet"],
            "bucket": "Novel",
            "source": "a/ch3.md",
        }
    )
    done = await mirror_of(memory, tmp_path / "m").build()
    assert (done.built, done.atoms) == (True, 1)
    (path,) = [name for name in pages(tmp_path / "m") if "ch3" in name]
    assert path.startswith("@novel/#amulet/ch3.md_")
    text = pages(tmp_path / "m")[path]
    assert "## [c3-p7] The king takes the amulet." in text
    assert text.startswith('---\nbucket: "novel"\ntag: "amulet"\n')
    assert_consistent(tmp_path / "m")


async def test_untagged_atoms_are_filed_by_context_and_flow(memory: Memory, tmp_path: Path) -> None:
    await memory.ingest({"text": "hello"}, {"text": "again"}, context="Chat", flow_id="monday")
    await memory.ingest({"text": "alone"}, context="Chat")
    await mirror_of(memory, tmp_path / "m").build()
    names = [name for name in pages(tmp_path / "m") if name.startswith("@chat/#_untagged/")]
    assert sorted(name.split("/")[2].split("_")[0] for name in names) == ["", "chat", "monday"]
    assert_consistent(tmp_path / "m")


async def test_large_bundles_are_split_into_pages_of_a_hundred_atoms(memory: Memory, tmp_path: Path) -> None:
    await memory.ingest(
        *({"text": f"turn {n}", "timestamp": f"2025-01-01T00:{n // 60:02}:{n % 60:02}Z"} for n in range(350)),
        flow_id="f",
    )
    await mirror_of(memory, tmp_path / "m").build()
    counts = [text.count("\n## [") for name, text in pages(tmp_path / "m").items() if "/f_" in name]
    assert sum(counts) == 350
    assert sorted(counts) == [50, 100, 100, 100]
    assert_consistent(tmp_path / "m")


async def test_a_mirror_without_a_viewer_shows_only_public_portable_items(memory: Memory, tmp_path: Path) -> None:
    await memory.ingest(
        {"text": "open word"},
        {"text": "tight word", "portable": False},
        {"text": "own word", "sensitivity": "personal", "about": ["Ana"]},
        {"text": "deep word", "sensitivity": "sensitive", "about": ["Ana"], "tags": ["illness"]},
        {"text": "others word", "sensitivity": "personal", "about": ["Bob"]},
    )
    shown: dict[str, set[str]] = {}
    for viewer in ("", "ANA", "*"):
        path = tmp_path / f"m{len(shown)}"
        await mirror_of(memory, path, viewer).build()
        shown[viewer] = {
            word for word in ("open", "tight", "own", "deep", "others") if f"{word} word" in everything(path)
        }
        assert ("illness" in str(list(path.rglob("*")))) == (viewer != ""), "not even a folder tells of it"
    assert shown == {"": {"open"}, "ANA": {"open", "own", "deep"}, "*": {"open", "tight", "own", "deep", "others"}}
    changed = await mirror_of(memory, tmp_path / "m2").sync()
    assert changed.built, "a mirror for other eyes is no start"
    assert "deep word" not in everything(tmp_path / "m2")


async def test_a_mirror_shows_no_items_of_another_tenant(memory: Memory, tmp_path: Path) -> None:
    await memory.ingest({"text": "mine"})
    memory.tenant = "other"
    await memory.ingest({"text": "theirs"})
    await mirror_of(memory, tmp_path / "m").build()
    assert "theirs" in everything(tmp_path / "m")
    assert "mine" not in everything(tmp_path / "m")


async def test_updated_retracted_and_expired_texts_leave_the_mirror(memory: Memory, tmp_path: Path) -> None:
    soon = now() + timedelta(seconds=1)
    await memory.ingest(
        {"id": "a", "text": "first version", "tags": ["one"]},
        {"id": "b", "text": "taken back", "tags": ["two"]},
        {"id": "c", "text": "over soon", "expires_at": soon.isoformat()},
        {"id": "d", "text": "it stays"},
    )
    mirror = mirror_of(memory, tmp_path / "m")
    await mirror.build()
    assert "over soon" in everything(tmp_path / "m")
    await memory.ingest({"id": "a", "text": "second version", "tags": ["three"]})
    await memory.retract("b")
    await asyncio.sleep(max(0, (soon - now()).total_seconds()))
    await mirror.sync()
    text = everything(tmp_path / "m")
    assert "second version" in text
    assert "it stays" in text
    for gone in ("first version", "taken back", "over soon"):
        assert gone not in text
    assert sorted(one.name for one in (tmp_path / "m/@ctx").iterdir() if one.is_dir()) == ["#_untagged", "#three"]
    assert_consistent(tmp_path / "m")


async def test_an_expiry_alone_triggers_a_rebuild_of_the_mirror(memory: Memory, tmp_path: Path) -> None:
    soon = now() + timedelta(seconds=1)
    await memory.ingest({"text": "over soon", "expires_at": soon.isoformat()}, {"text": "it stays"})
    mirror = mirror_of(memory, tmp_path / "m")
    await mirror.build()
    assert not (await mirror.sync()).built
    await asyncio.sleep(max(0, (soon - now()).total_seconds()))
    found = await mirror.status()
    assert found is not None and found.rebuild_reason == "an item that it shows has expired; the next run rebuilds it"
    assert (await mirror.sync()).atoms == 1
    assert not (await mirror.sync()).built


async def test_a_run_without_changes_writes_nothing(memory: Memory, tmp_path: Path) -> None:
    await memory.ingest({"text": "hello"})
    mirror = mirror_of(memory, tmp_path / "m")
    assert (await mirror.sync()).built
    before = {file: file.stat().st_mtime_ns for file in (tmp_path / "m").rglob("*.md")}
    done = await mirror.sync()
    assert (done.built, done.pages, done.atoms) == (False, 0, 1)
    assert {file: file.stat().st_mtime_ns for file in (tmp_path / "m").rglob("*.md")} == before


async def test_a_page_that_was_removed_is_written_anew(memory: Memory, tmp_path: Path) -> None:
    await memory.ingest({"id": "a", "text": "One.", "tags": ["x"]}, {"id": "b", "text": "Two.", "source": "s.md"})
    mirror = mirror_of(memory, tmp_path / "m")
    await mirror.build()
    before = pages(tmp_path / "m")
    assert len(before) > 4
    for name in before:
        (tmp_path / "m" / name).unlink()
        found = await mirror.status()
        assert found is not None and found.edited == 0
        assert found.rebuild_reason == "1 page is missing; the next run rebuilds it"
        await mirror.sync()
        assert pages(tmp_path / "m") == before
    shutil.rmtree(next(path for path in (tmp_path / "m").iterdir() if path.name.startswith("@")))
    await mirror.sync()
    assert pages(tmp_path / "m") == before
