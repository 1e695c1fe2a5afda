"""API key port."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from vicw_shared.model.keys import ApiKey


class KeyRing(Protocol):
    """API keys of all tenants. Revoked keys stay, so that a list shows their history."""

    async def add(self, key: ApiKey) -> None:
        """Store a new key."""
        ...

    async def key(self, key_id: str) -> ApiKey | None:
        """Return the key with this id, revoked or not, or None."""
        ...

    async def keys(self) -> list[ApiKey]:
        """Return all keys, the oldest first."""
        ...

    async def revoke(self, key_id: str, at: datetime) -> bool:
        """Revoke a key; return False if there is no valid key with this id."""
        ...
