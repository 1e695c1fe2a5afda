"""Runs an operation for a command: through the server that has the memory open, else over stores that it opens."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import typer

from vicw_runtime.console import fail, progress_bar
from vicw_shared.errors import DataDirInUseError

if TYPE_CHECKING:  # every command imports this module, and few of them run an operation here
    from vicw_runtime.operations.client import ServerAddress
    from vicw_runtime.operations.memory import Stores
    from vicw_runtime.operations.operation import Opening, Operation, Report
    from vicw_runtime.operations.remote_memory import RemoteMemory
    from vicw_shared.wire.base import Message

DataDirOption = Annotated[
    Path | None, typer.Option(help="Data directory. \\[default: ~/.local/share/vicw, or VICW_DATA_DIR]")
]
PlatformOption = Annotated[
    bool, typer.Option("--platform", help="Use the platform's Neo4j and Qdrant: VICW_NEO4J_…, VICW_QDRANT_…")
]
ServerOption = Annotated[
    str | None,
    typer.Option("--url", help="Address of a server to use. \\[default: the one that has the data directory open]"),
]

RemoteOption = Annotated[
    str | None,
    typer.Option(
        "--url",
        help="Address of a server to ask, with VICW_API_KEY. \\[default: VICW_URL, or the one that has the data "
        "directory open]",
    ),
]


def tenant_name(given: str | None) -> str | None:
    """Return the value of ``--tenant``. Raises BadParameter for an invalid tenant name."""
    from vicw_shared.model.keys import tenant_flaw

    if given is not None and (problem := tenant_flaw(given)):
        raise typer.BadParameter(f"{problem}; use visible characters")
    return given


TenantOption = Annotated[
    str | None, typer.Option(help="Only this tenant. \\[default: all tenants]", callback=tenant_name)
]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a command finds the memory: at a ``url``, on the platform, or in a data directory (None: the default)."""

    data_dir: Path | None = None
    platform: bool = False
    url: str | None = None


class Access(Protocol):
    """The ways of an installation to a memory. The root of the commands carries it as the context's object."""

    def server(self, place: Place) -> ServerAddress | None:
        """Return the server to call; None if no server has this memory open."""
        ...

    def open(self, place: Place, opening: Opening) -> AbstractAsyncContextManager[Stores]:
        """Open the stores themselves. Raises DataDirInUseError while another process has them open."""
        ...

    def remote(self, url: str) -> AbstractContextManager[RemoteMemory]:
        """Yield a client of the server at an address. Whatever it refuses ends the command."""
        ...


def run_command[Q: Message, R: Message, I: Message](
    ctx: typer.Context,
    operation: Operation[Any, Q, R, I],
    request: Q,
    place: Place,
    *,
    progress: str = "working",
    on_item: Callable[[I], None] = lambda item: None,
    as_json: bool = False,
) -> R:
    """Run an operation and return its result; ``on_item`` is called for each item, in order.

    With ``as_json`` the result is printed as a JSON object, with the items as its ``items``, instead.

    Raises the operation's error, the same wherever it runs. If the data directory is in use by a process that is no
    server, the command ends with exit code 2.
    """
    import asyncio

    from vicw_runtime.logs import configure_logs
    from vicw_runtime.operations.client import call
    from vicw_runtime.operations.operation import NoItem, Report
    from vicw_runtime.terminal.json_option import print_json
    from vicw_shared.settings import LogSettings

    configure_logs(LogSettings(level="warning"))
    access: Access = ctx.obj
    if place.url is not None and place.platform:
        fail("--url and --platform exclude each other", code=2)
    items: list[I] = []
    with progress_bar(progress) as bar:
        report = Report(bar, items.append if as_json else on_item)
        server = access.server(place)
        if server is not None:
            done = call(server, operation, request, report)
        else:
            try:
                done = asyncio.run(_run_here(access, operation, request, place, report))
            except DataDirInUseError as error:
                fail(error.detail, code=2)
    if as_json:
        print_json(done, {} if operation.item is NoItem else {"items": items})
    return done


async def _run_here[Q: Message, R: Message, I: Message](
    access: Access, operation: Operation[Any, Q, R, I], request: Q, place: Place, report: Report[I]
) -> R:
    from vicw_core.tenants import require_tenant

    async with access.open(place, operation.opening) as memory:
        if operation.of_tenant:
            await require_tenant(memory.graph, request.tenant)  # type: ignore[attr-defined]
        return await operation.run(memory, request, report)
