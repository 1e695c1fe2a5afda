"""Wishes to forget: what an item that asks for it may mean. Nothing is forgotten by a wish: the caller decides."""

from __future__ import annotations

import structlog

from vicw_core.language.statement_words import subject_terms, wish_to_forget
from vicw_shared.clock import now
from vicw_shared.errors import RetryableError
from vicw_shared.ports import GraphStore, Scope
from vicw_shared.text import fold_case
from vicw_shared.wire.ingest import ForgetWish, IngestedItem, IngestRequest, IngestResponse, Item, MeantItem

_log = structlog.get_logger()
_READ = 50
"""Passages that are looked at, the best by full text."""
_MEANT = 5


async def with_wishes(
    response: IngestResponse, request: IngestRequest, tenant: str, graph: GraphStore
) -> IngestResponse:
    """Return the response with what each item that asks to forget something may mean.

    Items are stored already, so a failure of the graph is logged and not raised: the wishes then have no items.
    """
    wishes = {n: wish for n, item in enumerate(request.items) if (wish := wish_to_forget(item.text)) is not None}
    if not wishes:
        return response
    items = list(response.items)
    for n, wish in wishes.items():
        meant: tuple[MeantItem, ...] = ()
        try:
            meant = await _meant(wish, request.items[n], items[n], request.context, tenant, graph)
        except RetryableError as error:
            _log.warning("what a wish to forget may mean is not known", error=error.detail)
        items[n] = items[n].model_copy(update={"forget": ForgetWish(may_mean=meant)})
    return response.model_copy(update={"items": tuple(items)})


async def _meant(
    wish: str, item: Item, stored: IngestedItem, context: str, tenant: str, graph: GraphStore
) -> tuple[MeantItem, ...]:
    """Return the items of the same speaker and context that a wish may mean, best first: told before, of its words."""
    terms = subject_terms(wish)
    if not terms:
        return ()
    scope = Scope(tenant=tenant, now=now(), contexts=(context,))
    passages = [hit.uid for hit in await graph.find(scope, wish, _READ)]
    owners = await graph.owners(tenant, passages)
    texts = await graph.texts(tenant, list(owners))
    meant: dict[str, None] = {}
    for passage in passages:
        owner, text = owners.get(passage), texts.get(passage, "")
        if owner is None or owner.key == stored.uid or fold_case(owner.speaker or "") != fold_case(item.speaker or ""):
            continue
        is_before = item.timestamp is None or owner.timestamp is None or owner.timestamp <= item.timestamp
        if is_before and wish_to_forget(text) is None and not terms.isdisjoint(subject_terms(text)):
            meant[owner.key] = None
    nodes = await graph.nodes(tenant, list(meant)[:_MEANT]) if meant else {}
    return tuple(MeantItem(uid=uid, id=nodes[uid].source_id) for uid in list(meant)[:_MEANT] if uid in nodes)
