"""``vicw sleep log``, ``vicw sleep status`` and ``vicw sleep undo``."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from vicw_runtime.console import err, harmless, out
from vicw_runtime.operations.command import (
    DataDirOption,
    Place,
    PlatformOption,
    ServerOption,
    TenantOption,
    run_command,
)
from vicw_runtime.operations.remote import refuse_options, run_or_ask
from vicw_runtime.terminal.json_option import JsonOption, print_json
from vicw_shared.ports import MaintenanceStep
from vicw_shared.text import counted
from vicw_sleep.dream.cli import describe_tags
from vicw_sleep.history import remote
from vicw_sleep.history.model import LoggedTask
from vicw_sleep.resolve.cli import describe_merge

if TYPE_CHECKING:
    from vicw_runtime.operations.remote_memory import RemoteMemory
    from vicw_sleep.history.api import LoggedStep, LogResult, StatusResult

type Describe = Callable[[MaintenanceStep, Mapping[str, str]], str]
"""Describes a step in a line, with the names of the nodes that it merged or retired, by uid."""


def _describe_consolidation(step: MaintenanceStep, names: Mapping[str, str]) -> str:
    sources = step.details.get("sources")
    events = counted(sources, "Event") if isinstance(sources, int) else "? Events"
    return f"{events} of flow {step.details.get('flow', '?')}"


descriptions: dict[str, Describe] = {LoggedTask.DREAM: describe_tags, LoggedTask.RESOLVE: describe_merge}
"""By task; other features add theirs. A step of another task is a consolidation."""


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(undo)
    app.command()(log)
    app.command()(status)


def undo(
    ctx: typer.Context,
    step: Annotated[str, typer.Argument(help="Id of the step, as `vicw sleep log` shows it")],
    as_json: JsonOption = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
    url: ServerOption = None,
) -> None:
    """Undo a step: restore consolidated Events, remove auto-tags, or split merged entities.

    A step can be undone for VICW_SLEEP_UNDO_DAYS; evicted and expired items cannot be brought back.
    """
    from vicw_sleep.history.api import UNDO, UndoRequest

    place, request = Place(data_dir, platform, url), UndoRequest(step=step)
    done = run_or_ask(
        ctx,
        place,
        lambda: run_command(ctx, UNDO, request, place),
        lambda memory: remote.undo(memory, step),
        also_refused=True,
    )
    if as_json:
        print_json(done)
    else:
        out.print(done.message)


def log(
    ctx: typer.Context,
    tenant: TenantOption = None,
    limit: Annotated[int, typer.Option(help="Maximum number of steps to list.", min=1)] = 50,
    task: Annotated[LoggedTask | None, typer.Option(help="Only steps of this task.")] = None,
    refused: Annotated[bool, typer.Option("--refused", help="Only refused batches, with the reasons.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one line of JSON per step.")] = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
    url: ServerOption = None,
) -> None:
    """List completed steps, the latest first, with the ids that `vicw sleep undo` takes.

    Expired items are listed too, but their expiry cannot be undone: send the item again.
    """
    from vicw_sleep.history.api import LOG, LogRequest

    def show(step: LoggedStep) -> None:
        out.print(_json(step) if as_json else _line(step), markup=False, highlight=False, soft_wrap=True)

    request = LogRequest(tenant=tenant, limit=limit, task=task, refused=refused)
    place = Place(data_dir, platform, url)

    def ask(memory: RemoteMemory) -> LogResult:
        refuse_options(ctx, "tenant")
        return remote.log(memory, request, show)

    done = run_or_ask(ctx, place, lambda: run_command(ctx, LOG, request, place, on_item=show), ask)
    if not done.steps:
        err.print("no such step is logged" if task or refused else "no step is logged yet")


def status(
    ctx: typer.Context,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
    url: ServerOption = None,
) -> None:
    """Show which jobs run, when each runs next, and how many steps were done in the last day.

    The times of the next runs come from the settings of the server, or of this environment if none runs.
    """
    from vicw_sleep.history.api import STATUS, StatusRequest

    place, request = Place(data_dir, platform, url), StatusRequest(tenant=tenant)

    def ask(memory: RemoteMemory) -> StatusResult:
        refuse_options(ctx, "tenant")
        return remote.status(memory)

    done = run_or_ask(ctx, place, lambda: run_command(ctx, STATUS, request, place), ask, also_refused=True)
    if as_json:
        print_json(done)
        return
    for line in done.jobs:
        out.print(line, markup=False, highlight=False, soft_wrap=True)
    last = f"{done.last_step_at:%Y-%m-%d %H:%M} UTC" if done.last_step_at is not None else "never"
    counts = ", ".join(f"{count} {kind}" for kind, count in done.recent.items())
    out.print(f"last step: {last}; in the last 24 hours: {counts}")


def _line(logged: LoggedStep) -> str:
    step = logged.step()
    describe = descriptions.get(step.task, _describe_consolidation)
    summary = describe(step, logged.names) if step.details else step.subject
    title = f"{step.at:%Y-%m-%d %H:%M}  {step.outcome.value:<8} {step.task}  {step.context}: {summary}"
    lines = step.id, title, str(step.details.get("name", "")), step.reason
    return "\n    ".join(" ".join(harmless(line).split("\n")) for line in lines if line)


def _json(logged: LoggedStep) -> str:
    step = logged.step()
    fields = {name: getattr(step, name) for name in step.__slots__}
    return json.dumps({**fields, "at": step.at.isoformat()}, ensure_ascii=False)
