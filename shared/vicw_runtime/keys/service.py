"""Use cases of making and revoking API keys, which the record of changes of the key's tenant has."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from vicw_core.changes import ChangeKind, record_change_now
from vicw_shared.clock import now
from vicw_shared.model.keys import ApiKey, Right, mint
from vicw_shared.ports import KeyRing, Store


@dataclass(frozen=True, slots=True)
class KeyPorts:
    """Where keys are, and the graph that has the record of changes."""

    ring: KeyRing
    graph: Store


async def make_key(
    ports: KeyPorts, tenant: str, rights: tuple[Right, ...], note: str, *, key: str | None
) -> tuple[ApiKey, str]:
    """Store a new key, and return it and its token. ``key``: the id of the caller's own.

    It is recorded before it is stored: were that to fail after it, a key would be in use that nobody was told.
    """
    made, token = mint(tenant, rights, now(), note)
    await record_change_now(ports.graph, tenant, ChangeKind.MAKE_KEY, key=key)
    await ports.ring.add(made)
    return made, token


async def revoke_key(ports: KeyPorts, revoked: ApiKey, *, key: str | None) -> datetime | None:
    """Revoke a key as ``key``, the id of the caller's own; return when, None if another has just done it.

    It is recorded afterwards: a key that must go goes, also while the graph takes no writes.
    """
    at = now()
    if not await ports.ring.revoke(revoked.id, at):
        return None
    await record_change_now(ports.graph, revoked.tenant, ChangeKind.REVOKE_KEY, key=key)
    return at
