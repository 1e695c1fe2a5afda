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

    question: Literal["walk", "history", "flow"] = "walk"
    types: Names = None
    direction: Literal["in", "out", "both"] = "both"
    hops: int = 1
    style: Style = DEFAULT

    def ask(
        self,
        client: VicwClient,
        node: str | None,
        flow: str | None,
        hops: int | None,
        types: Names,
        exclude: Names,
        fields: Mapping[str, Any],
    ) -> GraphAnswer:
        """Query the server; given arguments override the preset. Raises VicwClientError."""
        if self.question == "flow":
            return client.graph.flow(flow=flow, **fields)
        if self.question == "history":
            return client.graph.history(**({"node": node} if node is not None else {}), **fields)
        return self.walk(client, hops, types, exclude, {"start": (node,) if node is not None else (), **fields})

    def walk(
        self, client: VicwClient, hops: int | None, types: Names, exclude: Names, fields: Mapping[str, Any]
    ) -> GraphAnswer:
        """Query a walk; ``fields`` have its start. Raises VicwClientError."""
        followed: dict[str, Names] = {"include": types or self.types, "exclude": exclude}
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
    "flow": Preset("flow"),
    "people": Preset(types=("HAS_RELATIONSHIP", "IS_PERSON"), hops=2, style=Style(lonely=False)),
    "history": Preset("history", style=Style(lonely=False)),
    "knowledge": Preset(types=_KNOWLEDGE, hops=2, style=Style(lonely=False)),
}
"""The presets by the names of their options; ``around`` is the default."""
