"""A server at an address, for commands that a key may run there: by its public API, of the key's tenant alone."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

import typer

from vicw_runtime.console import fail, out
from vicw_runtime.operations.command import Access, Place

if TYPE_CHECKING:
    from vicw_runtime.operations.remote_memory import RemoteMemory


def remote_of(ctx: typer.Context, place: Place) -> AbstractContextManager[RemoteMemory] | None:
    """Return the server that ``--url`` names, else ``VICW_URL``; None: the owner's way is open.

    It is, if ``--data-dir`` or ``--platform`` says so, or the server at ``VICW_URL`` has the data directory open. In
    the context a refusal, or a server that does not answer, ends the command.
    """
    if place.url is not None and (place.platform or place.data_dir is not None):
        fail("--url excludes --platform and --data-dir: name one place", code=2)
    url = place.url
    if url is None and not place.platform and place.data_dir is None:
        url = os.environ.get("VICW_URL", "").strip() or None
    access: Access = ctx.obj
    if url is None or (place.url is None and _is_own(access, url)):
        return None
    return access.remote(url)


def run_or_ask[R](
    ctx: typer.Context,
    place: Place,
    run: Callable[[], R],
    ask: Callable[[RemoteMemory], R],
    *,
    also_refused: bool = False,
) -> R:
    """Return what ``run`` does by an operation; where the server has none (the platform), what ``ask`` does.

    ``also_refused``: also where the key may not run the operation, which is of all tenants.
    """
    from vicw_runtime.operations.client import NoOperationError
    from vicw_shared.errors import ForbiddenError

    try:
        return run()
    except (NoOperationError, ForbiddenError) as error:
        if place.url is None or (isinstance(error, ForbiddenError) and not also_refused):
            raise
    access: Access = ctx.obj
    with access.remote(place.url) as memory:
        return ask(memory)


def run_job_or_ask[R](
    ctx: typer.Context, place: Place, job: str, run: Callable[[], R], *options: str, as_json: bool
) -> R | None:
    """Return what ``run`` does by an operation; where the server has none, have a worker run the job: then None.

    The worker runs it as its schedule would: any of these ``options`` ends the command.
    """
    from vicw_runtime.terminal.json_option import print_json

    def ask(memory: RemoteMemory) -> None:
        refuse_options(ctx, *options, why="says nothing here: the platform runs a job as its schedule would")
        started = memory.run_job(job)
        if as_json:
            print_json(started)
        else:
            out.print(f"a worker runs {job} soon; `vicw sleep status --url …` shows its run", markup=False)

    return run_or_ask(ctx, place, run, ask)


def refuse_options(
    ctx: typer.Context, *names: str, why: str = "is for who owns the data: a key has one tenant"
) -> None:
    """End the command if one of these options was given: the server decides what they say."""
    for name in names:
        source = ctx.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            fail(f"--{name.replace('_', '-')} {why}. Leave it out", code=2)


def _is_own(access: Access, url: str) -> bool:
    own = access.server(Place())
    return own is not None and _plain(own.url) == _plain(url)


def _plain(url: str) -> str:
    return url.rstrip("/").replace("//localhost", "//127.0.0.1").casefold()
