"""State that both kinds of window show."""

from __future__ import annotations

from collections.abc import Sequence

from vicw_client.errors import VicwClientError
from vicw_client.window.core import WindowCore
from vicw_client.window.delivery import FailedTurn
from vicw_client.window.tokens import Message
from vicw_shared.wire.retrieve import RetrieveResponse


class WindowView:
    """The state of a window."""

    def __init__(self, core: WindowCore) -> None:
        self._core = core

    @property
    def budget(self) -> int:
        """Tokens that the messages may take."""
        return self._core.options.budget

    @property
    def flow_id(self) -> str:
        """The flow that the turns are stored in."""
        return self._core.flow_id

    @property
    def system(self) -> str | None:
        """The system message; may be changed."""
        return self._core.system

    @system.setter
    def system(self, text: str | None) -> None:
        self._core.system = text

    @property
    def degraded(self) -> str | None:
        """Why the messages of the last ``ask`` have no memory; None if memory answered."""
        return self._core.degraded

    @property
    def memory(self) -> RetrieveResponse | None:
        """VICW's answer to the last ``ask``."""
        return self._core.memory

    @property
    def waiting(self) -> int:
        """How many turns are not stored yet."""
        return self._core.waiting()

    @property
    def last_error(self) -> VicwClientError | None:
        """Why the last attempt to store turns failed; None if it succeeded."""
        return self._core.delivery.storing.error

    def cost(self, messages: Sequence[Message]) -> int:
        """Return the tokens of messages, counted as the budget is."""
        return self._core.cost(messages)

    @property
    def failed(self) -> tuple[FailedTurn, ...]:
        """Turns that VICW refused, with the reason."""
        return tuple(self._core.delivery.failed.values())
