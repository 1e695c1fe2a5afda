"""Parts of statements."""

from __future__ import annotations

import re
from collections.abc import Iterable

from vicw_shared.model import Label

ANY = "|".join(Label)
ITEM = f"{Label.ENTITY}|{Label.EVENT}"
NOW = "timestamp() * 1000"
"""The server's clock in microseconds, the same within one statement: services need not agree on the time."""
NODE = "{.*, label: labels(%s)[0]}"
STATEMENT = "s.qdrant_id = s.uid"
"""Condition for a statement: unlike other Events ``s``, whatever callers call those, it has a point of its own."""
EDGE = "r{.*, type: type(r), source: startNode(r).uid, target: endNode(r).uid}"
LOCKED = "SET {0}.lock = true REMOVE {0}.lock"
"""Takes a node's write lock and changes nothing. Values read after it are not being changed by another transaction."""

_TYPE = re.compile(r"[A-Z][A-Z0-9_]{0,63}")


def node(variable: str) -> str:
    """Return the projection of a node: its properties and its label."""
    return variable + NODE % variable


def gathered(**columns: str) -> str:
    """Return the end of a read statement that returns its rows as one record, ``rows``, each a map of these columns.

    A separate record costs the driver as much as its contents. For results bounded by the request.
    """
    return f"RETURN collect({{{', '.join(f'{name}: {value}' for name, value in columns.items())}}}) AS rows"


def locked(variable: str) -> str:
    """Return the clause that takes a node's write lock."""
    return LOCKED.format(variable)


def seek(variable: str, label: str, name: str) -> str:
    """Return the hint to look a property up in its index.

    While an index is almost empty, reading all of it seems as cheap, and such a plan outlives that moment.
    """
    return f"USING INDEX SEEK {variable}:{label}({name})"


def relabelled(label: Label) -> str:
    """Return the clause that removes another label from the node of ``row``: a uid is one node, whatever its label."""
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
            raise ValueError(f"{name!r} is no edge type")
    if not names:
        raise ValueError("no edge type at all would match every type")
    return "|".join(names)
