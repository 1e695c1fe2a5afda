"""What every KeyRing must do."""

from __future__ import annotations

from datetime import timedelta

from support.stores.graph_records import AT
from vicw_shared.model.keys import Right, mint
from vicw_shared.ports import KeyRing


async def test_stored_keys_are_returned_unchanged_oldest_first(key_ring: KeyRing) -> None:
    assert await key_ring.keys() == []
    later, _ = mint("u", (Right.ADMIN,), AT + timedelta(days=1))
    first, _ = mint("t \U0001f98a`'\"", (Right.RETRIEVE, Right.INGEST), AT, "for {tests}")
    for key in (later, first):
        await key_ring.add(key)
    assert await key_ring.keys() == [first, later]
    assert await key_ring.key(first.id) == first
    assert await key_ring.key(first.id[:-1]) is None
    assert await key_ring.key("") is None


async def test_a_key_is_revoked_once_and_stays_listed(key_ring: KeyRing) -> None:
    key, _ = mint("t", (Right.INGEST,), AT)
    other, _ = mint("t", (Right.INGEST,), AT + timedelta(seconds=1))
    for one in (key, other):
        await key_ring.add(one)
    assert await key_ring.revoke(key.id, AT)
    assert not await key_ring.revoke(key.id, AT)
    assert not await key_ring.revoke("nobody", AT)
    assert [one.revoked_at for one in await key_ring.keys()] == [AT, None]
