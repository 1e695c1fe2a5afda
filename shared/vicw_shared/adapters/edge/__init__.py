"""In-process vector store: Qdrant Edge."""

from vicw_shared.adapters.edge.store import EdgeVectorStore

__all__ = ["EdgeVectorStore"]
