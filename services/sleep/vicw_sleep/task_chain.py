"""One chain of tasks at a time: each does a part and sends the next. A key in Redis says whose turn it is.

A chain whose key has run out, since a worker died, is over; the next one begins anew. That two run at once is
waste, no harm.
"""

from __future__ import annotations

from uuid import uuid4

import redis

SECONDS = 900
"""How long a task may wait and work before its chain is given up."""
_RESTING = b"resting"


class TaskChain:
    """The right to go on with a ``task``, passed on by the chain's name. Every method raises RedisError."""

    def __init__(self, client: redis.Redis, task: str) -> None:
        self._client = client
        self._key = key_of(task)

    def hold(self, name: str | None) -> str | None:
        """Begin a chain (None), or go on with the one of that name; return its name, None if it is not its turn."""
        if name is None:
            name = uuid4().hex
            return name if self._client.set(self._key, name, nx=True, ex=SECONDS) else None
        held = self._client.get(self._key) == name.encode()
        return name if held and self._client.expire(self._key, SECONDS) else None

    def end(self, name: str, *, rest_seconds: int = 0) -> None:
        """Let another chain begin, now or after a rest."""
        if self._client.get(self._key) != name.encode():
            return
        if rest_seconds:
            self._client.set(self._key, _RESTING, ex=rest_seconds)
        else:
            self._client.delete(self._key)

    def may_begin(self, *, rested: bool) -> bool:
        """Tell whether another chain may begin; where it has ``rested`` enough, it may from now on."""
        if rested and self._client.get(self._key) == _RESTING:
            self._client.delete(self._key)
        return not self._client.exists(self._key)


def key_of(task: str) -> str:
    """Return the key that says whose turn it is at a task."""
    return f"vicw:chain:{task}"
