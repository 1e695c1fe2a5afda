"""What a process remembers of agents' sessions: small, bounded, and gone with the process."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from vicw_retrieval.agent_hooks.model import SessionPlace

_MOST_SHOWN = 5000


@dataclass(slots=True)
class Session:
    """One session of an agent. ``is_compacted``: the agent has forgotten its beginning.

    ``shown`` are uids and texts of what it was given.
    """

    shown: dict[str, None] = field(default_factory=dict)
    is_compacted: bool = False

    def show(self, keys: Iterable[str]) -> None:
        """Add what was shown; the oldest of it is forgotten if that is too much."""
        self.shown |= dict.fromkeys(keys)
        while len(self.shown) > _MOST_SHOWN:
            del self.shown[next(iter(self.shown))]


class Sessions[T]:
    """What is remembered of the sessions that were used last, ``most`` of them."""

    def __init__(self, most: int, new: Callable[[], T]) -> None:
        """``new`` returns what is remembered of a session that is not known."""
        self._most = most
        self._new = new
        self._sessions: OrderedDict[SessionPlace, T] = OrderedDict()

    def of(self, place: SessionPlace) -> T:
        """Return what is remembered of a session."""
        if place not in self._sessions:
            self._sessions[place] = self._new()
        self._sessions.move_to_end(place)
        if len(self._sessions) > self._most:
            self._sessions.popitem(last=False)
        return self._sessions[place]

    def __len__(self) -> int:
        return len(self._sessions)
