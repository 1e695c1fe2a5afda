"""Statements on pending extractions: the store's own records, one per item.

``unread_due`` is the time from which an item may be claimed: the end of the lease while it is claimed. A dead item has
none.
"""

from __future__ import annotations

from functools import cache

from vicw_stores.neo4j.cypher.parts import ITEM, NOW, locked, seek

_BY_RECORD = seek("u", "Entity", "record")
_BY_DUE = seek("u", "Entity", "unread_of, unread_due")
_BY_TRIES = seek("u", "Entity", "unread_tries")
_COLUMNS = (
    "u.unread_item AS item, u.unread_tenant AS tenant, u.unread_context AS context, "
    "coalesce(u.unread_tries, 0) AS tries"
)
_RECORD = f"MATCH (u:Entity) {_BY_RECORD} WHERE u.record = $record AND u.unread_item IS NOT NULL {locked('u')}"

PUT = (
    "UNWIND $rows AS row MERGE (u:Entity {record: row.record}) "
    "SET u.subtype = 'unread', u.unread_item = row.item, u.unread_tenant = $tenant, u.unread_of = $tenant_key, "
    f"u.unread_context = $context, u.unread_due = {NOW} - (size($rows) - row.ordinal) "
    "REMOVE u.unread_tries, u.unread_error, u.unread_failed_at"
)
"""The ordinal keeps the items of one transaction in order, since the clock has only milliseconds."""

DEQUEUE = f"{_RECORD} WITH u WHERE u.unread_tenant = $tenant DELETE u RETURN count(*) AS count"

DROP = f"{_RECORD} DELETE u"

LOCK_CLAIMS = (
    "MERGE (o:Entity {record: 'unread'}) ON CREATE SET o.subtype = 'outbox' "
    f"{locked('o')} RETURN o.turn AS turn, {NOW} AS now"
)
"""Serialises claims."""

SET_LAST_TENANT = "MATCH (o:Entity) WHERE o.record = 'unread' SET o.turn = $turn"

NEXT_TENANT = (
    f"MATCH (u:Entity) {_BY_DUE} WHERE u.unread_of > $turn AND u.unread_due <= $now "
    "RETURN u.unread_of AS tenant ORDER BY u.unread_of LIMIT 1"
)

_CLAIM = f"{locked('u')} WITH u WHERE u.unread_due <= $now SET u.unread_due = $until RETURN {_COLUMNS}"

CLAIM = (
    f"MATCH (u:Entity) {_BY_DUE} WHERE u.unread_of = $tenant AND u.unread_due <= $now "
    f"WITH u ORDER BY u.unread_of, u.unread_due LIMIT $limit {_CLAIM}"
)

CLAIM_ITEMS = (
    f"MATCH (u:Entity) {_BY_RECORD} WHERE u.record IN $records AND u.unread_due <= $now "
    f"WITH u ORDER BY u.unread_due LIMIT $limit {_CLAIM}"
)

RENEW = f"{_RECORD} WITH u WHERE u.unread_due IS NOT NULL SET u.unread_due = {NOW} + $rest"

POSTPONE = (
    f"{_RECORD} WITH u, {NOW} AS now "
    "SET u.unread_due = now + $rest, u.unread_error = coalesce($error, u.unread_error), "
    "u.unread_tries = CASE WHEN $error IS NULL THEN u.unread_tries ELSE coalesce(u.unread_tries, 0) + 1 END, "
    "u.unread_failed_at = CASE WHEN $error IS NULL THEN u.unread_failed_at ELSE coalesce(u.unread_failed_at, now) END"
)

FIND = (
    f"MATCH (u:Entity) {_BY_RECORD} WHERE u.record IN $records AND u.unread_tenant = $tenant "
    f"RETURN {_COLUMNS}, u.unread_due IS NULL AS dead"
)


@cache
def failures(*, of_tenant: bool) -> str:
    """Return failed items, most tries first."""
    return (
        f"MATCH (u:Entity) {_BY_TRIES} WHERE u.unread_tries > 0{_tenant_filter(of_tenant)} "
        "WITH u ORDER BY u.unread_tries DESC, u.record LIMIT $limit "
        f"OPTIONAL MATCH (i:{ITEM}) WHERE i.uid = u.unread_item "
        "RETURN u.unread_item AS point_id, u.unread_tenant AS tenant, u.unread_context AS context, "
        "u.unread_item AS item, i.source_id AS source_id, u.unread_tries AS tries, "
        "coalesce(u.unread_error, '') AS error, u.unread_failed_at AS since, u.unread_due IS NULL AS dead "
        "ORDER BY tries DESC, u.record"
    )


@cache
def replay(*, of_items: bool, of_tenant: bool) -> str:
    """Make failed items due and reset their failures."""
    match = (
        f"{_BY_RECORD} WHERE u.record IN $records AND u.unread_tries > 0"
        if of_items
        else f"{_BY_TRIES} WHERE u.unread_tries > 0"
    )
    return (
        f"MATCH (u:Entity) {match}{_tenant_filter(of_tenant)} {locked('u')} "
        f"SET u.unread_due = {NOW} REMOVE u.unread_tries, u.unread_error, u.unread_failed_at RETURN count(u) AS count"
    )


@cache
def backlog(*, of_tenant: bool) -> str:
    """Return the number of waiting items, of failed ones among them, and of dead ones."""
    scope = "u.unread_of = $tenant_key" if of_tenant else "u.unread_of > ''"
    return (
        f"CALL () {{ MATCH (u:Entity) {_BY_DUE} WHERE {scope} AND u.unread_due IS NOT NULL "
        "RETURN count(u) AS waiting } "
        f"CALL () {{ MATCH (u:Entity) {_BY_TRIES} WHERE u.unread_tries > 0 AND {scope} "
        "RETURN count(u.unread_due) AS failing, count(u) - count(u.unread_due) AS dead } RETURN waiting, failing, dead"
    )


def _tenant_filter(of_tenant: bool) -> str:
    return " AND u.unread_tenant = $tenant" if of_tenant else ""
