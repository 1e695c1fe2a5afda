"""Client of ``/admin`` for the server that has a data directory open."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Any, Self

import httpx
from pydantic import BaseModel, ValidationError

from vicw_shared.errors import FatalError, UnavailableError
from vicw_shared.wire.admin import (
    Undone,
    UndoRequest,
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

    def undo(self, step: str) -> str:
        """Undo a step of the sleep cycle; return the server's message. Raises FatalError with it on a refusal."""
        return self._send("POST", "/admin/sleep/undo", Undone, content=UndoRequest(step=step).model_dump_json()).message

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
