"""A small repository with its documentation: what a reader would say that it tells, and which page governs what."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memory import Memory
from unit.ingest.test_reading import told

REPO = Path(__file__).parents[2] / "stories" / "repo"


def pages(root: Path = REPO, folder: str = "harbour") -> Iterator[dict[str, Any]]:
    """Return a folder's files as a caller sends them who is on another machine."""
    for path in sorted(path for path in root.rglob("*") if path.is_file()):
        name = path.relative_to(root).as_posix()
        yield {"text": path.read_text("utf-8"), "page": {"folder": folder, "path": name}}


async def test_try(memory: Memory) -> None:
    await memory.ingest({"id":"m1","speaker":"Ines","timestamp":"2026-01-05T10:00:00Z","text":"We deployed the new tide model on Friday evening without asking anyone."},{"id":"m2","speaker":"Piotr","timestamp":"2026-01-05T10:01:00Z","text":"The Berth allocator put two ships in one place."}, context="chat", extract="rules")
    answer = await memory.ingest(*pages(), context="repo", extract="rules")
    for item in answer.items:
        print(item.id, item.links)
    for t in sorted(await told(memory, "CONTAINS", "LINKS_TO", "REFERENCES", "DEPENDS_ON", "HAS_INDEX", "HAS_ENTRYPOINT","GOVERNS","DESCRIBES","IMPLEMENTS")):
        print(t)
    await memory.ingest({"id":"m3","speaker":"Ines","timestamp":"2026-01-06T10:00:00Z","text":"The second deployment was approved by Piotr before it went out."},{"id":"m4","speaker":"Piotr","timestamp":"2026-01-06T10:01:00Z","text":"ADR-7 says five tries."},{"id":"m5","speaker":"Piotr","timestamp":"2026-01-06T10:02:00Z","text":"Lunch was good."},{"id":"c1","subtype":"commit","text":"Pause longer between tries (ADR-0007)"}, context="chat", extract="rules")
    for t in sorted(await told(memory, "GOVERNS","DESCRIBES","IMPLEMENTS")):
        print("AFTER", t)
    print((await memory.check()).violations)
