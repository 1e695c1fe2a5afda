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
    answer = await memory.ingest(*pages(), context="repo", extract="rules")
    for item in answer.items:
        print(item.id, item.links)
    for t in sorted(await told(memory, "CONTAINS", "LINKS_TO", "REFERENCES", "DEPENDS_ON", "HAS_INDEX", "HAS_ENTRYPOINT")):
        print(t)
    print((await memory.check()).violations)
