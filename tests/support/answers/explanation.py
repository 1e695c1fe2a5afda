"""An answer with what each result gained by what: the settings of one question, the others as they are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from support.stores.memory import PATIENT_MS, Memory
from vicw_retrieval.pipeline import retrieve
from vicw_shared.settings import RetrievalSettings
from vicw_shared.wire.retrieve import Result, RetrieveRequest, RetrieveResponse

NO_SPREADS = {
    "title_match": False,
    "neighbour_lift": False,
    "entity_hops": 0,
    "people_match": False,
    "speaker_boost": False,
    "graph_weight": 0.0,
    "current_first": False,
}
"""All that moves a result after the first wave, switched off."""
PATIENT = dict.fromkeys(("spread_ms", "channel_ms", "graph_ms"), PATIENT_MS)


@dataclass(frozen=True)
class Explained:
    """An answer by the callers' ids."""

    response: RetrieveResponse

    @cached_property
    def results(self) -> dict[str | None, Result]:
        """The results."""
        return {result.id: result for result in self.response.results}

    def gains(self, by: str) -> dict[str | None, float]:
        """Return what each result gained that gained anything by a mechanism, as ``explain`` names it."""
        assert self.response.explain is not None
        boosts = self.response.explain.boosts
        return {uid: boosts[one.uid][by] for uid, one in self.results.items() if by in boosts.get(one.uid, {})}


async def explained(memory: Memory, query: str, settings: dict[str, Any] | None = None, **fields: Any) -> Explained:
    """Ask with the spreads switched off but those that ``settings`` switch on."""
    read = RetrievalSettings.model_validate(NO_SPREADS | PATIENT | (settings or {}))
    request = RetrieveRequest.model_validate({"query": query, "limit": 200, "explain": True} | fields)
    ports = replace(memory.standalone.retrieval_ports(), settings=read)
    return Explained(await retrieve(request, memory.tenant, ports))
