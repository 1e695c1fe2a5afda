"""The client of a running server, for the commands of its API."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from vicw_runtime.console import fail
from vicw_runtime.terminal.recorded_address import recorded_address

if TYPE_CHECKING:  # slow to import, and not every command comes to need it
    from vicw_client import Retry, VicwClient

_START = (
    ". Is the server running? Start it with `vicw serve`, or the platform with `docker compose up -d`. "
    "If it has another address, name that with --url or VICW_URL"
)
UrlOption = Annotated[
    str | None,
    typer.Option(
        help="Address of the server. \\[default: VICW_URL, or the server that has the data directory open, or "
        "http://127.0.0.1:8080]"
    ),
]


def connect(url: str | None, retry: Retry | None = None) -> VicwClient:
    """Return a client of the server at ``url`` (None: the usual one). Ends the command if the address is invalid."""
    from vicw_client import VicwClient, VicwClientError

    try:
        return VicwClient(url or recorded_address(), retry=retry)
    except VicwClientError as error:
        fail(f"{error}. Correct --url or VICW_URL", code=2)


@contextmanager
def server(url: str | None) -> Iterator[VicwClient]:
    """Yield a client of the server at ``url``. A refusal or an unreachable server ends the command."""
    from vicw_client import VicwClientError

    with connect(url) as client:
        try:
            yield client
        except VicwClientError as error:
            fail(f"{error}{hint(error)}")


def require_server(client: VicwClient) -> None:
    """End the command at once if no server answers: the import itself would keep retrying."""
    from vicw_client import VicwClientError

    try:
        state = client.ready()
    except VicwClientError as error:
        fail(str(error), code=2)
    if not state.answered:
        fail(f"{state.detail}{_START}", code=2)


def hint(error: BaseException | None) -> str:
    """Return the advice for an unreachable server, else an empty text."""
    from vicw_client import ServerUnreachableError

    return _START if isinstance(error, ServerUnreachableError) else ""
