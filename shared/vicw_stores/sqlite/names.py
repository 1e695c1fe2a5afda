"""Name index on SQLite: the terms of nodes, look-ups by them and by trigger phrases, and degrees."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from itertools import batched

from vicw_shared.model import Label, Node
from vicw_shared.model.names import TermKind, terms_of, title_terms
from vicw_shared.model.triggers import sort_by_precedence
from vicw_shared.ports import NameMatch, NameQuery
from vicw_stores.sqlite.rows import columns_of, marks, node_of, pack, unpack

_BATCH = 500
_LAST = "\U0010ffff"
KINDS = {
    NameMatch.NAME: (TermKind.NAME, TermKind.ALIAS),
    NameMatch.WORD: (TermKind.WORD,),
    NameMatch.TITLE: (TermKind.TITLE,),
    NameMatch.BEGINNING: (TermKind.NAME, TermKind.ALIAS, TermKind.WORD),
}
_EQUAL = ("node", "text = w.text")
_MATCHES = {NameMatch.BEGINNING: ("DISTINCT node", f"text > w.text AND text < w.text || '{_LAST}'")}
"""Several words of one name may share a beginning."""


def node_terms(label: str, name: str, aliases: str, title: str | None, is_item: int) -> str:
    """Return a node's terms as JSON, [kind, text] each, for triggers to insert; an item's terms come from its title."""
    if not is_item:
        terms = terms_of(Label(label), name, json.loads(aliases))
    else:
        terms = title_terms(title) if title and label == Label.ENTITY else []
    return json.dumps([(term.kind, term.text) for term in terms], ensure_ascii=False)


def find_names(
    connection: sqlite3.Connection, tenant: str, queries: Sequence[NameQuery], contexts: Sequence[str] | None
) -> list[dict[str, list[Node]]]:
    """Return the results of each query, in order."""
    return [
        _read(connection, tenant, query.texts, contexts, KINDS[query.by], _MATCHES.get(query.by, _EQUAL), query.limit)
        for query in queries
    ]


def _read(
    connection: sqlite3.Connection,
    tenant: str,
    texts: Sequence[str],
    contexts: Sequence[str] | None,
    kinds: Sequence[TermKind],
    selection: tuple[str, str],
    limit: int,
) -> dict[str, list[Node]]:
    """Return the nodes with terms of these kinds, by text; ``selection`` is the column to select and the condition."""
    within = "" if contexts is None else f"AND context IN ({marks(len(contexts))}) "
    selected, fits = selection
    matches: dict[str, list[Node]] = {}
    for batch in batched(dict.fromkeys(texts), _BATCH):
        rows = connection.execute(
            f"WITH wanted (text) AS (VALUES {', '.join(['(?)'] * len(batch))}) "  # noqa: S608
            f"SELECT w.text, {columns_of('n')} FROM wanted w CROSS JOIN node n ON n.pk IN ("
            f"SELECT {selected} FROM term WHERE tenant = ? {within}AND kind IN ({marks(len(kinds))}) "
            f"AND {fits} LIMIT ?)",
            (*batch, tenant, *(contexts or ()), *kinds, limit),
        )
        for text, *row in rows:
            matches.setdefault(text, []).append(node_of(row))
    return matches


def count_edges(
    connection: sqlite3.Connection, tenant: str, uids: Sequence[str], ignored: Sequence[str]
) -> dict[str, int]:
    """Return the number of edges of each node, except those of some types."""
    counts: dict[str, int] = {}
    ends = " + ".join(
        f"(SELECT count(*) FROM edge e WHERE e.{end} = n.pk AND e.type NOT IN ({marks(len(ignored))}))"  # noqa: S608
        for end in ("source", "target")
    )
    for batch in batched(uids, _BATCH):
        rows = connection.execute(
            f"SELECT n.uid, {ends} FROM node n WHERE n.uid IN ({marks(len(batch))}) AND n.tenant = ?",  # noqa: S608
            (*ignored, *ignored, *map(pack, batch), tenant),
        )
        counts.update((unpack(uid), count) for uid, count in rows)
    return counts


def read_triggered(
    connection: sqlite3.Connection, tenant: str, phrases: Sequence[str], contexts: Sequence[str] | None, limit: int
) -> list[Node]:
    """Return the items with any of these phrases, at most ``limit`` per phrase, in order of precedence."""
    within = "" if contexts is None else f"AND context IN ({marks(len(contexts))}) "
    items: list[Node] = []
    for batch in batched(dict.fromkeys(phrases), _BATCH):
        rows = connection.execute(
            f"WITH wanted (text) AS (VALUES {', '.join(['(?)'] * len(batch))}) "  # noqa: S608
            f"SELECT DISTINCT {columns_of('n')} FROM wanted w CROSS JOIN node n ON n.pk IN ("
            f"SELECT node FROM phrase WHERE tenant = ? AND text = w.text {within}ORDER BY precedence, node LIMIT ?)",
            (*batch, tenant, *(contexts or ()), limit),
        )
        items += map(node_of, rows)
    return sort_by_precedence(items)
