"""Graph questions: search, walks and histories."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from vicw_client import _protocol
from vicw_client._exchange import Retry, Steps
from vicw_shared.wire.graph import (
    FindRequest,
    FlowRequest,
    GraphAnswer,
    GraphQuestion,
    HistoryRequest,
    NodeQuestion,
    WalkRequest,
)


class GraphClient[R]:
    """`VicwClient.graph` and `AsyncVicwClient.graph`: one method a question; the methods of the latter are awaited.

    Each takes its request, or the request's fields as keywords. Raises BadRequestError if a name matches no node, or
    several: then the error names them.
    """

    def __init__(self, run: Callable[[Steps[GraphAnswer]], R], retry: Retry, base: str) -> None:
        self._run = run
        self._retry = retry
        self._base = base

    def find(self, request: FindRequest | None = None, /, **fields: Any) -> R:
        """Return the nodes that a uid, an id or a name may refer to, or a context's entities."""
        return self._ask("find", FindRequest, request, fields)

    def walk(self, request: WalkRequest | None = None, /, **fields: Any) -> R:
        """Return all nodes within some hops of the start nodes."""
        return self._ask("walk", WalkRequest, request, fields)

    def about(self, request: NodeQuestion | None = None, /, **fields: Any) -> R:
        """Return a person and the memories about that person, the newest first."""
        return self._ask("about", NodeQuestion, request, fields)

    def person(self, request: NodeQuestion | None = None, /, **fields: Any) -> R:
        """Return a user and the person that the user is."""
        return self._ask("person", NodeQuestion, request, fields)

    def users(self, request: NodeQuestion | None = None, /, **fields: Any) -> R:
        """Return a person and that person's users."""
        return self._ask("users", NodeQuestion, request, fields)

    def history(self, request: HistoryRequest | None = None, /, **fields: Any) -> R:
        """Return supersessions, the newest first: of an item, about an entity, or in a whole context."""
        return self._ask("history", HistoryRequest, request, fields)

    def merges(self, request: NodeQuestion | None = None, /, **fields: Any) -> R:
        """Return the merges around an entity."""
        return self._ask("merges", NodeQuestion, request, fields)

    def flow(self, request: FlowRequest | None = None, /, **fields: Any) -> R:
        """Return one flow in its order."""
        return self._ask("flow", FlowRequest, request, fields)

    def _ask[M: GraphQuestion](self, name: str, model: type[M], request: M | None, fields: dict[str, Any]) -> R:
        return self._run(_protocol.graph(name, model, request, fields, self._retry, self._base))
