"""Builds the retrieval service over the platform's engines."""

from __future__ import annotations

from dataclasses import replace

from vicw_retrieval.outage import Outage
from vicw_retrieval.search import RetrievalPorts
from vicw_retrieval.settings import Settings
from vicw_shared.platform.engines import PlatformSettings
from vicw_shared.platform.wiring import PlatformWiring


class Wiring(PlatformWiring):
    """The open engines, and what the read path works with."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(_patient(settings))
        self.settings = settings
        self._outage = Outage()

    @property
    def ports(self) -> RetrievalPorts:
        """What a request works with from its beginning to its end."""
        index = self.engines.indexes.reading
        return RetrievalPorts(
            self.engines.graph,
            index.vectors,
            index.embedder,
            index.query_prefix,
            self.settings.limits,
            self.settings.retrieval,
            self._outage,
        )


def _patient(settings: Settings) -> PlatformSettings:
    """Return the engines' settings with no more patience for the graph than a question has."""
    platform, seconds = settings.platform, settings.retrieval.graph_ms / 1000
    neo4j = platform.neo4j
    most = {name: min(getattr(neo4j, name), seconds) for name in ("acquire_seconds", "query_seconds", "retry_seconds")}
    return replace(platform, neo4j=neo4j.model_copy(update=most))
