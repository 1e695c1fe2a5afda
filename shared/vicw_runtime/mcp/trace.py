"""What ``trace`` asks the graph, and how it tells the answer."""

from __future__ import annotations

from typing import Any, Literal

from vicw_runtime.mcp.answers import fence, unfenced
from vicw_runtime.mcp.port import MemoryReader
from vicw_runtime.mcp.scope import named
from vicw_shared.clock import format_minute
from vicw_shared.errors import FieldProblem, InvalidInputError, MissingRecordError
from vicw_shared.text import counted, one_fact, quoted_lines, trimmed
from vicw_shared.wire.graph import (
    FlowRequest,
    GraphAnswer,
    GraphQuestion,
    HistoryRequest,
    NodeQuestion,
    WalkedNode,
    WalkRequest,
)

Show = Literal["around", "causes", "history", "thread", "about"]
_NODES = 30
_CHARS = 6000
_TEXT_CHARS = 600
_EDGES = 30
_HOPS = {"around": 1, "causes": 3}
_CAUSAL = ("CAUSED", "ENABLED")


async def trace_question(
    reader: MemoryReader, of: str, show: Show, hops: int | None, context: str | None, as_of: str | None
) -> GraphQuestion:
    """Return the question for the graph. Raises InvalidInputError for a thread of a memory that is in none."""
    common: dict[str, Any] = {"context": context, "as_of": as_of, "limit": _NODES}
    match show:
        case "history":
            return HistoryRequest.model_validate({**common, "node": of})
        case "about":
            return NodeQuestion.model_validate({**common, "node": of})
        case "thread":
            return FlowRequest.model_validate({**common, "flow": await _flow(reader, of, context)})
    walk = {**common, "start": [of], "hops": hops or _HOPS[show]}
    if show == "causes":
        walk |= {"direction": "in", "types": {"include": _CAUSAL}}
    return WalkRequest.model_validate(walk)


async def _flow(reader: MemoryReader, of: str, context: str | None) -> str:
    """Return the flow of a memory; what is no memory's address is taken for a flow."""
    try:
        item = await reader.item(of, context)
    except MissingRecordError:
        return of
    if item.flow_id is None:
        raise InvalidInputError(FieldProblem("of", "is a memory outside of any thread", "Use show=around"))
    return item.flow_id


def trace_text(found: GraphAnswer, show: str, of: str, scope: str | None) -> str:
    """Return the nodes, each quoted below its head, and the edges between them; at most 6,000 characters of them."""
    if not found.nodes:
        return f"{named(scope)} Nothing is known of {one_fact(of)!r} ({show})."
    names = {node.uid: node.id or one_fact(node.name) or node.uid for node in found.nodes}
    edges = [
        f"{names[edge.source]} -{edge.type}-> {names[edge.target]}"
        for edge in found.edges
        if edge.source in names and edge.target in names
    ]
    blocks = [*map(_block, found.nodes), *edges[:_EDGES]]
    shown: list[str] = []
    room = _CHARS
    for block in blocks:
        room -= len(block) + 1
        if room < 0:
            break
        shown.append(block)
    cut = len(shown) < len(blocks) or len(edges) > _EDGES or not found.complete
    count = f"{counted(len(found.nodes), 'node')}{', not all shown' if cut else ''}"
    head = unfenced(f"{show} of {one_fact(of)!r}: {count}.")
    return f"{head}\n{fence(scope, unfenced(chr(10).join(shown)))}"


def _block(node: WalkedNode) -> str:
    past = node.valid_to or node.retired_at
    facts = (
        node.context,
        node.subtype,
        node.name if node.text is None else "",
        node.speaker,
        format_minute(node.timestamp),
        f"until {format_minute(past)}" if past else "",
    )
    head = f"[{one_fact(node.id or node.uid)}] {' · '.join(one_fact(fact) for fact in facts if fact)}"
    if node.text is None:
        return head
    text = trimmed(node.text)
    return f"{head}\n{quoted_lines(text if len(text) <= _TEXT_CHARS else text[: _TEXT_CHARS - 1] + '…')}"
