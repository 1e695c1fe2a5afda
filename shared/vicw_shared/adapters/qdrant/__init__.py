"""Vector store on a Qdrant server, shared by any number of processes."""

from vicw_shared.adapters.qdrant.client import connect
from vicw_shared.adapters.qdrant.collections import QdrantCollections, VectorCollection
from vicw_shared.adapters.qdrant.store import QdrantVectorStore

__all__ = ["QdrantCollections", "QdrantVectorStore", "VectorCollection", "connect"]
