"""Domains: case-folded names with a few synonyms."""

from __future__ import annotations

from vicw_shared.text import fold_case

GENERAL = "general"
CODING = "coding"
CREATIVE = "creative"

_SYNONYMS = {
    "code": CODING,
    "story": CREATIVE,
    "fiction": CREATIVE,
    "prose": CREATIVE,
}


def canonical(domain: str) -> str:
    """Return the canonical name under which a domain is stored and filtered.

    ``Coding`` and ``code`` are one domain, as are ``creative``, ``story``, ``fiction`` and ``prose``. Any other name is
    a domain of its own.
    """
    name = fold_case(domain)
    return _SYNONYMS.get(name, name)
