"""Order in which a consolidation run visits Events: flow by flow, a page at a time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import astuple, dataclass
from typing import Any, cast

from vicw_shared.model import Node
from vicw_shared.model.chain import ChainKey, next_key
from vicw_shared.ports import Flow, Flows, Scans, Thread, scan_pages

_FLOWS = 100
_FLOWS_WITHIN = 10_000
"""Page size within one context: no engine keeps a context's flows in an order of their own, so each page reads it all.
"""

type ContextRef = tuple[str, str]
"""A tenant and its context."""


@dataclass(frozen=True, slots=True)
class FlowBookmark:
    """Where a run continues: in a ``flow``, after a place of its NEXT chain; None: from its beginning."""

    flow: Flow
    after: ChainKey | None = None

    @property
    def written(self) -> list[object]:
        """The JSON form that ``read`` takes."""
        return [*astuple(self.flow), *(self.after or ())]

    @classmethod
    def read(cls, written: Sequence[Any]) -> FlowBookmark:
        """Return the bookmark of its JSON form."""
        tenant, context, flow, *after = written
        return cls(Flow(tenant, context, flow), cast(ChainKey, tuple(after)) if after else None)


async def pages(
    index: Scans, start: FlowBookmark | None, within: ContextRef | None, size: int
) -> AsyncIterator[tuple[FlowBookmark, list[Node]]]:
    """Yield live Events after ``start``, of all flows or those ``within`` a context, and where each page begins.

    ``size`` is the number of Events of a flow per page.
    """
    if start is not None:
        async for page in _of_flow(index, start, size):
            yield page
    after = start.flow if start is not None else None
    async for flows in scan_pages(index, Flows(within), after=after, limit=_FLOWS if within is None else _FLOWS_WITHIN):
        for flow in flows:
            async for page in _of_flow(index, FlowBookmark(flow), size):
                yield page


async def _of_flow(index: Scans, mark: FlowBookmark, size: int) -> AsyncIterator[tuple[FlowBookmark, list[Node]]]:
    async for page in scan_pages(index, Thread(mark.flow), after=mark.after, limit=size):
        yield mark, page
        mark = FlowBookmark(mark.flow, next_key(page[-1]))
