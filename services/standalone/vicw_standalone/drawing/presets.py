"""Presets of ``vicw graph show``: endpoint, edge types, direction and depth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from vicw_client import VicwClient
from vicw_shared.wire.graph import GraphAnswer
from vicw_standalone.drawing.picture import DEFAULT, Style

type Names = tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Preset:
    """A preset; ``question`` is the endpoint. ``types`` None: all but those that a walk omits by default."""

    question: Literal["walk", "history", "thread"] = "walk"
    types: Names = None
    direction: Literal["in", "out", "both"] = "both"
    hops: int = 1
    style: Style = DEFAULT

    def ask(
        self,
        client: VicwClient,
        node: str | None,
        thread: str | None,
        hops: int | None,
        types: Names,
        left_out: Names,
        fields: Mapping[str, Any],
    ) -> GraphAnswer:
        """Query the server; given arguments override the preset. Raises VicwClientError."""
        if self.question == "thread":
            return client.graph.thread(flow=thread, **fields)
        if self.question == "history":
            return client.graph.history(**({"node": node} if node is not None else {}), **fields)
        return self.walk(client, hops, types, left_out, {"start": (node,) if node is not None else (), **fields})

    def walk(
        self, client: VicwClient, hops: int | None, types: Names, left_out: Names, fields: Mapping[str, Any]
    ) -> GraphAnswer:
        """Query a walk; ``fields`` have its start. Raises VicwClientError."""
        followed: dict[str, Names] = {"only": types or self.types, "left_out": left_out}
        return client.graph.walk(
            hops=self.hops if hops is None else hops,
            direction=self.direction,
            types={name: value for name, value in followed.items() if value is not None},
            **fields,
        )


_KNOWLEDGE = (
    "CONTAINS",
    "LINKS_TO",
    "REFERENCES",
    "DEPENDS_ON",
    "HAS_ENTRYPOINT",
    "HAS_INDEX",
    "DESCRIBES",
    "IMPLEMENTS",
    "GOVERNS",
)
PRESETS: Mapping[str, Preset] = {
    "around": Preset(),
    "causes": Preset(types=("CAUSED", "ENABLED"), direction="in", hops=6, style=Style(lonely=False)),
    "thread": Preset("thread"),
    "people": Preset(types=("HAS_RELATIONSHIP", "IS_PERSON"), hops=2, style=Style(lonely=False)),
    "history": Preset("history", style=Style(lonely=False)),
    "knowledge": Preset(types=_KNOWLEDGE, hops=2, style=Style(lonely=False)),
}
"""The presets by the names of their options; ``around`` is the default."""
