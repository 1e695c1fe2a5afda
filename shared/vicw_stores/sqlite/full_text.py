"""Full-text search in SQLite's index, inside a scope."""

from __future__ import annotations

import itertools
import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence

from vicw_core.index import sparse
from vicw_core.index.full_text import SCORED, query_words, ranked
from vicw_shared.ports import Scope, TermFrequencies, TextHit
from vicw_shared.uids import is_uid
from vicw_stores.conditions import After, AnyOf, Condition, Group, Is, Until, scope_conditions
from vicw_stores.sqlite.item_filter import clause_of
from vicw_stores.sqlite.rows import marks, pack, unpack
from vicw_stores.sqlite.stored_words import read_converted

_MAX_WORDS = 64
_BATCH = 500
_BATCH_FACTOR = 4
"""The first batch filtered by the scope is this multiple of the limit; each further batch is larger by this factor."""

_EDGE = "EXISTS (SELECT 1 FROM edge g JOIN node t ON t.pk = g.target WHERE g.source = i.pk"
_NAMED = (
    "(fold(t.name) IN ({0}) OR (t.aliases <> '[]' AND "
    "EXISTS (SELECT 1 FROM json_each(t.aliases) a WHERE fold(a.value) IN ({0}))))"
)
"""Condition that a node has one of some names as its name or an earlier name; the names are bound twice."""

_Clause = tuple[str, tuple[object, ...]]


def find_passages(
    connection: sqlite3.Connection,
    scope: Scope,
    text: str,
    limit: int,
    frequencies: Callable[[Sequence[int]], TermFrequencies],
) -> list[TextHit]:
    """Return the best matches. An item's names, tags and bucket belong to its first Chunk, with double weight.

    ``frequencies`` returns those of terms in what is searched: they weigh the words. Until all passages have the words
    of this program the engine's scores stay.
    """
    found = find_candidates(connection, scope, text, SCORED * limit)
    if not found or read_converted(connection) is not None:
        return found[:limit]
    query = sparse.encode_query(text)
    return ranked(query, frequencies(query.indices), _words_of(connection, found), limit)


def find_candidates(
    connection: sqlite3.Connection, scope: Scope, text: str, limit: int, *, rare: int = 10_000
) -> list[TextHit]:
    """Return the engine's best matches, by its own scores.

    Chunks with only common words of the question are read only if the scope has fewer than ``limit`` others. The rarest
    words are not common: as many as have at most ``rare`` passages in total, at least one.
    """
    words = query_words(text)[:_MAX_WORDS]
    if words and read_converted(connection) is not None:
        words += dict.fromkeys(sparse.stems(text))  # the words of passages that are not converted yet
    if not words or () in {scope.contexts, scope.domains, scope.subtypes, scope.items}:
        return []
    terms, common = _by_rarity(connection, words, rare)
    hits = _ranked(connection, terms)
    if hits and common:
        hits |= _ranked(connection, terms, common)
    matches = _in_scope(connection, scope, hits, limit)
    if len(matches) < limit and common:
        # Other tenants' texts may make a word common, but must not hide this tenant's passages with it.
        matches = _in_scope(connection, scope, _ranked(connection, [*terms, *common]), limit)
    return matches


def _words_of(connection: sqlite3.Connection, hits: Sequence[TextHit]) -> dict[str, list[str]]:
    """Return the words of these passages, those of names twice."""
    words: dict[str, list[str]] = {}
    for batch in itertools.batched(hits, _BATCH):
        rows = connection.execute(
            "SELECT p.uid, f.head, f.text FROM node p CROSS JOIN fulltext f ON f.rowid = p.pk "  # noqa: S608
            f"WHERE p.uid IN ({marks(len(batch))})",
            [pack(hit.uid) for hit in batch],
        )
        words |= {unpack(uid): f"{head} {head} {text}".split() for uid, head, text in rows}
    return words


def _by_rarity(connection: sqlite3.Connection, words: Sequence[str], max_passages: int) -> tuple[list[str], list[str]]:
    """Return the terms to search by, and the common terms, which only score.

    The search terms are the rarest: as many as have at most ``max_passages`` passages in total, at least one.
    """
    counts = {term: _count(connection, term) for term in map(_term, words)}
    rare = sorted((term for term in counts if counts[term]), key=counts.__getitem__)
    reached = itertools.accumulate(counts[term] for term in rare)
    count = max(1, sum(passages <= max_passages for passages in reached))
    return rare[:count], rare[count:]


def _ranked(connection: sqlite3.Connection, terms: Sequence[str], others: Sequence[str] = ()) -> dict[int, float]:
    """Return the BM25 scores of passages with one of the terms, and with one of ``others``, if given."""
    if not terms:
        return {}
    match = " OR ".join(terms)
    if others:
        match = f"({match}) AND ({' OR '.join(others)})"
    sql = "SELECT rowid, -bm25(fulltext, 2.0, 1.0) FROM fulltext WHERE fulltext MATCH ?"
    return dict(connection.execute(sql, (match,)))


def _in_scope(connection: sqlite3.Connection, scope: Scope, hits: Mapping[int, float], limit: int) -> list[TextHit]:
    """Return the best hits inside the scope. They are filtered best first, so that few of many rows are read."""
    where, values = scope_clause(scope_conditions(scope))
    if scope.items is not None:
        passages = _passages_of(connection, scope.items)
        hits = {pk: score for pk, score in hits.items() if pk in passages}
    elif scope.condition is not None:
        wanted, wanted_values = clause_of(scope.condition)
        where, values = f"{where} AND ({wanted})", (*values, *wanted_values)
    sql = (
        "SELECT p.uid, p.pk FROM json_each(?) h CROSS JOIN node p ON p.pk = h.value "  # noqa: S608
        "JOIN node i ON i.pk = (SELECT e.source FROM edge e "
        "    JOIN node x ON x.pk = e.source AND x.content_hash IS NOT NULL "
        "    WHERE e.target = p.pk AND e.type = 'EVIDENCED_BY') "
        f"WHERE i.tenant = ? AND {where} ORDER BY h.key"
    )
    best = sorted(hits, key=lambda pk: (-hits[pk], pk))
    matches: list[TextHit] = []
    start, size = 0, limit * _BATCH_FACTOR
    while start < len(best) and len(matches) < limit:
        rows = connection.execute(sql, (json.dumps(best[start : start + size]), scope.tenant, *values))
        matches += [TextHit(unpack(uid), hits[pk]) for uid, pk in rows]
        start, size = start + size, size * _BATCH_FACTOR
    return matches[:limit]


def _passages_of(connection: sqlite3.Connection, items: Sequence[str]) -> set[int]:
    """Return the keys of the passages of these items."""
    passages: set[int] = set()
    for batch in itertools.batched(items, _BATCH):
        rows = connection.execute(
            "SELECT e.target FROM node i CROSS JOIN edge e ON e.source = i.pk "  # noqa: S608
            f"WHERE i.uid IN ({marks(len(batch))}) AND e.type = 'EVIDENCED_BY'",
            [pack(uid) for uid in batch],
        )
        passages |= {pk for (pk,) in rows}
    return passages


def _term(word: str) -> str:
    """Return the query term that matches a word. Quoted text is never syntax."""
    return f'"{word}"'


def _count(connection: sqlite3.Connection, term: str) -> int:
    """Return the number of passages that match a term."""
    (count,) = connection.execute("SELECT count(*) FROM fulltext WHERE fulltext MATCH ?", (term,)).fetchone()
    return int(count)


def scope_clause(condition: Condition) -> _Clause:  # noqa: PLR0911 - one a kind
    """Return a condition on the item ``i``, with its values; a missing field matches nothing."""
    match condition:
        case Is("portable", value):
            return "i.portable = ?", (value,)
        case Is(field, value):
            return scope_clause(AnyOf(field, (str(value),)))
        case AnyOf("tags", values):
            named = _NAMED.format(marks(len(values)))
            return f"{_EDGE} AND g.type = 'TAGGED' AND fold(t.subtype) <> 'bucket' AND {named})", (*values, *values)
        case AnyOf("about", values):
            uids = tuple(pack(value) for value in values if is_uid(value))
            named = f"({_NAMED} OR t.uid IN ({marks(len(uids))}))".format(marks(len(values)))
            return f"{_EDGE} AND g.type = 'ABOUT' AND {named})", (*values, *values, *uids)
        case AnyOf("item", values):
            return f"i.uid IN ({marks(len(values))})", tuple(map(pack, values))
        case AnyOf(field, values):
            return f"i.{field} IN ({marks(len(values))})", values
        # Compared by whole milliseconds, as in the vector stores' payloads, so that both find the same.
        case Until(field, instant):
            return f"ifnull(i.{field} < ?, 0)", ((instant + 1) * 1000,)
        case After(field, instant):
            return f"ifnull(i.{field} >= ?, 0)", ((instant + 1) * 1000,)
        case Group(must, must_not, should):
            return _group(must, must_not, should)


def _group(must: Sequence[Condition], must_not: Sequence[Condition], should: Sequence[Condition]) -> _Clause:
    parts = [scope_clause(condition) for condition in must]
    parts += [(f"NOT ({sql})", values) for sql, values in map(scope_clause, must_not)]
    if should:
        any_of = [scope_clause(condition) for condition in should]
        parts.append((f"({' OR '.join(sql for sql, _ in any_of)})", tuple(v for _, values in any_of for v in values)))
    return " AND ".join(f"({sql})" for sql, _ in parts) or "1", tuple(v for _, values in parts for v in values)
