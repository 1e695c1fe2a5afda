"""The window of the blocking client."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from datetime import datetime
from types import TracebackType
from typing import Any, Protocol, Self

from vicw_client._exchange import Steps
from vicw_client.errors import NotStoredError
from vicw_client.window.core import WindowCore
from vicw_client.window.tokens import Message
from vicw_client.window.view import WindowView


class SyncWindowRunner(Protocol):
    """Carries out the steps of a call."""

    def __call__[T](self, steps: Steps[T], /) -> T:
        """Return the result of the steps."""
        ...


class Window(WindowView):
    """One conversation, made by `VicwClient.window`; close it, or use it in ``with``. Its calls are serialised."""

    def __init__(self, core: WindowCore, run: SyncWindowRunner) -> None:
        super().__init__(core)
        self._run = run
        self._lock = threading.Lock()

    def ask(
        self, text: str, *, name: str | None = None, timestamp: datetime | None = None, query: str | None = None
    ) -> list[Message]:
        """Record what the user says, and return the messages to send to the model, the newest last.

        ``query`` replaces the text as the question to memory. Raises BadRequestError, and records nothing, if the text
        is empty or takes more tokens than the window has. An unavailable server raises nothing.
        """
        with self._lock:
            return self._run(self._core.ask(text, name, timestamp, query))

    def answer(self, text: str, *, name: str | None = None, timestamp: datetime | None = None) -> None:
        """Record what the model replied."""
        self.add({"role": "assistant", "content": text}, name=name, timestamp=timestamp)

    def add(self, message: Mapping[str, Any], *, name: str | None = None, timestamp: datetime | None = None) -> None:
        """Record any message in OpenAI's form: a model's tool calls, a tool's answer.

        Raises BadRequestError, and records nothing, if fields are wrong or it takes more tokens than the window has.
        """
        with self._lock:
            self._run(self._core.add(message, name, timestamp))

    def messages(self) -> list[Message]:
        """Return the messages to send to the model after a tool's answer, with the memory of the last `ask`."""
        with self._lock:
            return self._core.messages()

    def flush(self) -> bool:
        """Store every turn, with the client's retries, and keep all in the window. Return whether all are stored."""
        with self._lock:
            return self._run(self._core.flush())

    def retry_failed(self) -> bool:
        """Send the turns of ``failed`` again; return whether all are stored."""
        with self._lock:
            return self._run(self._core.retry_failed())

    def close(self) -> None:
        """Store every turn, and close. The client stays open.

        Raises NotStoredError if turns would be lost, without a spool; the window then stays open.
        """
        with self._lock:
            self._run(self._core.finish())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.close()
        except NotStoredError as lost:
            if error is None:
                raise
            error.add_note(str(lost))
