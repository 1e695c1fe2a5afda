"""The files of the embedded stores."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from vicw_standalone.index_engines.edge import IndexFolders
from vicw_stores.sqlite import SqliteGraphStore


@dataclass(frozen=True, slots=True)
class EmbeddedFiles:
    """EngineFiles of open embedded stores."""

    data_dir: Path
    graph: SqliteGraphStore
    folders: IndexFolders

    async def rewrite(self) -> None:
        """Write the indexes of all models and the graph's file anew."""
        await self.folders.rewrite()
        await self.graph.erasures.scrub()
