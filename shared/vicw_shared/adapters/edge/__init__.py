"""The vector store in this process: Qdrant Edge."""

from vicw_shared.adapters.edge.store import EdgeVectorStore

__all__ = ["EdgeVectorStore"]
