"""Statements on webhooks, which are records of the store."""

from __future__ import annotations

from vicw_stores.neo4j.cypher.parts import locked, seek

_ALL = f"MATCH (h:Entity) {seek('h', 'Entity', 'record')} WHERE h.record STARTS WITH $prefix"
_ONE = f"MATCH (h:Entity) {seek('h', 'Entity', 'record')} WHERE h.record = $record"
_HOOK = "RETURN h{.hook_id, .hook_of, .revision, .body} AS hook"

IDS = f"{_ALL} RETURN h.hook_id AS id ORDER BY id"
HOOK = f"{_ONE} {_HOOK}"
OF_TENANT = f"{_ALL} AND h.hook_of = $tenant {_HOOK} ORDER BY hook.hook_id"
ADD = (
    "MERGE (h:Entity {record: $record}) ON CREATE SET h.subtype = 'webhook', h.hook_id = $id, h.hook_of = $tenant, "
    f"h.revision = 0 {locked('h')} WITH h WHERE h.revision = 0 SET h.revision = 1, h.body = $body "
    "RETURN count(h) AS count"
)
REPLACE = (
    f"{_ONE} AND h.hook_of = $tenant {locked('h')} WITH h WHERE h.revision = $revision "
    "SET h.revision = h.revision + 1, h.body = $body RETURN count(h) AS count"
)
REMOVE = f"{_ONE} AND h.hook_of = $tenant DELETE h RETURN count(*) AS count"
