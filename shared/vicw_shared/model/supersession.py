"""What a SUPERSEDES edge may do: decide what holds now, or order and date two statements that both stay found.

The one place that tells the two apart, for writers and readers of every store (docs/decisions/0059).
"""

from __future__ import annotations

from vicw_shared.model.core5 import Edge

CLAIM_RULE = "rules:attribute"
"""``created_by`` of the edges that a comparison of claims draws between the statements of a slot."""
STATED = "stated"
"""Property of such an edge: the later statement tells of the change itself, by a checked model's reading."""


UNTIL = "until"
"""Property of an edge that dates its earlier end: the instant from which the later one holds, in ISO 8601."""


def decides(edge: Edge) -> bool:
    """Return whether a SUPERSEDES edge decides what holds now, so that the earlier end is past.

    A new version of an item does, and an item that a person put in the place of another: their callers state it. Of
    two statements it does if the later one tells of the change (``STATED``). What rules infer from two different values
    does not, nor does any edge of a build that did not keep the difference.
    """
    return edge.created_by != CLAIM_RULE or edge.properties.get(STATED) is True
