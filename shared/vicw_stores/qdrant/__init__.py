"""Vector store on a Qdrant server, shared by any number of processes."""

from __future__ import annotations

from urllib.parse import urlsplit

from qdrant_client import AsyncQdrantClient

from vicw_shared.errors import SettingsError
from vicw_shared.settings import QdrantSettings
from vicw_stores.qdrant.collections import QdrantCollections, VectorCollection
from vicw_stores.qdrant.store import QdrantVectorStore

_DEFAULT_PORT = 6334
# By default, gRPC waits up to two minutes between attempts to connect; these values reconnect sooner to a restarted
# server. An attempt may take twenty seconds, for which calls wait; at an address that does not answer, such as that of
# a removed container, it fails within one second.
_CHANNEL = {
    "grpc.initial_reconnect_backoff_ms": 200,
    "grpc.max_reconnect_backoff_ms": 2000,
    "grpc.min_reconnect_backoff_ms": 1000,
}


def connect(settings: QdrantSettings) -> AsyncQdrantClient:
    """Return a client that uses gRPC only; it connects at its first call, in the event loop of that call.

    A call without its own timeout may take ``write_timeout_seconds``. Create it after a process has forked, never
    before. Raises SettingsError for an invalid URL.
    """
    parts = urlsplit(settings.url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.path.strip("/"):
        raise SettingsError(f"VICW_QDRANT_URL is {settings.url!r}; it has to look like http://qdrant:6334")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    key = settings.api_key.get_secret_value() if settings.api_key else None
    return AsyncQdrantClient(
        host=host,
        grpc_port=parts.port or _DEFAULT_PORT,
        https=parts.scheme == "https",
        prefer_grpc=True,
        # As a header: the client's own argument warns on every plain connection, which container networks use.
        headers={"api-key": key} if key else None,
        timeout=settings.write_timeout_seconds,
        grpc_options=dict(_CHANNEL),
        cloud_inference=True,  # saves the client's search through each request for texts to embed: there are none
        check_compatibility=False,  # it would call the REST port, which may not be reachable
    )


__all__ = ["QdrantCollections", "QdrantVectorStore", "VectorCollection", "connect"]
