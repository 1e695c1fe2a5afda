"""Settings of the platform's engines. Imports none of their clients, since the clock imports this module, too."""

from __future__ import annotations

from dataclasses import dataclass, field

from vicw_shared.errors import SettingsError
from vicw_shared.settings import EmbeddingSettings, Neo4jSettings, QdrantSettings, ReindexSettings, StorageSettings


@dataclass(frozen=True, slots=True)
class PlatformSettings:
    """Settings of the engines. ``graph_seconds`` bounds every graph operation once the graph is open."""

    neo4j: Neo4jSettings
    qdrant: QdrantSettings
    embedding: EmbeddingSettings
    reindex: ReindexSettings = field(default_factory=ReindexSettings)
    graph_seconds: float | None = None

    @classmethod
    def read(cls) -> PlatformSettings:
        """Read the environment. Raises SettingsError if it selects a store without vectors."""
        if StorageSettings().embedder == "none":
            raise SettingsError(
                "VICW_EMBEDDER is none, which is for `vicw serve`: the platform's services do not work without "
                "vectors. Unset it, and name the embedding server in VICW_EMBEDDING_URL"
            )
        return cls(Neo4jSettings(), QdrantSettings(), EmbeddingSettings(), ReindexSettings())
