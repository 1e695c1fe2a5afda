"""An edit as a request: the item as its caller sent it, but for its text.

An item that is sent again is what the request says, and no more: what a line left out would be gone, and who may see
the item with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from vicw_shared.model import Label, Node, Sensitivity
from vicw_shared.model.edges import TOLD_BY
from vicw_shared.model.knowledge import page_uid
from vicw_shared.ports import Direction, GraphStore
from vicw_sleep.mirror.atoms import Atom

_ABOUT, _STATED_BY, _USER = "ABOUT", "STATED_BY", "user"
_MOST = 1000


@dataclass(frozen=True, slots=True)
class Proposal:
    """What ``vicw ingest`` takes to store an edit; without ``fields`` it cannot be, and ``problem`` says why."""

    fields: Mapping[str, object] = field(default_factory=dict)
    problem: str = ""


async def proposal_of(graph: GraphStore, atom: Atom, text: str) -> Proposal:
    """Return the request that gives an item another text. What its caller's ``extraction`` told is not in it."""
    item = atom.item
    if item.source_id is None:
        return Proposal(problem="has no id of its caller's, so it cannot be updated")
    if not text.strip():
        return Proposal(problem="has no text any more: `vicw retract` takes an item back")
    page = page_uid(item.tenant, item.context, item.source_id)
    if any(node.retired_at is None for node in (await graph.nodes(item.tenant, [page])).values()):
        return Proposal(problem="is a file of a knowledge folder: edit it there")
    spreads = [(_ABOUT, Direction.OUT), (_STATED_BY, Direction.OUT)]
    found = await graph.expand(item.tenant, [item.uid], spreads, _MOST)
    own = [one for one in found if TOLD_BY not in one.edge.properties]
    about = sorted({one.node.uid for one in own if one.edge.type == _ABOUT})
    users = sorted({one.node.name for one in own if one.edge.type == _STATED_BY and one.node.subtype == _USER})
    told = {"about": about or None, "user": users[0] if users else None, **_told(item)}
    fields = {name: value for name, value in sorted(told.items()) if value is not None}
    place = {"context": item.context, "domain": item.domain, "id": item.source_id, "text": text}
    return Proposal(place | fields)


def _told(item: Node) -> dict[str, object]:
    """Return what a caller says of an item, as far as its node has it."""
    return {
        "name": item.title,
        "subtype": item.subtype,
        "speaker": item.speaker,
        "timestamp": _written(item.timestamp) if item.label is Label.EVENT and not item.timestamp_inferred else None,
        "flow_id": item.flow_id,
        "flow_step": item.own_step,
        "tags": list(item.tags) or None,
        "bucket": item.bucket,
        "source": item.source,
        "metadata": dict(item.metadata) or None,
        "sensitivity": item.sensitivity.value if item.sensitivity is not Sensitivity.PUBLIC else None,
        "importance": item.importance,
        "portable": None if item.portable else False,
        "protected": item.protected or None,
        "trigger_phrases": list(item.trigger_phrases) or None,
        "expires_at": _written(item.expires_at),
    }


def _written(at: datetime | None) -> str | None:
    return at.isoformat().replace("+00:00", "Z") if at is not None else None
