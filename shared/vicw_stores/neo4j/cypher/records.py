"""Statements on the store's own records: Entity nodes with a ``record`` instead of a uid.

No look-up of callers' data finds them: not by uid, page, chain, text or edge.
"""

from __future__ import annotations

from functools import cache

from vicw_stores.neo4j.cypher.parts import ANY, EDGE, ITEM, NOW, locked, one_of, seek

_STORE = f"MATCH (s:Entity) {seek('s', 'Entity', 'record')} WHERE s.record = 'store'"

LOCK = (
    f"MERGE (l:Entity {{record: $record}}) ON CREATE SET l.subtype = 'counter' {locked('l')} "
    "SET l.writes = coalesce(l.writes, 0) + 1"
)
"""Admits one transaction at a time, and counts them (``writes``)."""

COUNTERS = (
    f"MATCH (c:Entity) {seek('c', 'Entity', 'record')} WHERE c.record IN $records "
    "RETURN c.record AS record, c.value AS value"
)

RAISE_COUNTERS = (
    "UNWIND $counts AS count MERGE (c:Entity {record: count.record}) "
    "ON CREATE SET c.subtype = 'counter', c.value = count.value "
    "ON MATCH SET c.value = CASE WHEN c.value >= count.value THEN c.value ELSE count.value END"
)
"""Counters only grow, so that no number is assigned twice, even after an erasure."""

RECEIPT = (
    f"MATCH (r:Entity) {seek('r', 'Entity', 'record')} WHERE r.record = $record "
    "RETURN r{.fingerprint, .created_at, .body} AS receipt"
)

PUT_RECEIPT = (
    "MERGE (r:Entity {record: $record}) "
    "SET r.subtype = 'receipt', r.receipt_of = $tenant_key, r.receipt_key = $key, r.created_at = $created_at, "
    "r.fingerprint = $fingerprint, r.body = $body"
)

RECENT_RECEIPTS = (
    f"MATCH (r:Entity) {seek('r', 'Entity', 'receipt_of, created_at')} "
    "WHERE r.receipt_of = $tenant_key AND r.created_at >= $since AND r.receipt_key STARTS WITH $prefix "
    "RETURN r{.receipt_key, .fingerprint, .created_at, .body} AS receipt LIMIT $limit"
)

FORGET_RECEIPTS = (
    f"MATCH (r:Entity) {seek('r', 'Entity', 'receipt_of, created_at')} "
    "WHERE r.receipt_of = $tenant_key AND r.created_at < $before "
    # By both columns: only this is index order, in which no more rows are read than removed.
    "WITH r ORDER BY r.receipt_of, r.created_at LIMIT $limit DELETE r"
)

FORGET_RECEIPTS_OF_ALL = (
    f"MATCH (r:Entity) {seek('r', 'Entity', 'created_at, receipt_of')} "
    "WHERE r.created_at < $before AND r.receipt_of IS NOT NULL "
    "WITH r ORDER BY r.created_at, r.receipt_of LIMIT $limit DELETE r RETURN count(*) AS count"
)

OPEN = (
    "MERGE (s:Entity {record: 'store'}) "
    "ON CREATE SET s.subtype = 'store', s.store_id = $store_id, s.schema = $schema, s.words = $words "
    f"{locked('s')} RETURN s.schema AS schema"
)

STORE = f"{_STORE} RETURN s{{.store_id, .schema, .model, .change, .rebuilding, .words, .words_place}} AS store"

SET_MODEL = (
    f"{_STORE} {locked('s')} WITH s WHERE $holder IS NULL OR s.changer = $holder "
    "SET s.rebuilding = CASE WHEN s.model = $model THEN s.rebuilding END, s.model = $model, s.change = $change "
    "RETURN count(s) AS count"
)

RECORD_QUESTION = "MERGE (a:Entity {record: 'asked'}) SET a.subtype = 'asked', a.at = timestamp()"

SINCE_QUESTION = "MATCH (a:Entity {record: 'asked'}) RETURN timestamp() - a.at AS ago"

PUT_JOB_RUN = "MERGE (r:Entity {record: $record}) SET r.subtype = 'round', r += $told"

DROP_JOB_RUN = "MATCH (r:Entity {record: $record}) DELETE r"

JOB_RUNS = (
    "MATCH (r:Entity) WHERE r.record STARTS WITH 'round:' "
    "RETURN r{.task, .began, .at, .turns, .over, .error, .found} AS told ORDER BY r.record"
)

MARK_REBUILDING = f"{_STORE} SET s.rebuilding = $since"

CLEAR_REBUILDING = (
    f"{_STORE} {locked('s')} WITH s WHERE s.rebuilding = $since REMOVE s.rebuilding RETURN count(s) AS count"
)


def _lock(name: str) -> str:
    """Return the statement that acquires or renews the lock of this name for ``$holder``."""
    return (
        f"{_STORE} {locked('s')} WITH s, {NOW} AS now "
        f"WHERE s.{name} IS NULL OR s.{name} = $holder OR s.{name}_until <= now "
        f"SET s.{name} = $holder, s.{name}_until = now + $microseconds RETURN count(s) AS count"
    )


LOCK_MODEL_CHANGE, LOCK_WORDS = _lock("changer"), _lock("converter")

SET_WORDS = (
    f"{_STORE} {locked('s')} WITH s WHERE s.converter = $holder "
    "SET s.words = $version, s.words_place = $place RETURN count(s) AS count"
)

LOCK_SCHEMA = (
    f"{_STORE} AND (s.definer IS NULL OR s.definer = $holder OR s.definer_until <= {NOW}) {locked('s')} "
    f"WITH s, {NOW} AS now WHERE s.definer IS NULL OR s.definer = $holder OR s.definer_until <= now "
    "SET s.definer = $holder, s.definer_until = now + $microseconds RETURN count(s) AS count"
)
"""Reads before it locks: a waiting process must not block the one that defines the schema."""

SET_SCHEMA = f"{_STORE} AND s.schema < $schema SET s.schema = $schema"

ADD_KEY = (
    "CREATE (k:Entity {record: $record}) SET k.subtype = 'api_key', k.key_id = $id, k.key_tenant = $tenant, "
    "k.rights = $rights, k.digest = $digest, k.created_at = $created_at, k.note = $note"
)

KEYS = (
    f"MATCH (k:Entity) {seek('k', 'Entity', 'record')} WHERE k.record STARTS WITH $prefix "
    "RETURN k{.key_id, .key_tenant, .rights, .digest, .created_at, .note, .revoked_at} AS key "
    "ORDER BY k.created_at, k.key_id"
)

REVOKE_KEY = (
    f"MATCH (k:Entity) {seek('k', 'Entity', 'record')} WHERE k.record = $record AND k.revoked_at IS NULL "
    "SET k.revoked_at = $at RETURN count(k) AS count"
)

PUT_STEP = (
    "MERGE (s:Entity {record: $record}) SET s.subtype = 'step', s.step_id = $id, s.step_of = $tenant, "
    "s.step_context = $context, s.task = $task, s.outcome = $outcome, s.step_at = $at, s.subject = $subject, "
    "s.reason = $reason, s.details = $details"
)

_STEP = "s{.step_id, .step_of, .step_context, .task, .outcome, .step_at, .subject, .reason, .details} AS step"

STEP = f"MATCH (s:Entity) {seek('s', 'Entity', 'record')} WHERE s.record = $record RETURN {_STEP}"


def _steps(beyond: str, way: str) -> str:
    return (
        f"MATCH (s:Entity) {seek('s', 'Entity', 'step_at')} WHERE s.step_at {beyond}= $at "
        f"AND (s.step_at {beyond} $at OR s.step_id {beyond} $id) AND ($tenant IS NULL OR s.step_of = $tenant) "
        "AND (s.task = $task OR ($task IS NULL AND NOT s.task IN $left_out)) "
        f"WITH s ORDER BY s.step_at {way}, s.step_id {way} LIMIT $limit RETURN {_STEP}"
    )


STEPS, STEPS_FORWARD = _steps("<", "DESC"), _steps(">", "ASC")

DROP_RECEIPTS = (
    f"MATCH (r:Entity) {seek('r', 'Entity', 'receipt_of, created_at')} "
    "WHERE r.receipt_of = $tenant_key AND r.created_at IS NOT NULL "
    "AND (r.receipt_key IN $keys OR r.receipt_key IS NULL) DELETE r"
)

DROP = f"MATCH (r:Entity) {seek('r', 'Entity', 'record')} WHERE r.record IN $records DELETE r"

DROP_ARRIVALS = f"MATCH (c:Entity) {seek('c', 'Entity', 'record')} WHERE c.record = $record REMOVE c.value, c.slept"

CONTEXTS_WITH_ARRIVALS = (
    f"MATCH (c:Entity) {seek('c', 'Entity', 'record')} WHERE c.record IN $records "
    "WITH c, c.value - coalesce(c.slept, 0) AS grown WHERE grown >= $by AND grown >= c.value / 20 "
    "RETURN c.record AS record, c.value AS value"
)

RECORD_ARRIVALS = (
    f"MATCH (c:Entity) {seek('c', 'Entity', 'record')} "
    "WHERE c.record = $record AND coalesce(c.slept, 0) < $arrivals SET c.slept = $arrivals"
)

RECORD_ERASURE = (
    "MERGE (e:Entity {record: $record}) SET e.subtype = 'erasure', e.erasure = $erasure, e.number = $number, "
    "e.erasure_of = $tenant, e.body = $body"
)

ERASURES = (
    f"MATCH (e:Entity) {seek('e', 'Entity', 'record')} WHERE e.record STARTS WITH $prefix "
    "RETURN e{.erasure, .number, .erasure_of, .body} AS note ORDER BY e.erasure, e.number"
)

PENDING_ERASURES = (
    f"MATCH (e:Entity) {seek('e', 'Entity', 'record')} WHERE e.record STARTS WITH $prefix "
    "AND e.erasure_of = $tenant AND e.number = 0 RETURN count(e) AS count"
)

END_ERASURE = f"MATCH (e:Entity) {seek('e', 'Entity', 'record')} WHERE e.record STARTS WITH $prefix DELETE e"

COUNT_ERASURE = f"{_STORE} {locked('s')} SET s.erased = coalesce(s.erased, 0) + 1"

ERASED = f"{_STORE} RETURN coalesce(s.erased, 0) AS count"

ADD_USES = (
    f"UNWIND $uses AS use MATCH (n:{ITEM}) WHERE n.uid = use.uid AND n.tenant = $tenant "
    "MERGE (u:Entity {record: use.record}) "
    "ON CREATE SET u.subtype = 'use', u.used = n.uid, u.use_of = $tenant, u.times = use.times, u.used_at = $at "
    "ON MATCH SET u.times = u.times + use.times, u.used_at = CASE WHEN u.used_at > $at THEN u.used_at ELSE $at END"
)

TRANSFER_USES = (
    f"MATCH (u:Entity) {seek('u', 'Entity', 'record')} WHERE u.record IN $records AND u.use_of = $tenant "
    "WITH max(u.times) AS times, max(u.used_at) AS at WHERE times IS NOT NULL "
    "UNWIND $uses AS use MERGE (n:Entity {record: use.record}) "
    "ON CREATE SET n.subtype = 'use', n.used = use.uid, n.use_of = $tenant, n.times = times, n.used_at = at "
    "ON MATCH SET n.times = CASE WHEN n.times > times THEN n.times ELSE times END, "
    "n.used_at = CASE WHEN n.used_at > at THEN n.used_at ELSE at END"
)

RAISE_USES = (
    f"UNWIND $uses AS use MATCH (n:{ITEM}) WHERE n.uid = use.uid AND n.tenant = $tenant "
    "MERGE (u:Entity {record: use.record}) "
    "ON CREATE SET u.subtype = 'use', u.used = n.uid, u.use_of = $tenant, u.times = use.times, u.used_at = use.at "
    "ON MATCH SET u.times = CASE WHEN u.times > use.times THEN u.times ELSE use.times END, "
    "u.used_at = CASE WHEN u.used_at > use.at THEN u.used_at ELSE use.at END"
)

USES = (
    f"MATCH (u:Entity) {seek('u', 'Entity', 'record')} WHERE u.record IN $records AND u.use_of = $tenant "
    "RETURN u.used AS item, u.times AS times, u.used_at AS last"
)


VERSION = (
    f"MATCH (l:Entity) {seek('l', 'Entity', 'record')} WHERE l.record IN $records "
    "RETURN sum(coalesce(l.writes, 0)) AS version"
)

MEMBERS = (
    f"MATCH (r:Context) {seek('r', 'Context', 'uid')} WHERE r.uid = $root MATCH (r)<-[:BELONGS_TO]-(n) "
    "WHERE n.uid > $after RETURN n.uid AS uid ORDER BY n.uid LIMIT $limit"
)

RECEIPTS = (
    f"MATCH (r:Entity) {seek('r', 'Entity', 'receipt_of, created_at')} "
    "WHERE r.receipt_of = $tenant_key AND r.created_at >= $at AND r.receipt_key IS NOT NULL "
    "AND (r.created_at > $at OR r.receipt_key > $key) "
    "RETURN r{.receipt_key, .fingerprint, .created_at, .body} AS receipt "
    "ORDER BY r.created_at, r.receipt_key LIMIT $limit"
)


MARK = f"{_STORE} SET s.imported = $mark"

READ_MARK = f"{_STORE} RETURN s.imported AS mark"


@cache
def leaving(types: tuple[str, ...]) -> str:
    """Return the edges of these types out of some nodes, ordered by id."""
    return (
        f"MATCH (n:{ANY}) WHERE n.uid IN $uids AND n.tenant = $tenant "
        f"MATCH (n)-[r:{one_of(types)}]->() WHERE r.id > $after "
        f"WITH r ORDER BY r.id LIMIT $limit RETURN {EDGE} AS edge ORDER BY edge.id"
    )


VALUES = (
    "MATCH (n:Event|Entity) WHERE n.uid > $after AND n.content_hash IS NOT NULL "
    "RETURN n.uid AS uid, n.tenant AS tenant, n.metadata AS metadata, "
    "n{.speaker, .source, .flow_id, .source_id} AS fields ORDER BY uid LIMIT $limit"
)
"""Items with the values by which they are looked up, by uid."""
SET_VALUES = (
    "UNWIND $rows AS row MATCH (n:Event|Entity) WHERE n.uid = row.uid "
    "SET n.metadata_terms = row.terms, n.value_words = row.words"
)
