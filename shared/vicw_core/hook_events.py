"""Which events of agents' hooks there are.

Imports the standard library alone: the command that hooks run starts with it.
"""

from __future__ import annotations

RECALLING = frozenset({"SessionStart", "UserPromptSubmit"})
OFFLOADING = frozenset({"PreCompact", "Stop", "SessionEnd"})
"""The events that are answered with memories, and those at which turns are stored."""
OWNER_HEADER = "VICW-Owner"
"""Header with the token of the lock file, which only the server's own user can read: the server may open a file."""
TURNS_HEADER = "VICW-Wants-Turns"
"""Header of a server that has not opened the transcript: the turns have to be sent."""
