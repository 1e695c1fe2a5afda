"""Whatever has happened, a run notices it: the mirror is the same as one that is built now."""

from __future__ import annotations

import random
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from support.documents.mirror_pages import assert_consistent, everything, mirror_of, pages
from support.fast_directory import fast_directory
from support.generators.example_count import TIMES
from support.stores.memory import Memory, open_memory
from vicw_core.consolidation.consolidate import ConsolidatedBatch, Consolidator
from vicw_shared.clock import now
from vicw_shared.model import Node
from vicw_shared.ports import Flow, FlowEvents

AT = datetime(2025, 1, 1, tzinfo=UTC)
NAMES = ("../..", "CON", "two words", "Two Words", "a/b", "[[x]]", "#", "\u202egpj.exe", "x|y", "é", "e\u0301")
TEXTS = ("see [[Secret]]\n# title", "```py\nx[[1]]\n```", "--- \n---", "plain words", "<b>%%hidden", "a\r\nb\x07")


def random_item(chance: random.Random, number: int) -> dict[str, object]:
    return {
        "id": f"i{number}",
        "text": f"{chance.choice(TEXTS)} {chance.randrange(10**6)}",
        "tags": chance.sample(NAMES, chance.randrange(3)),
        "bucket": chance.choice((None, *NAMES)),
        "source": chance.choice((None, "a/b.md", "https://e.org/x?y", "..", "CON.txt")),
        "timestamp": (AT + timedelta(minutes=chance.randrange(1000))).isoformat(),
        "sensitivity": chance.choice(("public", "public", "public", "personal")),
        "portable": chance.random() > 0.1,
        "about": ["Ana"] if chance.random() < 0.3 else [],
    }


async def apply_random_change(memory: Memory, chance: random.Random) -> None:
    context = chance.choice(("ctx", "Ctx", "..", "two words"))
    if chance.random() < 0.25:
        await memory.retract(f"i{chance.randrange(200)}", context=context)
        return
    items = [random_item(chance, number) for number in sorted(chance.sample(range(200), chance.choice((1, 2, 80))))]
    await memory.ingest(*items, context=context, flow_id=chance.choice((None, "f", "a/../b")))


@pytest.mark.parametrize("seed", range(2 * TIMES))
async def test_a_synced_mirror_equals_a_freshly_built_one(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory(dir=fast_directory()) as folder:
        async with open_memory(Path(folder) / "store", vectors=False) as memory:
            viewer = chance.choice(("", "ana", "*"))
            mirror = mirror_of(memory, tmp_path / "m", viewer)
            await mirror.sync()
            for turn in range(8):
                for _ in range(chance.randrange(1, 4)):
                    await apply_random_change(memory, chance)
                await mirror.sync()
                await mirror_of(memory, tmp_path / f"m{turn}", viewer).build()
                assert pages(tmp_path / "m") == pages(tmp_path / f"m{turn}")
                assert_consistent(tmp_path / "m")
            inside = {part for file in (tmp_path / "m").rglob("*") for part in file.relative_to(tmp_path / "m").parts}
            assert all(len(part.encode()) <= 200 and not part.endswith((".", " ")) for part in inside)
            assert "[[Secret" not in everything(tmp_path / "m")


async def consolidate_first_three(memory: Memory) -> Node:
    """Fold the first three items of the flow ``f``."""
    graph = memory.standalone.graph
    events = await graph.scan(FlowEvents(Flow(memory.tenant, "ctx", "f")), limit=3)
    whole = await graph.item_views(memory.tenant, [event.uid for event in events])
    passages = tuple(passage for one in whole for passage in one.passages)
    fold = ConsolidatedBatch(tuple(events), passages, ("Ana asks,", "Bob answers"), "what was said")

    async def work(transaction: object) -> Node:
        return await Consolidator(transaction, memory.standalone.registry, now()).consolidate(fold)  # type: ignore[arg-type]

    return await graph.write(memory.tenant, "ctx", work)


async def test_a_mirror_shows_a_macro_event_with_proofs_until_restored(store: Path, tmp_path: Path) -> None:
    async with open_memory(store) as memory:
        said = [
            {"id": f"t{n}", "text": f"word{n} was said", "speaker": "Ana", "timestamp": f"2025-03-01T12:0{n}:00Z"}
            for n in range(5)
        ]
        await memory.ingest(*said, flow_id="f")
        mirror = mirror_of(memory, tmp_path / "m")
        await mirror.build()
        macro = await consolidate_first_three(memory)
        assert (await mirror.sync()).atoms == 3
        text = everything(tmp_path / "m")
        assert "Ana asks,\nBob answers" in text
        assert text.count("\n## [") == 3
        assert "\n2025-03-01 12:00Z to 2025-03-01 12:02Z · macro · " in text
        for number in range(3):
            assert f"> [!quote]- \\[t{number}\\]" in text
            assert f"> word{number} was said" in text
        await mirror_of(memory, tmp_path / "fresh").build()
        assert pages(tmp_path / "m") == pages(tmp_path / "fresh")
        await memory.ingest({"id": "t1", "text": "it was not so"}, flow_id="f")  # takes the fold back
        await mirror.sync()
        after = everything(tmp_path / "m")
        assert "it was not so" in after
        assert macro.uid not in after
        await mirror_of(memory, tmp_path / "again").build()
        assert pages(tmp_path / "m") == pages(tmp_path / "again")
