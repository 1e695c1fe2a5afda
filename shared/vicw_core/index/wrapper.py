"""Contextual wrapper, the same for documents and queries.

Raw text is never embedded. The bracketed head separates domains in vector space.
"""

from __future__ import annotations

WRAPPER_VERSION = 1


def wrap(description: str, *, domain: str | None = None, subtype: str | None = None, name: str | None = None) -> str:
    """Return ``[Domain: d] [Type: t] [Name: n] description``, leaving unknown segments out.

    >>> wrap("Handles JWT token validation.", domain="coding", subtype="method", name="AuthLogin")
    '[Domain: coding] [Type: method] [Name: AuthLogin] Handles JWT token validation.'
    >>> wrap("why?")
    'why?'
    """
    segments = [f"[{key}: {value}]" for key, value in (("Domain", domain), ("Type", subtype), ("Name", name)) if value]
    return " ".join([*segments, description])
