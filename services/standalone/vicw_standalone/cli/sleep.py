"""``vicw sleep``: what the sleep cycle would do, does and did, and taking a step back."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from vicw_shared.clock import now
from vicw_shared.errors import DataDirError
from vicw_shared.logs import configure_logs
from vicw_shared.ports import Outcome, Step
from vicw_shared.settings import LogSettings
from vicw_standalone.cli.console import err, fail, harmless, out
from vicw_standalone.cli.jobs import TenantOption, open_graph_of
from vicw_standalone.cli.models import DataDirOption, PlatformOption
from vicw_standalone.cli.settings import read_settings
from vicw_standalone.settings import Settings

if TYPE_CHECKING:
    from vicw_shared.folding.fold import Fold
    from vicw_shared.ports import Flow
    from vicw_sleep.consolidation.consolidating import Consolidation, Told

_COUNTED = 10_000
app = typer.Typer(
    help="What happens to old memories: consolidation, its log, and taking a step back.", no_args_is_help=True
)


def register(parent: typer.Typer) -> None:
    """Add the subcommands."""
    parent.add_typer(app, name="sleep")


@app.command()
def consolidate(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be folded, and what not.")] = False,
    hours: Annotated[
        float | None,
        typer.Option(help="Fold what is older than so many hours. \\[default: VICW_CONSOLIDATE_HOURS]", min=0),
    ] = None,
    most: Annotated[int | None, typer.Option(help="Macro-Events made at most. \\[default: all]", min=1)] = None,
    again: Annotated[bool, typer.Option("--again", help="Judge anew what was refused or undone before.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the last line alone.")] = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """Make one Macro-Event of several old Events of a thread, where its summary loses nothing.

    The proof stays, and is found as before; what is folded can be taken back with `vicw sleep undo`. A server that has
    the data directory open does this by itself (VICW_CONSOLIDATE_SCHEDULE), so none may run; of the platform, whatever
    runs. Killed half-way, what is done is done; run it again, and it goes on.
    """
    from vicw_sleep.consolidation.turn import rules_of

    settings = read_settings(data_dir=data_dir)
    chosen = settings.consolidation
    if hours is not None:
        chosen = chosen.model_copy(update={"hours": hours})

    def tell(flow: Flow, fold: Fold | None, reason: str) -> None:
        where = f"{flow.context} · {flow.flow_id}"
        line = f"fold    {where}: {len(fold.sources)} Events: {fold.name}" if fold is not None else ""
        out.print(harmless(line or f"leave   {where}: {reason}"), markup=False, highlight=False)

    async def work(consolidation: Consolidation) -> None:
        done = await consolidation.run(rules_of(chosen), now=now(), dry=dry_run, most=most, again=again)
        verb = "would become" if dry_run else "became"
        refused = f", {done.refused} batches are refused" if done.refused else ""
        left = f", {done.left} are left as they were before (--again judges them anew)" if done.left else ""
        changed = f", {done.changed} changed meanwhile" if done.changed else ""
        out.print(
            f"{done.events} Events of {done.flows} threads {verb} {done.macros} Macro-Events{refused}{left}{changed}"
        )

    _run(settings, platform, work, told=None if quiet else tell)


@app.command()
def undo(
    step: Annotated[str, typer.Argument(help="Its id, as `vicw sleep log` shows it")],
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """Bring back what a step has folded, as it was, until VICW_CONSOLIDATE_UNDO_DAYS are over. No server may run."""
    settings = read_settings(data_dir=data_dir)

    async def work(consolidation: Consolidation) -> None:
        back = await consolidation.undo(step, now=now(), grace=settings.consolidation.grace)
        out.print(f"{len(back.items)} Events are back as they were")

    _run(settings, platform, work)


@app.command()
def log(
    tenant: TenantOption = None,
    limit: Annotated[int, typer.Option(help="Steps listed.", min=1)] = 50,
    refused: Annotated[bool, typer.Option("--refused", help="Only what was refused, with the reasons.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, a line a step.")] = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """List what was done, the latest first; each step with the id that `vicw sleep undo` takes."""

    async def read() -> list[Step]:
        async with open_graph_of(data_dir, platform) as graph:
            steps = await graph.steps(tenant, limit=_COUNTED if refused else limit)
            return [step for step in steps if not refused or step.outcome is Outcome.REFUSED][:limit]

    steps = asyncio.run(read())
    for step in steps:
        out.print(_json(step) if as_json else _line(step), markup=False, highlight=False, soft_wrap=True)
    if not steps:
        err.print("nothing was done yet")


@app.command()
def status(
    tenant: TenantOption = None,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """Say what runs when, and what was done in the last day."""
    from vicw_sleep.schedule import SCHEDULE, Schedule

    settings = read_settings(data_dir=data_dir)
    began = now()

    async def read() -> list[Step]:
        async with open_graph_of(data_dir, platform) as graph:
            return await graph.steps(tenant, limit=_COUNTED)

    steps = asyncio.run(read())
    recent = Counter(step.outcome for step in steps if step.at > began - timedelta(days=1))
    rest = Schedule(SCHEDULE, settings.consolidation.schedule, began).rest(began)
    when = "never by itself" if rest is None else f"next at {began + rest:%Y-%m-%d %H:%M} UTC"
    when = "paused (VICW_SLEEP_PAUSED)" if settings.sleep.paused else when
    out.print(f"consolidation: {when}")
    last = f"{steps[0].at:%Y-%m-%d %H:%M} UTC" if steps else "never"
    out.print(f"last step: {last}; in the last day " + ", ".join(f"{recent[one]} {one.value}" for one in Outcome))


def _line(step: Step) -> str:
    told = f"{step.details.get('sources', '?')} Events of {step.details.get('flow', '?')}"
    what = f"{step.at:%Y-%m-%d %H:%M}  {step.outcome.value:<8} {step.task}  {step.context}: {told}"
    lines = step.id, what, str(step.details.get("name", "")), step.reason
    return "\n    ".join(" ".join(harmless(line).split("\n")) for line in lines if line)


def _json(step: Step) -> str:
    fields = {name: getattr(step, name) for name in step.__slots__}
    told = {**fields, "at": step.at.isoformat(), "details": dict(step.details)}
    return json.dumps(told, ensure_ascii=False)


def _run(
    settings: Settings, platform: bool, work: Callable[[Consolidation], Awaitable[None]], told: Told | None = None
) -> None:
    async def run() -> None:
        async with _on_platform(told) if platform else _on_directory(settings, told) as consolidation:
            await work(consolidation)

    configure_logs(LogSettings(level="warning"))
    asyncio.run(run())


@asynccontextmanager
async def _on_directory(settings: Settings, told: Told | None) -> AsyncIterator[Consolidation]:
    from vicw_standalone.offline import require_store
    from vicw_standalone.wiring import Standalone

    require_store(settings.storage.data_dir)
    standalone = Standalone(settings)
    try:
        await standalone.open()
    except DataDirError as error:
        fail(
            f"{error.detail}. A server consolidates by itself (VICW_CONSOLIDATE_SCHEDULE); stop it to do it now", code=2
        )
    try:
        yield standalone.consolidation(told)
        await standalone.indexer.drain()
    finally:
        await standalone.close()


@asynccontextmanager
async def _on_platform(told: Told | None) -> AsyncIterator[Consolidation]:
    from vicw_sleep.settings import Settings as SleepSettings
    from vicw_sleep.wiring import Wiring

    wiring = Wiring(SleepSettings.read())
    await wiring.open()
    try:
        yield wiring.consolidation(told)
    finally:
        await wiring.close()
