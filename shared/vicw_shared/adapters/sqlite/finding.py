"""Search by words in SQLite's full-text index, inside a scope."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence

from vicw_shared.adapters.sqlite.rows import marks, pack, unpack
from vicw_shared.clock import to_us
from vicw_shared.ports import Audience, Scope, TextHit
from vicw_shared.text import fold

_WORD = re.compile(r"\w+")
_MAX_WORDS = 64
_COMMON_SHARE = 0.05
_FEW = 1000
_UID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

_Clause = tuple[str, tuple[object, ...]]


def find_passages(connection: sqlite3.Connection, scope: Scope, text: str, limit: int) -> list[TextHit]:
    """Return the Chunks that match best. A hit on an item's names or tags counts for its first passage."""
    words = _telling(connection, list(dict.fromkeys(_WORD.findall(text)))[:_MAX_WORDS])
    if not words or scope.contexts == () or scope.domains == ():
        return []
    connection.create_function("fold", 1, fold, deterministic=True)
    clauses = _conditions(scope)
    where = " AND ".join(sql for sql, _ in clauses)
    rows = connection.execute(
        "WITH h AS MATERIALIZED (SELECT rowid AS pk, bm25(fulltext, 2.0, 2.0, 1.0) AS score "  # noqa: S608
        "FROM fulltext WHERE fulltext MATCH ?) SELECT p.uid, sum(-h.score) AS total FROM h "
        "JOIN node n ON n.pk = h.pk "
        "JOIN node i ON i.pk = CASE n.label WHEN 'Chunk' THEN (SELECT e.source FROM edge e "
        "    JOIN node x ON x.pk = e.source AND x.content_hash IS NOT NULL "
        "    WHERE e.target = n.pk AND e.type = 'EVIDENCED_BY') ELSE n.pk END "
        "JOIN node p ON p.uid = CASE n.label WHEN 'Chunk' THEN n.uid ELSE i.qdrant_id END "
        f"WHERE i.content_hash IS NOT NULL AND {where} "
        "GROUP BY p.pk ORDER BY total DESC, p.pk LIMIT ?",
        (_any_of(words), *(value for _, values in clauses for value in values), limit),
    )
    return [TextHit(unpack(uid), score) for uid, score in rows]


def _any_of(words: Sequence[str]) -> str:
    """Return an expression that matches any of these words. A quoted word is never syntax."""
    return " OR ".join(f'"{word}"' for word in words)


def _telling(connection: sqlite3.Connection, words: Sequence[str]) -> list[str]:
    """Leave out words that more than a twentieth of the rows have: they rank nothing and read everything."""
    (rows,) = connection.execute("SELECT ifnull(max(pk), 0) FROM node").fetchone()
    most = max(_FEW, int(rows * _COMMON_SHARE))
    sql = "SELECT count(*) FROM (SELECT 1 FROM fulltext WHERE fulltext MATCH ? LIMIT ?)"
    counts = {word: connection.execute(sql, (_any_of([word]), most + 1)).fetchone()[0] for word in words}
    return [word for word, count in counts.items() if 0 < count <= most]


def _conditions(scope: Scope) -> list[_Clause]:
    """Return the scope as conditions on the item ``i``."""
    clauses: list[_Clause] = [("i.tenant = ?", (scope.tenant,))]
    if scope.contexts is not None:
        clauses.append((f"i.context IN ({marks(len(scope.contexts))})", scope.contexts))
    if scope.domains is not None:
        clauses.append((f"i.domain IN ({marks(len(scope.domains))})", scope.domains))
    if scope.tags_any:
        clauses.append(_tagged(scope.tags_any))
    clauses += [_tagged((tag,)) for tag in scope.tags_all]
    if scope.tags_none:
        sql, values = _tagged(scope.tags_none)
        clauses.append((f"NOT {sql}", values))
    clauses += _in_time(scope)
    if scope.audience is not None:
        clauses += _visible_to(scope.audience)
    return clauses


def _tagged(tags: Sequence[str]) -> _Clause:
    sql = (
        "EXISTS (SELECT 1 FROM edge g JOIN node t ON t.pk = g.target WHERE g.source = i.pk AND g.type = 'TAGGED' "  # noqa: S608
        f"AND fold(t.subtype) <> 'bucket' AND fold(t.name) IN ({marks(len(tags))}))"
    )
    return sql, tuple(tags)


def _in_time(scope: Scope) -> list[_Clause]:
    """Return when an item is seen; the same rules as in the vector store's filter."""
    instant = to_us(scope.as_of or scope.judged_at)
    clauses: list[_Clause] = [("ifnull(i.expires_at > ?, 1)", (to_us(scope.judged_at),))]
    if scope.known_at is None:
        clauses.append(("ifnull(i.valid_to > ?, 1)", (instant,)))
        if scope.as_of is not None:
            clauses.append(("(ifnull(i.retired_at > ?, 1) OR i.valid_to > ?)", (to_us(scope.now), instant)))
        else:
            clauses.append(("ifnull(i.retired_at > ?, 1)", (to_us(scope.now),)))
    else:
        known = to_us(scope.known_at)
        clauses.append(("i.created_at <= ? AND ifnull(i.retired_at > ?, 1)", (known, known)))
    if scope.as_of is not None:
        clauses.append(("ifnull(i.timestamp <= ?, 1)", (instant,)))
    return clauses


def _visible_to(audience: Audience) -> list[_Clause]:
    own, values = "", tuple[object, ...]()
    if audience.subjects:
        levels = ("personal", "sensitive") if audience.private else ("personal",)
        uids = [pack(subject) for subject in audience.subjects if _UID.fullmatch(subject)]
        own = (
            f" OR (i.sensitivity IN ({marks(len(levels))}) AND EXISTS (SELECT 1 FROM edge g "  # noqa: S608
            "JOIN node t ON t.pk = g.target WHERE g.source = i.pk AND g.type = 'ABOUT' "
            f"AND (fold(t.name) IN ({marks(len(audience.subjects))}) OR t.uid IN ({marks(len(uids))}))))"
        )
        values = (*levels, *audience.subjects, *uids)
    home, here = (" OR i.context = ?", (audience.context,)) if audience.context is not None else ("", ())
    return [(f"(i.sensitivity = 'public'{own})", values), (f"(i.portable{home})", here)]
