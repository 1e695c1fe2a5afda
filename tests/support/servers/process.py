"""A server of the tests' own, which can be killed and started again."""

from __future__ import annotations

import time
from collections.abc import Callable

from support.servers.machine import Machine
from support.servers.sources import NotReady, Unavailable

_POLL_SECONDS = 0.05
_TAIL = 3000


class ServerProcess[H]:
    """Keeps its data, address and password over ``kill`` and ``restart``."""

    def __init__(self, server: H, machine: Machine, ping: Callable[[H], None], *, within: float) -> None:
        """``ping`` returns when the server answers its own client and raises ``NotReady`` before."""
        self.server = server
        self._machine = machine
        self._ping = ping
        self._within = within

    def start(self, *first: Callable[[H], None]) -> None:
        """Start it and return when it answers.

        ``first`` is asked before ``ping``, in the same way. Raises ``Unavailable`` with the end of the server's log.
        """
        deadline = time.monotonic() + self._within
        self._machine.start()
        for answers in (*first, self._ping):
            self._await(answers, deadline)

    def kill(self) -> None:
        """End it with SIGKILL, as a power cut would."""
        self._machine.kill()

    def restart(self) -> None:
        """Start it again, over the same data, at the same address; kill it first if it runs."""
        self._machine.kill()
        self.start()

    def close(self) -> None:
        self._machine.close()

    def _await(self, answers: Callable[[H], None], deadline: float) -> None:
        while True:
            try:
                return answers(self.server)
            except NotReady as reason:
                if not self._machine.running():
                    raise Unavailable(f"it ended instead of answering; {self._tail()}") from reason
                if time.monotonic() > deadline:
                    raise Unavailable(f"no answer within {self._within:g} s ({reason}); {self._tail()}") from reason
            time.sleep(_POLL_SECONDS)

    def _tail(self) -> str:
        return f"its log ends:\n{self._machine.log()[-_TAIL:]}"


def started[H](
    server: H, machine: Machine, ping: Callable[[H], None], *first: Callable[[H], None], within: float
) -> ServerProcess[H]:
    """Return a new server that answers; raise ``Unavailable`` and leave nothing behind if it does not."""
    process = ServerProcess(server, machine, ping, within=within)
    try:
        process.start(*first)
    except BaseException:
        process.close()
        raise
    return process
