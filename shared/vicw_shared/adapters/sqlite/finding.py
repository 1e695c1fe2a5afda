"""Search by words in SQLite's full-text index, inside a scope."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Sequence

from vicw_shared import sparse
from vicw_shared.adapters.conditions import After, AnyOf, Condition, Group, Is, Until, within
from vicw_shared.adapters.sqlite.rows import marks, pack, unpack
from vicw_shared.ports import Scope, TextHit
from vicw_shared.uids import is_uid

_MAX_WORDS = 64
_COMMON_SHARE = 0.05
_FEW = 1000
_REACHES = (8, 64)
"""Of the best hits, how many times the limit are judged by the scope at first, and then; where too few fit, all."""
_ALL = -1

_EDGE = "EXISTS (SELECT 1 FROM edge g JOIN node t ON t.pk = g.target WHERE g.source = i.pk"
_NAMED = (
    "(fold(t.name) IN ({0}) OR (t.aliases <> '[]' AND "
    "EXISTS (SELECT 1 FROM json_each(t.aliases) a WHERE fold(a.value) IN ({0}))))"
)
"""Whether a thing is, or once was, called one of some names, which are bound twice."""

_Clause = tuple[str, tuple[object, ...]]


def find_passages(connection: sqlite3.Connection, scope: Scope, text: str, limit: int) -> list[TextHit]:
    """Return the Chunks that match best. An item's names, tags and bucket stand with its first, and count double."""
    words = list(dict.fromkeys(sparse.stems(text)))[:_MAX_WORDS]
    if not words or () in {scope.contexts, scope.domains, scope.subtypes}:
        return []
    terms, are_all = _telling(connection, words)
    found = _matching(connection, scope, terms, limit)
    if found or are_all:
        return found
    # What others have may make a word common, but must not make it find nothing.
    return _matching(connection, scope, [_anywhere(word) for word in words], limit)


def _matching(connection: sqlite3.Connection, scope: Scope, terms: Sequence[str], limit: int) -> list[TextHit]:
    if not terms:
        return []
    where, values = _sql(within(scope))
    sql = (
        "WITH h AS MATERIALIZED ("  # noqa: S608
        "SELECT rowid AS pk, -bm25(fulltext, 2.0, 1.0) AS score FROM fulltext WHERE fulltext MATCH ? "
        "ORDER BY score DESC, rowid LIMIT ?) "
        "SELECT p.uid, h.score FROM h JOIN node p ON p.pk = h.pk "
        "JOIN node i ON i.pk = (SELECT e.source FROM edge e "
        "    JOIN node x ON x.pk = e.source AND x.content_hash IS NOT NULL "
        "    WHERE e.target = p.pk AND e.type = 'EVIDENCED_BY') "
        f"WHERE i.tenant = ? AND {where} ORDER BY h.score DESC, p.pk LIMIT ?"
    )
    rows: list[tuple[bytes, float]] = []
    for reach in (*(limit * share for share in _REACHES), _ALL):
        rows = connection.execute(sql, (" OR ".join(terms), reach, scope.tenant, *values, limit)).fetchall()
        if len(rows) >= limit:
            break
    return [TextHit(unpack(uid), score) for uid, score in rows]


def _anywhere(word: str) -> str:
    """Return the term that matches a word. What is quoted is never syntax."""
    return f'"{word}"'


def _in_text(word: str) -> str:
    """Return the term that matches a word of a passage, whatever its item is called or filed under."""
    return f'text : "{word}"'


def rarity_of(connection: sqlite3.Connection, words: Sequence[str]) -> list[float]:
    """Return each word's IDF, as BM25 has it: 0 of one that nothing has."""
    most = _very_many(connection)
    counts = [_count(connection, _anywhere(word), most) for word in words]
    (passages,) = connection.execute("SELECT count(*) FROM fulltext_docsize").fetchone()
    return [math.log(1 + (passages - n + 0.5) / (n + 0.5)) if n else 0.0 for n in counts]


def _telling(connection: sqlite3.Connection, words: Sequence[str]) -> tuple[list[str], bool]:
    """Return terms for words, without those that very many passages have: they rank nothing and read everything.

    A word that very many are merely filed under still tells something where it is said. And whether these terms find
    all that the words do.
    """
    most, are_all = _very_many(connection), True
    terms = []
    for word in words:
        for term in (_anywhere(word), _in_text(word)):
            count = _count(connection, term, most)
            if count <= most:
                terms += [term] if count else []
                break
            are_all = False
    return terms, are_all


def _very_many(connection: sqlite3.Connection) -> int:
    """Return the most passages that may have a word that ranks."""
    (rows,) = connection.execute("SELECT ifnull(max(pk), 0) FROM node").fetchone()
    return max(_FEW, int(rows * _COMMON_SHARE))


def _count(connection: sqlite3.Connection, term: str, most: int) -> int:
    """Return how many passages match a term, counted up to one more than ``most``."""
    sql = "SELECT count(*) FROM (SELECT 1 FROM fulltext WHERE fulltext MATCH ? LIMIT ?)"
    (count,) = connection.execute(sql, (term, most + 1)).fetchone()
    return int(count)


def _sql(condition: Condition) -> _Clause:  # noqa: PLR0911 - one a kind
    """Return a condition on the item ``i``, with its values; what is not there matches nothing."""
    match condition:
        case Is("portable", value):
            return "i.portable = ?", (value,)
        case Is(field, value):
            return _sql(AnyOf(field, (str(value),)))
        case AnyOf("tags", values):
            named = _NAMED.format(marks(len(values)))
            return f"{_EDGE} AND g.type = 'TAGGED' AND fold(t.subtype) <> 'bucket' AND {named})", (*values, *values)
        case AnyOf("about", values):
            uids = tuple(pack(value) for value in values if is_uid(value))
            named = f"({_NAMED} OR t.uid IN ({marks(len(uids))}))".format(marks(len(values)))
            return f"{_EDGE} AND g.type = 'ABOUT' AND {named})", (*values, *values, *uids)
        case AnyOf(field, values):
            return f"i.{field} IN ({marks(len(values))})", values
        # Instants are whole milliseconds, as in the vector stores' payloads: both find the same.
        case Until(field, instant):
            return f"ifnull(i.{field} < ?, 0)", ((instant + 1) * 1000,)
        case After(field, instant):
            return f"ifnull(i.{field} >= ?, 0)", ((instant + 1) * 1000,)
        case Group(must, must_not, should):
            return _group(must, must_not, should)


def _group(must: Sequence[Condition], must_not: Sequence[Condition], should: Sequence[Condition]) -> _Clause:
    parts = [_sql(condition) for condition in must]
    parts += [(f"NOT ({sql})", values) for sql, values in map(_sql, must_not)]
    if should:
        any_of = [_sql(condition) for condition in should]
        parts.append((f"({' OR '.join(sql for sql, _ in any_of)})", tuple(v for _, values in any_of for v in values)))
    return " AND ".join(f"({sql})" for sql, _ in parts) or "1", tuple(v for _, values in parts for v in values)
