"""``vicw sleep``: the commands of the sleep cycle's features."""

from __future__ import annotations

<<<<<<< HEAD
=======
import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

>>>>>>> main
import typer

from vicw_ingest.eviction.cli import describe_eviction
from vicw_ingest.expiry import cli as expiry
from vicw_sleep.consolidation import cli as consolidation
from vicw_sleep.dream import cli as dream
from vicw_sleep.history import cli as history
from vicw_sleep.history.model import LoggedTask
from vicw_sleep.reconcile import cli as reconcile
<<<<<<< HEAD
from vicw_sleep.resolve import cli as resolve
=======
from vicw_standalone.cli import dreams, resolve
from vicw_standalone.cli.job_runs import status_lines
from vicw_standalone.cli.jobs import TenantOption, open_graph_of
from vicw_standalone.cli.maintenance import run_maintenance
from vicw_standalone.cli.models import DataDirOption, PlatformOption
from vicw_standalone.remote import Remote
from vicw_standalone.settings import read_settings
from vicw_stores.data_dir import DataDir

if TYPE_CHECKING:
    from vicw_core.consolidation.consolidate import ConsolidatedBatch
    from vicw_runtime.operations import Memory
    from vicw_shared.ports import Flow, GraphStore, Scans

_EXPIRED = "expired"
"""Expired items are counted apart: they may be many, and no maintenance made them."""


class LoggedTask(StrEnum):
    """A task that logs its steps."""

    CONSOLIDATE = "consolidate"
    DREAM = DREAM
    RESOLVE = RESOLVE
    EVICT = "forget"
    EXPIRE = "expire"


app = typer.Typer(
    help="Background jobs: consolidation, dreams, entity resolution, reconciliation, expiry, and undo.",
    no_args_is_help=True,
)
>>>>>>> main


def register(parent: typer.Typer) -> None:
    """Add the subcommands."""
    app = typer.Typer(
        help="Background jobs: consolidation, dreams, entity resolution, reconciliation, expiry, and undo.",
        no_args_is_help=True,
    )
    for feature in (consolidation, dream, resolve, reconcile, expiry, history):
        feature.register(app)
    history.descriptions[LoggedTask.EXPIRE] = expiry.describe_expiry
    history.descriptions[LoggedTask.EVICT] = lambda step, names: describe_eviction(step)
    parent.add_typer(app, name="sleep")
<<<<<<< HEAD
=======


@app.command()
def consolidate(
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would be consolidated and what would not.")
    ] = False,
    hours: Annotated[
        float | None,
        typer.Option(
            help="Only Events older than this many hours. \\[default: VICW_CONSOLIDATE_HOURS]", min=0, max=100_000
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(help="Maximum number of Macro-Events to create. \\[default: all]", min=1)
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Also try batches that were refused or undone before.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the last line.")] = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """Replace several old Events of a flow by one Macro-Event, where its summary loses nothing.

    The proof stays and is found as before; `vicw sleep undo` restores the Events. A server runs this automatically
    (VICW_CONSOLIDATE_SCHEDULE), so no server may have the data directory open; with --platform, services may run. After
    a kill, completed steps stay; run the command again to continue.
    """
    from vicw_sleep.consolidation.job import consolidation_of, rules_of

    settings = read_settings(data_dir=data_dir)
    chosen = settings.consolidation
    if hours is not None:
        chosen = chosen.model_copy(update={"hours": hours})

    def show_batch(flow: Flow, consolidate: ConsolidatedBatch | None, reason: str) -> None:
        place = f"{flow.context} · {flow.flow_id}"
        line = (
            f"consolidate  {place}: {counted(len(consolidate.sources), 'Event')}: {consolidate.name}"
            if consolidate is not None
            else ""
        )
        out.print(harmless(line or f"leave        {place}: {reason}"), markup=False, highlight=False)

    async def work(memory: Memory) -> None:
        consolidation = consolidation_of(memory)
        consolidation = consolidation if quiet else replace(consolidation, on_batch=show_batch)
        result = await consolidation.run(rules_of(chosen), now=now(), dry=dry_run, max_batches=limit, again=again)
        verb = "would become" if dry_run else "became"
        refused = f", {counted(result.refused, 'batch', 'batches')} refused" if result.refused else ""
        skipped = f", {result.skipped} refused or undone before (--again tries them again)" if result.skipped else ""
        changed = f", {result.changed} changed meanwhile" if result.changed else ""
        consolidated = f"{counted(result.events, 'Event')} of {counted(result.flows, 'flow')} {verb}"
        nothing = not (result.macros or result.refused or result.skipped or result.changed)
        young = f"; only Events stored more than {chosen.hours:g} h ago are consolidated (--hours)" if nothing else ""
        out.print(f"{consolidated} {counted(result.macros, 'Macro-Event')}{refused}{skipped}{changed}{young}")

    run_maintenance(settings, platform, work, schedule="VICW_CONSOLIDATE_SCHEDULE")


@app.command()
def undo(
    step: Annotated[str, typer.Argument(help="Id of the step, as `vicw sleep log` shows it")],
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """Undo a step: restore consolidated Events, remove auto-tags, or split merged entities.

    A step can be undone for VICW_SLEEP_UNDO_DAYS; evicted and expired items cannot be brought back. A server that has
    the data directory open does the work; if it requires keys, VICW_API_KEY must be a key with the right admin.
    """
    from vicw_standalone.undo import undo_step

    settings = read_settings(data_dir=data_dir)
    if not platform and (server := DataDir.read_address(settings.storage.data_dir)) is not None:
        with Remote(server) as remote:
            out.print(remote.undo(step))
        return

    async def work(memory: Memory) -> None:
        out.print(await undo_step(memory, step))

    run_maintenance(settings, platform, work, schedule=None)


@app.command()
def log(
    tenant: TenantOption = None,
    limit: Annotated[int, typer.Option(help="Maximum number of steps to list.", min=1)] = 50,
    task: Annotated[LoggedTask | None, typer.Option(help="Only steps of this task.")] = None,
    refused: Annotated[bool, typer.Option("--refused", help="Only refused batches, with the reasons.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one line of JSON per step.")] = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """List completed steps, the latest first, with the ids that `vicw sleep undo` takes.

    Expired items are listed too, but their expiry cannot be undone: send the item again.
    """

    async def read() -> tuple[list[MaintenanceStep], dict[str, str]]:
        async with open_graph_of(data_dir, platform) as graph:
            steps: list[MaintenanceStep] = []
            async for step in _steps(graph, tenant, task and task.value):
                if not refused or step.outcome is Outcome.REFUSED:
                    steps.append(step)
                if len(steps) == limit:
                    break
            return steps, await _names_in(graph, steps)

    steps, names = asyncio.run(read())
    for step in steps:
        out.print(_json(step) if as_json else _line(step, names), markup=False, highlight=False, soft_wrap=True)
    if not steps:
        err.print("no such step is logged" if task or refused else "no step is logged yet")


@app.command()
def status(
    tenant: TenantOption = None,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """Show which jobs run, when each runs next, and how many steps were done in the last day.

    The times of the next runs come from the settings of this environment.
    """

    from vicw_ingest.expiry.service import EXPIRE

    began = now()
    recent: Counter[str] = Counter()

    async def read() -> tuple[MaintenanceStep | None, list[JobRun]]:
        last: MaintenanceStep | None = None
        async with open_graph_of(data_dir, platform) as graph:
            async for step in _steps(graph, tenant):
                last = last or step
                if step.at <= began - timedelta(days=1):
                    break
                recent[_EXPIRED if step.task == EXPIRE else step.outcome.value] += 1
            return last, await graph.log.job_runs()

    step, runs = asyncio.run(read())
    for line in status_lines(read_settings(data_dir=data_dir), runs, began):
        out.print(line, markup=False, highlight=False, soft_wrap=True)
    last = f"{step.at:%Y-%m-%d %H:%M} UTC" if step is not None else "never"
    kinds = (*(outcome.value for outcome in Outcome), _EXPIRED)
    out.print(f"last step: {last}; in the last 24 hours: {', '.join(f'{recent[kind]} {kind}' for kind in kinds)}")


async def _steps(log: Scans, tenant: str | None, task: str | None = None) -> AsyncIterator[MaintenanceStep]:
    """Yield all logged steps, the latest first."""
    async for page in scan_pages(log, Steps(tenant=tenant, task=task)):
        for step in page:
            yield step


async def _names_in(graph: GraphStore, steps: Iterable[MaintenanceStep]) -> dict[str, str]:
    """Return the names, by uid, of the nodes that these steps merged or retired: steps hold no names."""
    from vicw_ingest.expiry.service import EXPIRE

    uids_by_tenant: dict[str, set[str]] = {}
    for step in steps:
        if step.task in {RESOLVE, EXPIRE}:
            ends = resolve.ends_of(step) if step.task == RESOLVE else (step.subject,)
            uids_by_tenant.setdefault(step.tenant, set()).update(ends)
    nodes_by_tenant = [await graph.nodes(tenant, sorted(uids)) for tenant, uids in uids_by_tenant.items()]
    return {uid: node.name for nodes in nodes_by_tenant for uid, node in nodes.items()}


def _description(step: MaintenanceStep, names: Mapping[str, str]) -> str:
    from vicw_ingest.eviction.service import EVICT
    from vicw_ingest.expiry.service import EXPIRE

    if step.task == DREAM:
        return dreams.describe_step(step)
    if step.task == RESOLVE:
        return resolve.describe_step(step, names)
    if step.task == EVICT:
        return describe_eviction(step)
    if step.task == EXPIRE:
        return expiry.describe_expiry(step, names)
    sources = step.details.get("sources")
    events = counted(sources, "Event") if isinstance(sources, int) else "? Events"
    return f"{events} of flow {step.details.get('flow', '?')}"


def _line(step: MaintenanceStep, names: Mapping[str, str]) -> str:
    summary = _description(step, names)
    title = f"{step.at:%Y-%m-%d %H:%M}  {step.outcome.value:<8} {step.task}  {step.context}: {summary}"
    lines = step.id, title, str(step.details.get("name", "")), step.reason
    return "\n    ".join(" ".join(harmless(line).split("\n")) for line in lines if line)


def _json(step: MaintenanceStep) -> str:
    fields = {name: getattr(step, name) for name in step.__slots__}
    payload = {**fields, "at": step.at.isoformat(), "details": dict(step.details)}
    return json.dumps(payload, ensure_ascii=False)
>>>>>>> main
