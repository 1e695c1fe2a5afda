"""The vector store on a Qdrant server, for any number of processes at once."""

from vicw_shared.adapters.qdrant.client import connect
from vicw_shared.adapters.qdrant.collections import QdrantCollections, VectorCollection
from vicw_shared.adapters.qdrant.store import QdrantVectorStore

__all__ = ["QdrantCollections", "QdrantVectorStore", "VectorCollection", "connect"]
