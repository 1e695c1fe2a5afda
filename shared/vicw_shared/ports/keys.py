"""The port to the API keys."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from vicw_shared.model.keys import ApiKey


class KeyRing(Protocol):
    """Keeps the keys of all tenants. Revoked ones stay, so that a list tells what became of them."""

    async def add(self, key: ApiKey) -> None:
        """Keep a new key."""
        ...

    async def key(self, key_id: str) -> ApiKey | None:
        """Return the key called ``key_id``, revoked or not, or None."""
        ...

    async def keys(self) -> list[ApiKey]:
        """Return all keys, the oldest first."""
        ...

    async def revoke(self, key_id: str, at: datetime) -> bool:
        """Make a key worthless; return False if there is none that holds."""
        ...
