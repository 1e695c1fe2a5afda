"""``POST /graph/…``: direct traversal of the graph.

Every request has a start and a viewer; every answer is a sub-graph.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from vicw_shared.wire.base import Id, Message, Prose, StrictBool, StrictInt, Timestamp, Unit, example
from vicw_shared.wire.examples import graph, story
from vicw_shared.wire.retrieve import GraphEdge, GraphNode
from vicw_shared.wire.viewer import Viewer

DEFAULT_EXCLUDED = ("BELONGS_TO", "EVIDENCED_BY", "HAPPENED_AFTER", "SUPERSEDES")
"""Types that a walk follows only on request: they join almost all nodes, or lead to the past."""

_START = "Where to begin: a uid, an id of yours, or a name; an ambiguous name is refused with the possible nodes"
_Limit = Annotated[StrictInt, Field(ge=1)]


class GraphQuestion(Message):
    """Common fields of all graph requests: viewer, context, point in time."""

    context: Id | None = Field(None, description="See one context only; null: every context the caller may see")
    viewer: Viewer | None = None
    as_of: Timestamp | None = Field(None, description="What was true then")
    known_at: Timestamp | None = Field(None, description="What was known then")
    query_time: Timestamp | None = Field(None, description="The asker's now; default: the server's")
    limit: _Limit = Field(50, description="Maximum number of nodes")


class NodeQuestion(GraphQuestion):
    """A graph request about one node."""

    model_config = example({"node": "Ana", "context": story.NOVEL})

    node: Id = Field(description=_START)


class HistoryRequest(GraphQuestion):
    """History of replacements: of a node, or without one of a whole context."""

    model_config = example({"node": story.OLD_HOME, "context": story.NOVEL})

    node: Id | None = Field(None, description=f"{_START}; null: all of a context")


class FindRequest(GraphQuestion):
    """Nodes with a name or an id; with neither, the named nodes of a context."""

    model_config = example({"name": "Mara", "context": story.NOVEL})

    name: Id | None = Field(None, description="A uid, an id of yours, or a name, in any casing; null: all of a context")
    subtype: Id | None = Field(None, description='Only these: "person", "file", "tag", …')


class FlowRequest(GraphQuestion):
    """One flow, in the order of its NEXT chain."""

    model_config = example({"flow": story.CHAPTER, "context": story.NOVEL})

    flow: Id


class Types(Message):
    """Edge types that a walk follows."""

    include: tuple[Id, ...] | None = Field(None, description="Only these types; null: all except those in `exclude`")
    exclude: tuple[Id, ...] | None = Field(
        None, description=f"Types that are not followed; null: {', '.join(DEFAULT_EXCLUDED)}, except those in `include`"
    )


class WalkRequest(GraphQuestion):
    """Walk through the graph: all nodes within some hops of the start, breadth first."""

    model_config = example(
        {"start": [story.BETRAYAL], "context": story.NOVEL, "hops": 2, "types": {"include": ["CAUSED", "INITIATED"]}}
    )

    start: tuple[Id, ...] = Field(
        (), description=f"{_START}. Empty: all nodes of `context` with an edge of the followed types"
    )
    query: Prose | None = Field(
        None,
        description="Further starts: items with a trigger phrase in this text; without any, items with its words",
    )
    hops: Annotated[StrictInt, Field(ge=0)] = 2
    direction: Literal["out", "in", "both"] = Field("both", description="Direction in which edges are followed")
    types: Types = Types()
    min_weight: Unit = Field(0.0, description="Minimum weight of an edge that is followed")
    statements: StrictBool = Field(False, description="Also statements that only mention something, as their item does")


class WalkedNode(GraphNode):
    """A node of a walk."""

    hops: int = Field(description="Hops from the start of the walk; a merged entity is as near as its canonical entity")
    path: tuple[str, ...] = Field(
        (),
        description="Ids of the edges from the start of the walk to it; none between an item and an event that its "
        "text states",
    )
    source_item: str | None = Field(None, description="Uid of the item whose text states this event")
    speaker: str | None = None
    source: str | None = None
    flow_id: str | None = None
    retired_at: Timestamp | None = Field(None, description="When it was retired")
    valid_to: Timestamp | None = Field(None, description="When it stopped being true")


class GraphAnswer(Message):
    """A sub-graph, with only those nodes and edges that the viewer may see."""

    model_config = example(graph.WALK)

    start: tuple[str, ...] = Field(description="Uids of the nodes where it begins")
    nodes: tuple[WalkedNode, ...] = Field(description="In the order that the question asks for, else the nearest first")
    edges: tuple[GraphEdge, ...] = ()
    complete: bool = Field(True, description="False if a higher limit would return more")
    took_ms: dict[str, float] = Field(default_factory=dict)
