"""In-process vector store: Qdrant Edge."""

from vicw_stores.edge.store import EdgeVectorStore

__all__ = ["EdgeVectorStore"]
