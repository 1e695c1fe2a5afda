"""``python -m support.processes.celery_local_qdrant ARGUMENTS``: ``celery`` over qdrant-client's local mode."""

from __future__ import annotations

from functools import cache

from celery.__main__ import main
from qdrant_client import AsyncQdrantClient

from support.stores.qdrant import open_client
from vicw_runtime.platform import engines
from vicw_shared.settings import QdrantSettings


@cache
def _client() -> AsyncQdrantClient:
    """One a process, made in it: what one client of the local mode has written, no other sees."""
    return open_client(None)


def connect(_: QdrantSettings) -> AsyncQdrantClient:
    """Stand in for the connection of the wiring."""
    return _client()


def reset_connection() -> None:
    """Let the next connection be a new one: whoever had the last has closed it."""
    _client.cache_clear()


setattr(engines, connect.__name__, connect)

if __name__ == "__main__":
    main()
