"""What an erasure did, in sentences."""

from __future__ import annotations

from collections.abc import Mapping

from vicw_shared.text import counted


def went(nodes: Mapping[str, int], receipts: int, steps: int) -> str:
    """Return what an erasure removed, ``nodes`` by label."""
    labels = ", ".join(counted(count, f"{label} node") for label, count in sorted(nodes.items())) or "no nodes"
    return f"erased: {labels}; {counted(receipts, 'receipt')}, {counted(steps, 'logged step')}"


def proven(read: int, *, files: bool) -> str:
    """Return the statement of a proof in which ``read`` bytes of files were searched, the engines' own if ``files``."""
    if files:
        return f"nothing is left in the store or in {read} bytes of files"
    places = f"the graph, the vectors or {read} bytes of the mirror" if read else "the graph or the vectors"
    return f"nothing is left in {places}; the engines' own files are not searched"
