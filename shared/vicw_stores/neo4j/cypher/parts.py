"""Building blocks of statements."""

from __future__ import annotations

import re
from collections.abc import Iterable

from vicw_shared.model import Label

ANY = "|".join(Label)
ITEM = f"{Label.ENTITY}|{Label.EVENT}"
NOW = "timestamp() * 1000"
"""The server's clock in microseconds, the same within one statement: services' clocks may differ."""
NODE = "{.*, label: labels(%s)[0]}"
STATEMENT = "s.qdrant_id = s.uid"
"""Condition for a statement ``s``: unlike any other Event, it has a point of its own."""
EDGE = "r{.*, type: type(r), source: startNode(r).uid, target: endNode(r).uid}"
LOCKED = "SET {0}.lock = true REMOVE {0}.lock"
"""Acquires a node's write lock without changing it. No other transaction changes values that are read afterwards."""

_TYPE = re.compile(r"[A-Z][A-Z0-9_]{0,63}")


def node(variable: str) -> str:
    """Return the projection of a node: its properties and its label."""
    return variable + NODE % variable


def gathered(**columns: str) -> str:
    """Return the end of a read statement that returns its rows as one record, ``rows``, each a map of these columns.

    A record of its own per row would double the driver's work. For results bounded by the request.
    """
    return f"RETURN collect({{{', '.join(f'{name}: {value}' for name, value in columns.items())}}}) AS rows"


def locked(variable: str) -> str:
    """Return the clause that acquires a node's write lock."""
    return LOCKED.format(variable)


def seek(variable: str, label: str, name: str) -> str:
    """Return the hint to look up a property in its index.

    Without it, the planner chooses a scan while an index is almost empty, and keeps that plan when it has grown.
    """
    return f"USING INDEX SEEK {variable}:{label}({name})"


def relabelled(label: Label) -> str:
    """Return the clause that gives the node of ``row`` this label instead of another: a uid is one node."""
    others = [other for other in Label if other is not label]
    return (
        f"CALL (row) {{ MATCH (o:{'|'.join(others)}) WHERE o.uid = row.node.uid AND o.tenant = row.node.tenant "
        f"SET o:{label} REMOVE o:{':'.join(others)} }}"
    )


def one_of(types: Iterable[str]) -> str:
    """Return edge types as a pattern's alternatives. Raises ValueError for a name that cannot be a registered type."""
    names = list(types)
    for name in names:
        if not _TYPE.fullmatch(name):
            raise ValueError(f"{name!r} is not an edge type")
    if not names:
        raise ValueError("no edge type at all would match every type")
    return "|".join(names)
