"""Speaker names that are chat roles, not names of people."""

from __future__ import annotations

AGENTS = frozenset({"assistant", "system", "tool", "function", "bot", "ai", "model"})
"""Roles of programs; case-folded."""
ROLES = AGENTS | {"user", "human"}
"""All roles; case-folded."""
