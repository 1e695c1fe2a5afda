"""Name index on Neo4j: updates the terms of nodes, and looks them up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import batched

from vicw_shared.model import Node
from vicw_shared.model.names import TermKind
from vicw_shared.model.triggers import sort_by_precedence
from vicw_shared.ports import NameMatch, NameQuery
from vicw_stores.neo4j.cypher import names
from vicw_stores.neo4j.database import RunStatement
from vicw_stores.neo4j.keys import beginning, chain_end, home_key, phrase_prefix, term_key, term_rows
from vicw_stores.neo4j.rows import gathered, node_of, nodes_in

_BATCH = 2000
_KINDS = {NameMatch.NAME: TermKind.NAME, NameMatch.WORD: TermKind.WORD, NameMatch.TITLE: TermKind.TITLE}
_LAST = "\U0010ffff"


async def put_terms(run: RunStatement, named: Sequence[tuple[str, Node]]) -> None:
    """Replace the terms of nodes, each given with its element id."""
    for batch in batched(dict(named).items(), _BATCH):
        await run(names.DROP_TERMS, keys=[key for key, _ in batch])
        rows = [{"key": key, "terms": term_rows(node)} for key, node in batch]
        await run(names.PUT_TERMS, rows=rows)


async def find_names(
    run: RunStatement, tenant: str, queries: Sequence[NameQuery], contexts: Sequence[str] | None
) -> list[dict[str, list[Node]]]:
    """Return the results of each query, in order, from one statement."""
    results: list[dict[str, list[Node]]] = [{} for _ in queries]
    lookups = [
        _beginnings(tenant, query.texts)
        if query.by is NameMatch.BEGINNING
        else _terms(tenant, query.texts, _KINDS[query.by])
        for query in queries
    ]
    if not any(lookups):
        return results
    statement = names.find(tuple(query.by is NameMatch.BEGINNING for query in queries), contexts is not None)
    limits = {f"limit_{number}": query.limit for number, query in enumerate(queries)}
    for row in gathered(await run(statement, names=lookups, homes=_homes(tenant, contexts), **limits)):
        results[row["number"]].setdefault(row["text"], []).append(node_of(row["node"]))
    return results


def _homes(tenant: str, contexts: Sequence[str] | None) -> list[str] | None:
    return [home_key(tenant, context) for context in contexts] if contexts is not None else None


def _terms(tenant: str, texts: Iterable[str], kind: TermKind) -> list[dict[str, str]]:
    return [{"text": text, "term": term_key(tenant, text, kind)} for text in dict.fromkeys(texts)]


def _beginnings(tenant: str, texts: Iterable[str]) -> list[dict[str, str]]:
    starts = {text: beginning(tenant, text) for text in texts}
    return [{"text": text, "start": start, "end": start + _LAST} for text, start in starts.items()]


async def find_triggered(
    run: RunStatement, tenant: str, phrases: Sequence[str], contexts: Sequence[str] | None, limit: int
) -> list[Node]:
    """Return the items with any of these phrases, at most ``limit`` per phrase."""
    homes = _homes(tenant, contexts)
    items: list[Node] = []
    for batch in batched(dict.fromkeys(phrases), _BATCH):
        starts = [phrase_prefix(tenant, phrase) for phrase in batch]
        rows = await run(
            names.triggered(homes is not None),
            phrases=[{"start": start, "end": chain_end(start)} for start in starts],
            homes=homes,
            limit=limit,
        )
        items += nodes_in(gathered(rows))
    return sort_by_precedence(items)
