"""Results of the graph channel: items reached from items similar to the question."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from vicw_shared.model import Node


class SubGraph(StrEnum):
    """The two halves of the one graph."""

    CAUSAL = "causal"
    KNOWLEDGE = "knowledge"


@dataclass(frozen=True, slots=True)
class Anchor:
    """An item found by other channels: ``strength`` (≥ 0) is the score that it passes on, ``passages`` those found.

    ``part`` is the uid of a consolidated item, whose Macro-Event is ``uid``.
    """

    uid: str
    strength: float
    passages: tuple[str, ...]
    part: str | None = None

    @property
    def key(self) -> str:
        """The unique key: ``part``, else ``uid``."""
        return self.part or self.uid


def by_item(anchors: Iterable[Anchor]) -> list[Anchor]:
    """Return one anchor per graph node, with the best strength of the items that it represents, in their order."""
    by_uid: dict[str, Anchor] = {}
    for anchor in anchors:
        earlier = by_uid.get(anchor.uid)
        passages = (*earlier.passages, *anchor.passages) if earlier is not None else anchor.passages
        best = max(earlier.strength, anchor.strength) if earlier is not None else anchor.strength
        by_uid[anchor.uid] = Anchor(anchor.uid, best, passages)
    return list(by_uid.values())


@dataclass(frozen=True, slots=True)
class SpreadPath:
    """Path to an item: ``depth`` edges of ``edge_type`` from an anchor, with ``gain`` ≥ 0 of its strength."""

    uid: str
    gain: float
    depth: int
    edge_type: str
    sub_graph: SubGraph


@dataclass(slots=True)
class ReachedItems:
    """The reached items, each with its best path, and those of their nodes that were read."""

    paths: dict[str, SpreadPath] = field(default_factory=dict)
    nodes: dict[str, Node] = field(default_factory=dict)

    def add(self, path: SpreadPath) -> None:
        """Keep a path if it is the best one to its item so far."""
        earlier = self.paths.get(path.uid)
        if path.gain > 0 and (earlier is None or path.gain > earlier.gain):
            self.paths[path.uid] = path

    def add_nodes(self, nodes: Iterable[Node]) -> None:
        """Add nodes that were read."""
        self.nodes |= {node.uid: node for node in nodes}
