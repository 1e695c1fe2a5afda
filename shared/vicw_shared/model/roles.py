"""Speaker names that are roles in a chat, not names."""

from __future__ import annotations

AGENTS = frozenset({"assistant", "system", "tool", "function", "bot", "ai", "model"})
"""Programs that speak; case-folded."""
ROLES = AGENTS | {"user", "human"}
"""Roles that are not names; case-folded."""
