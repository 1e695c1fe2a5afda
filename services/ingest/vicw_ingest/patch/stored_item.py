"""A stored item as its caller would send it whole: what a patch is merged into.

Most fields are the item node's own. What the graph does not hold in the caller's form (the extraction, the names of
``about``, the tier of the importance) is kept beside the first passage, and only where the caller gave it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from vicw_core.consolidation.ledger import entries_of
from vicw_core.graph.edge_factory import CALLER
from vicw_ingest.extraction.item_text import authored_commit, commit_date
from vicw_ingest.extraction.own_time import own_time
from vicw_ingest.identity.users import STATED_BY
from vicw_ingest.plan.drafts import default_subtype
from vicw_shared.errors import StateConflictError
from vicw_shared.model import Edge, Label, Node
from vicw_shared.model.core5 import GIVEN
from vicw_shared.ports import Direction, GraphTransaction
from vicw_shared.uids import chunk_uid
from vicw_shared.wire.ingest import Item, Tier

_KEPT = ("user", "about", "importance", "protected", "extraction", "page")
_ZONE = "zone"
_ENDS = ("EVIDENCED_BY", "ABOUT", STATED_BY, "DERIVED_FROM")


def kept_fields(item: Item) -> dict[str, Any]:
    """Return what is kept of an item beside its graph: fields with another value than their default, as JSON.

    ``zone`` are the minutes of its timestamp's offset, if it is not UTC.
    """
    given = item.model_dump(mode="json", include={*_KEPT}, exclude_defaults=True)
    if item.timestamp is not None and (offset := item.timestamp.utcoffset()):
        given[_ZONE] = offset // timedelta(minutes=1)
    if not isinstance(item.importance, Tier):
        given.pop("importance", None)  # the node has the number
    return given


@dataclass(frozen=True, slots=True)
class StoredItem:
    """The latest version of an item, and the item as its caller would send it whole."""

    node: Node
    item: Item


async def read_stored_item(transaction: GraphTransaction, node: Node, now: datetime) -> StoredItem:
    """Return a live or consolidated item whole; read-only.

    Raises StateConflictError for an item of an earlier version of VICW with an extraction by its caller, which is lost
    by then.
    """
    edges = await _edges_of(transaction, node)
    ends = await transaction.nodes(sorted({edge.target for edge in edges}))
    if node.is_duplicate:
        sources = [edge.target for edge in edges if edge.type == "DERIVED_FROM"]
        proofs = await transaction.edges(sources[:1], ["EVIDENCED_BY"], Direction.OUT)
        passages = list((await transaction.nodes([proof.target for proof in proofs])).values())
    else:
        passages = [ends[edge.target] for edge in edges if edge.type == "EVIDENCED_BY" and edge.target in ends]
    passages = sorted((one for one in passages if one.label is Label.CHUNK), key=lambda one: one.flow_step or 0)
    stored = passages[0].metadata.get(GIVEN) if passages and not node.is_duplicate else None
    given = stored if isinstance(stored, Mapping) else None
    if given is None or "extraction" not in given:
        await _require_no_lost_extraction(transaction, node)
    text = "".join(passage.text or "" for passage in passages)
    return StoredItem(node, _item(node, text, given or _of_edges(edges, ends), now))


async def _edges_of(transaction: GraphTransaction, node: Node) -> Sequence[Edge]:
    edges = await transaction.edges([node.uid], _ENDS, Direction.OUT)
    if edges:
        return edges
    first = await transaction.nodes([chunk_uid(node.uid, 0)])
    entry = entries_of(list(first.values())).get(node.uid)
    return [edge for edge in entry.edges if edge.source == node.uid and edge.type in _ENDS] if entry else []


async def _require_no_lost_extraction(transaction: GraphTransaction, node: Node) -> None:
    told = await transaction.edges_from_items([node.uid])
    if any(edge.created_by == CALLER and edge.type != "ABOUT" for edge in told):
        raise StateConflictError(
            "The item was stored with an extraction by a version of VICW that did not keep it: send the item whole"
        )


def _of_edges(edges: Sequence[Edge], ends: Mapping[str, Node]) -> dict[str, Any]:
    """Return the fields of an item for which nothing was kept: it has none of the others."""
    about = [edge.target for edge in edges if edge.type == "ABOUT" and edge.created_by == CALLER]
    users = [ends[edge.target].name for edge in edges if edge.type == STATED_BY and edge.target in ends]
    return {"about": about, "user": users[0] if users else None}


def _item(node: Node, text: str, given: Mapping[str, Any], now: datetime) -> Item:
    kept = {name: given[name] for name in _KEPT if name in given}
    item = Item.model_validate(
        {
            "id": node.source_id if node.source_id is not None else node.uid,
            "text": text,
            "name": node.title,
            "speaker": node.speaker,
            "flow_id": node.flow_id,
            "flow_step": node.own_step,
            "tags": node.tags,
            "bucket": node.bucket,
            "source": node.source,
            "metadata": node.metadata,
            "sensitivity": node.sensitivity,
            "portable": node.portable,
            "importance": node.importance,
            "protected": node.protected and "importance" not in given,
            "trigger_phrases": node.trigger_phrases,
            "expires_at": node.expires_at,
            **kept,
        }
    )
    if node.timestamp is not None and not node.timestamp_inferred and not _gives_itself(item, node.timestamp, now):
        zone = timezone(timedelta(minutes=int(given.get(_ZONE, 0)))) if _ZONE in given else UTC
        item = item.model_copy(update={"timestamp": node.timestamp.astimezone(zone)})
    if node.subtype != default_subtype(item, now):
        item = item.model_copy(update={"subtype": node.subtype})
    return item.model_copy(update={"merge": True})


def _gives_itself(item: Item, timestamp: datetime, now: datetime) -> bool:
    """Return whether an item without a timestamp gives itself this one."""
    own = commit_date(authored_commit(item)) or own_time(item, now)
    return own is not None and own.astimezone(UTC) == timestamp
