"""What speakers are called who are told by what they do in a chat, not by their name."""

from __future__ import annotations

AGENTS = frozenset({"assistant", "system", "tool", "function", "bot", "ai", "model"})
"""Programs that speak; case-folded."""
ROLES = AGENTS | {"user", "human"}
"""Nobody's name; case-folded."""
