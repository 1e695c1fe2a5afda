"""The questions to the graph itself, for asyncio."""

from __future__ import annotations

from typing import Any, Protocol

from vicw_client import _protocol
from vicw_client._protocol import Retry, Steps
from vicw_shared.wire.graph import (
    FindRequest,
    GraphAnswer,
    GraphQuestion,
    HistoryRequest,
    NodeQuestion,
    ThreadRequest,
    WalkRequest,
)


class AsyncRunner(Protocol):
    """Carries the steps of a call out."""

    async def __call__[T](self, steps: Steps[T]) -> T: ...


class AsyncGraphClient:
    """What `AsyncVicwClient.graph` is: one method a question, to be awaited.

    Each takes its request, or the fields of it as keywords. Raises BadRequestError where a name means nothing, or
    several things: then it names them.
    """

    def __init__(self, run: AsyncRunner, retry: Retry, base: str) -> None:
        self._run = run
        self._retry = retry
        self._base = base

    async def find(self, request: FindRequest | None = None, /, **fields: Any) -> GraphAnswer:
        """Return what a uid, an id or a name may mean, or a context's named things."""
        return await self._ask("find", FindRequest, request, fields)

    async def walk(self, request: WalkRequest | None = None, /, **fields: Any) -> GraphAnswer:
        """Return everything within some hops of where the walk begins."""
        return await self._ask("walk", WalkRequest, request, fields)

    async def about(self, request: NodeQuestion | None = None, /, **fields: Any) -> GraphAnswer:
        """Return a person and the memories about him, the newest first."""
        return await self._ask("about", NodeQuestion, request, fields)

    async def person(self, request: NodeQuestion | None = None, /, **fields: Any) -> GraphAnswer:
        """Return a user and the person that he is."""
        return await self._ask("person", NodeQuestion, request, fields)

    async def users(self, request: NodeQuestion | None = None, /, **fields: Any) -> GraphAnswer:
        """Return a person and the users that are he."""
        return await self._ask("users", NodeQuestion, request, fields)

    async def history(self, request: HistoryRequest | None = None, /, **fields: Any) -> GraphAnswer:
        """Return what replaced what, the newest first: of an item, about a thing, or in all of a context."""
        return await self._ask("history", HistoryRequest, request, fields)

    async def merges(self, request: NodeQuestion | None = None, /, **fields: Any) -> GraphAnswer:
        """Return what was merged into what, around a thing."""
        return await self._ask("merges", NodeQuestion, request, fields)

    async def thread(self, request: ThreadRequest | None = None, /, **fields: Any) -> GraphAnswer:
        """Return one flow in its order."""
        return await self._ask("thread", ThreadRequest, request, fields)

    async def _ask[M: GraphQuestion](
        self, name: str, model: type[M], request: M | None, fields: dict[str, Any]
    ) -> GraphAnswer:
        return await self._run(_protocol.graph(name, model, request, fields, self._retry, self._base))
