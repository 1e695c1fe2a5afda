"""What a process remembers of agents' sessions: small, bounded, and gone with the process."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field

from vicw_readers.assistants.agents.transcript import TranscriptReader

_MOST_SHOWN = 5000


@dataclass(slots=True)
class Session:
    """One session of an agent. ``is_compacted``: the agent has forgotten its beginning.

    ``shown`` are uids and texts of what it was given. ``transcript`` is how far its transcript is read, under the
    file's path and inode. ``offloading`` is held while its turns are stored.
    """

    shown: dict[str, None] = field(default_factory=dict)
    is_compacted: bool = False
    transcript: tuple[tuple[str, int], TranscriptReader] | None = None
    offloading: asyncio.Lock = field(default_factory=asyncio.Lock)

    def show(self, keys: Iterable[str]) -> None:
        """Add what was shown; the oldest of it is forgotten if that is too much."""
        self.shown |= dict.fromkeys(keys)
        while len(self.shown) > _MOST_SHOWN:
            del self.shown[next(iter(self.shown))]


class Sessions:
    """The sessions that were used last, ``most`` of them."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._sessions: OrderedDict[tuple[str, str, str], Session] = OrderedDict()

    def of(self, tenant: str, context: str, session: str) -> Session:
        """Return a session, a new one if it is not known."""
        found = self._sessions.setdefault((tenant, context, session), Session())
        self._sessions.move_to_end((tenant, context, session))
        if len(self._sessions) > self._most:
            self._sessions.popitem(last=False)
        return found

    def __len__(self) -> int:
        return len(self._sessions)
