"""Writes at a service that only reads: they go to the ingest service, under the caller's own key."""

from __future__ import annotations

import httpx
from pydantic import ValidationError

from vicw_shared.errors import BrokenError, ForbiddenError, TooSlowError, UnavailableError
from vicw_shared.settings import McpSettings
from vicw_shared.wire.base import Message
from vicw_shared.wire.ingest import IngestRequest, IngestResponse
from vicw_shared.wire.problem import Problem, error_of
from vicw_shared.wire.retract import RetractRequest, RetractResponse

_NAME = "ingest"
_CONNECT_SECONDS = 2.0


class HttpWriter:
    """Writes to one tenant's memory: the service finds it by the key in ``authorization``."""

    def __init__(self, client: httpx.AsyncClient, authorization: str | None) -> None:
        self._client = client
        self._headers = {"Authorization": authorization} if authorization is not None else {}

    async def ingest(self, request: IngestRequest) -> IngestResponse:
        """Store items."""
        return await self._post("/ingest", request, IngestResponse)

    async def retract(self, request: RetractRequest) -> RetractResponse:
        """Take items back."""
        return await self._post("/items/retract", request, RetractResponse)

    async def patch(self, path: str, query: str, body: bytes, if_match: str | None) -> httpx.Response:
        """Change an item; return the service's answer as it is, whatever it says."""
        headers = {"Content-Type": "application/json", **self._headers}
        if if_match is not None:
            headers["If-Match"] = if_match
        return await self._send("PATCH", f"{path}?{query}" if query else path, body, headers)

    async def _post[A: Message](self, path: str, request: Message, kind: type[A]) -> A:
        """Return the answer; raises the error that the service answers, or UnavailableError."""
        body = request.model_dump_json(exclude_unset=True).encode()
        answer = await self._send("POST", path, body, {"Content-Type": "application/json", **self._headers})
        try:
            if answer.is_success:
                return kind.model_validate_json(answer.content)
            raise error_of(Problem.model_validate_json(answer.content))
        except ValidationError as error:
            raise BrokenError(_NAME, f"its answer, of status {answer.status_code}, is none of VICW's") from error

    async def _send(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> httpx.Response:
        try:
            return await self._client.request(method, path, content=body, headers=headers)
        except httpx.TimeoutException as error:
            raise TooSlowError(_NAME, "no answer in time; what was sent may be stored all the same") from error
        except httpx.RequestError as error:
            raise UnavailableError(_NAME, f"cannot be reached: {type(error).__name__}") from error


class NoWriter:
    """Refuses to write: the service does not know where to."""

    async def ingest(self, request: IngestRequest) -> IngestResponse:
        """Raise ForbiddenError."""
        raise _nowhere()

    async def retract(self, request: RetractRequest) -> RetractResponse:
        """Raise ForbiddenError."""
        raise _nowhere()

    async def patch(self, path: str, query: str, body: bytes, if_match: str | None) -> httpx.Response:
        """Raise ForbiddenError."""
        raise _nowhere()


def _nowhere() -> ForbiddenError:
    return ForbiddenError("This service only reads. Its operator names the ingest service in VICW_MCP_INGEST_URL")


class HttpWriters:
    """The writers of a service, over one pool of connections, opened with the first."""

    def __init__(self, settings: McpSettings) -> None:
        self._settings = settings
        self._client: httpx.AsyncClient | None = None

    def of(self, authorization: str | None) -> HttpWriter | NoWriter:
        """Return the writer for a request with this ``Authorization`` header."""
        if self._settings.ingest_url is None:
            return NoWriter()
        if self._client is None:
            timeout = httpx.Timeout(self._settings.write_seconds, connect=_CONNECT_SECONDS)
            self._client = httpx.AsyncClient(base_url=self._settings.ingest_url, timeout=timeout, trust_env=False)
        return HttpWriter(self._client, authorization)

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()
