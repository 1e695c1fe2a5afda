"""Client of ``/admin`` for the server that has a data directory open."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

import httpx
from pydantic import BaseModel, ValidationError

from vicw_shared.errors import FatalError, UnavailableError
from vicw_shared.progress import Progress
from vicw_shared.wire.admin import (
    DroppedIndexes,
    PointVectors,
    ReindexRequest,
    ReindexResult,
    ReindexState,
    VectorsRequest,
)

_TIMEOUT_SECONDS = 60.0
_POLL_SECONDS = 0.5
_OUTAGE_SECONDS = 30.0


class Remote:
    """A server's ``/admin``, with the API key in ``VICW_API_KEY`` if it is set."""

    def __init__(self, url: str) -> None:
        key = os.environ.get("VICW_API_KEY")
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
        self._http = httpx.Client(base_url=url, headers=headers, timeout=_TIMEOUT_SECONDS, trust_env=False)
        self._url = url

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()

    def start(self, model: str | None) -> None:
        """Start a reindexing. Raises FatalError with the server's message if it refuses."""
        self._send("POST", "/admin/reindex", ReindexState, content=ReindexRequest(model=model).model_dump_json())

    def watch(self, progress: Progress) -> ReindexResult:
        """Wait for the run and return its result. Raises FatalError if it failed, UnavailableError without a server."""
        until = time.monotonic() + _OUTAGE_SECONDS
        while True:
            try:
                state = self.state()
            except UnavailableError:
                if time.monotonic() > until:
                    raise
                time.sleep(_POLL_SECONDS)
                continue
            until = time.monotonic() + _OUTAGE_SECONDS
            if state.running:
                progress(state.phase, state.done, state.total)
                time.sleep(_POLL_SECONDS)
                continue
            if state.result is None:
                raise FatalError(state.error or "The server was restarted meanwhile; run the command again to continue")
            return state.result

    def state(self) -> ReindexState:
        """Return the state of the reindexing."""
        return self._send("GET", "/admin/reindex", ReindexState)

    def drop_old(self) -> tuple[str, ...]:
        """Remove unused indexes; return their models."""
        return self._send("DELETE", "/admin/reindex/old", DroppedIndexes).models

    def vectors(self, ids: Sequence[str]) -> PointVectors:
        """Return vectors of the server's index, of at most 1000 points."""
        return self._send(
            "POST", "/admin/vectors", PointVectors, content=VectorsRequest(ids=tuple(ids)).model_dump_json()
        )

    def _send[T: BaseModel](self, method: str, path: str, expected: type[T], **arguments: Any) -> T:
        try:
            answer = self._http.request(method, path, **arguments)
        except httpx.TransportError as error:
            raise UnavailableError(
                "server", f"{self._url} does not answer: {str(error) or type(error).__name__}"
            ) from error
        try:
            if answer.is_success:
                return expected.model_validate_json(answer.content)
            detail = str(answer.json()["detail"])
        except (ValueError, KeyError, TypeError, ValidationError):
            detail = answer.text[:200]
        raise FatalError(f"The server at {self._url} answers {answer.status_code}: {detail}")
