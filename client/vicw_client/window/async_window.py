"""The window of the client for asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import datetime
from types import TracebackType
from typing import Any, Protocol, Self

from vicw_client._exchange import Steps
from vicw_client.errors import NotStoredError
from vicw_client.window.core import WindowCore
from vicw_client.window.tokens import Message
from vicw_client.window.view import WindowView


class AsyncWindowRunner(Protocol):
    """Carries out the steps of a call."""

    async def __call__[T](self, steps: Steps[T], /) -> T:
        """Return the result of the steps."""
        ...


class AsyncWindow(WindowView):
    """`Window` for asyncio: the same methods and errors, serialised calls. Close it, or use it in ``async with``.

    A spool line is written without an await, so that no cancellation truncates it.
    """

    def __init__(self, core: WindowCore, run: AsyncWindowRunner) -> None:
        super().__init__(core)
        self._run = run
        self._lock = asyncio.Lock()

    async def ask(
        self, text: str, *, name: str | None = None, timestamp: datetime | None = None, query: str | None = None
    ) -> list[Message]:
        """Record what the user says, and return the messages to send; see `Window.ask`."""
        async with self._lock:
            return await self._run(self._core.ask(text, name, timestamp, query))

    async def answer(self, text: str, *, name: str | None = None, timestamp: datetime | None = None) -> None:
        """Record what the model replied."""
        await self.add({"role": "assistant", "content": text}, name=name, timestamp=timestamp)

    async def add(
        self, message: Mapping[str, Any], *, name: str | None = None, timestamp: datetime | None = None
    ) -> None:
        """Record any message in OpenAI's form; see `Window.add`."""
        async with self._lock:
            await self._run(self._core.add(message, name, timestamp))

    async def messages(self) -> list[Message]:
        """Return what to send to the model now; see `Window.messages`."""
        async with self._lock:
            return self._core.messages()

    async def flush(self) -> bool:
        """Store every turn; see `Window.flush`."""
        async with self._lock:
            return await self._run(self._core.flush())

    async def retry_failed(self) -> bool:
        """Send the turns of ``failed`` once more; see `Window.retry_failed`."""
        async with self._lock:
            return await self._run(self._core.retry_failed())

    async def aclose(self) -> None:
        """Store every turn, and close; see `Window.close`."""
        async with self._lock:
            await self._run(self._core.finish())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self.aclose()
        except NotStoredError as lost:
            if error is None:
                raise
            error.add_note(str(lost))
