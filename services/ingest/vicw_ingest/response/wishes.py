"""Wishes to forget: what an item that asks for it may mean. Nothing is forgotten by a wish: the caller decides."""

from __future__ import annotations

from collections.abc import Sequence

import structlog

from vicw_core.language.statement_words import subject_terms, wish_to_forget
from vicw_shared.clock import now
from vicw_shared.errors import RetryableError
from vicw_shared.model import Node
from vicw_shared.ports import GraphStore, Scope
from vicw_shared.text import fold_case
from vicw_shared.wire.ingest import ForgetWish, IngestedItem, IngestResponse, MeantItem

_log = structlog.get_logger()
_READ = 50
"""Passages that are looked at, the best by full text."""
_MEANT = 5


async def with_wishes(response: IngestResponse, tenant: str, graph: GraphStore) -> IngestResponse:
    """Return the response with what each item that asks to forget something (``forget``) may mean by now.

    Items are stored already, so a failure of the graph is logged and not raised: the wishes then have no items.
    """
    if not any(item.forget for item in response.items):
        return response
    try:
        items = await _with_meant(response.items, tenant, graph)
    except RetryableError as error:
        _log.warning("what a wish to forget may mean is not known", error=error.detail)
        return response
    return response.model_copy(update={"items": tuple(items)})


async def _with_meant(items: Sequence[IngestedItem], tenant: str, graph: GraphStore) -> list[IngestedItem]:
    nodes = await graph.nodes(tenant, [item.uid for item in items if item.forget])
    begins = await graph.texts(tenant, [node.qdrant_id for node in nodes.values() if node.qdrant_id])
    filled = []
    for item in items:
        node = nodes.get(item.uid) if item.forget else None
        wish = wish_to_forget(begins.get(node.qdrant_id or "", "")) if node is not None else None
        if node is not None and wish is not None:
            wished = ForgetWish(may_mean=await _meant(wish, node, tenant, graph))
            filled.append(item.model_copy(update={"forget": wished}))
        else:
            filled.append(item)
    return filled


async def _meant(wish: str, stored: Node, tenant: str, graph: GraphStore) -> tuple[MeantItem, ...]:
    """Return the items of the same speaker and context that a wish may mean, best first: told before, of its words."""
    terms = subject_terms(wish)
    if not terms:
        return ()
    scope = Scope(tenant=tenant, now=now(), contexts=(stored.context,))
    passages = [hit.uid for hit in await graph.find(scope, wish, _READ)]
    owners = await graph.owners(tenant, passages)
    texts = await graph.texts(tenant, list(owners))
    meant: dict[str, None] = {}
    for passage in passages:
        owner, text = owners.get(passage), texts.get(passage, "")
        if (
            owner is None
            or owner.key == stored.uid
            or fold_case(owner.speaker or "") != fold_case(stored.speaker or "")
        ):
            continue
        is_before = stored.timestamp is None or owner.timestamp is None or owner.timestamp <= stored.timestamp
        if is_before and wish_to_forget(text) is None and not terms.isdisjoint(subject_terms(text)):
            meant[owner.key] = None
    nodes = await graph.nodes(tenant, list(meant)[:_MEANT]) if meant else {}
    return tuple(MeantItem(uid=uid, id=nodes[uid].source_id) for uid in list(meant)[:_MEANT] if uid in nodes)
