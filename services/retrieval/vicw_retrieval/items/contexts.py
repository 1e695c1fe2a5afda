"""Use case of listing contexts with what each holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from vicw_core.page_cursor import fingerprint_of, read_cursor, write_cursor
from vicw_retrieval.items.service import viewer_scope
from vicw_retrieval.ports import RetrievalPorts
from vicw_shared.ports import ContextPart, NamePage
from vicw_shared.wire.items import ContextPage, ContextsQuery, ContextSummary


async def list_contexts(query: ContextsQuery, tenant: str, ports: RetrievalPorts) -> ContextPage:
    """Return a page of the contexts with an item that the viewer may see.

    Raises InvalidInputError for an ``after`` of another request, UnavailableError while the graph is down.
    """
    fingerprint = fingerprint_of(tenant, "contexts", query.model_dump(mode="json"), {"after", "limit"})
    after = str(read_cursor(query.after, fingerprint, 1, "after")[0]) if query.after is not None else None
    wanted = NamePage(prefix=query.prefix or "", after=after, limit=query.limit + 1)
    parts = await ports.graph.context_parts(await viewer_scope(query, tenant, ports, None), page=wanted)
    found = [_summary(name, list(group)) for name, group in groupby(parts, key=lambda part: part.context)]
    page = found[: query.limit]
    following = write_cursor((page[-1].context,), fingerprint) if len(found) > len(page) else None
    return ContextPage(contexts=tuple(page), next=following)


def _summary(context: str, parts: Sequence[ContextPart]) -> ContextSummary:
    labels: Counter[str] = Counter()
    domains: Counter[str] = Counter()
    for part in parts:
        labels[part.label.value] += part.items
        domains[part.domain] += part.items
    return ContextSummary(
        context=context,
        items=labels.total(),
        labels=dict(labels),
        domains=dict(domains),
        first=min(part.first for part in parts),
        last=max(part.last for part in parts),
        passages=sum(part.passages for part in parts),
        chars=sum(part.chars for part in parts),
    )
