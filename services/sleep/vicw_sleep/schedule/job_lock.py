"""Lock that lets one chain of tasks run at a time. Each task does a part and sends the next; the lock is a key in
Redis.

If a worker dies, the key expires, the chain is over and the next one starts from the beginning. Two concurrent chains
are wasteful, not harmful.
"""

from __future__ import annotations

from uuid import uuid4

import redis

SECONDS = 900
"""How long a task may wait and work before its chain is given up."""
_RESTING = b"resting"


class JobLock:
    """The lock of a ``task``, passed from task to task by the chain's name. Every method raises RedisError."""

    def __init__(self, client: redis.Redis, task: str) -> None:
        self._client = client
        self._key = key_of(task)

    def hold(self, name: str | None) -> str | None:
        """Start a chain (None), or continue the named one; return its name, or None if another chain holds the lock."""
        if name is None:
            name = uuid4().hex
            return name if self._client.set(self._key, name, nx=True, ex=SECONDS) else None
        is_holder = self._client.get(self._key) == name.encode()
        return name if is_holder and self._client.expire(self._key, SECONDS) else None

    def end(self, name: str, *, rest_seconds: int = 0) -> None:
        """Release the lock, at once or after a cool-down."""
        if self._client.get(self._key) != name.encode():
            return
        if rest_seconds:
            self._client.set(self._key, _RESTING, ex=rest_seconds)
        else:
            self._client.delete(self._key)

    def may_begin(self, *, rested: bool) -> bool:
        """Return whether another chain may start; ``rested`` ends a cool-down early."""
        if rested and self._client.get(self._key) == _RESTING:
            self._client.delete(self._key)
        return not self._client.exists(self._key)


def key_of(task: str) -> str:
    """Return the Redis key of a task's lock."""
    return f"vicw:chain:{task}"
