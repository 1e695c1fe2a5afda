"""``vicw forget``: erase for good, with proof."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vicw_runtime.logs import configure_logs
from vicw_runtime.operations.console import err, fail, harmless, out
from vicw_shared.errors import DataDirError
from vicw_shared.ports import Store
from vicw_shared.settings import LogSettings
from vicw_shared.text import counted
from vicw_standalone.cli.models import DataDirOption, PlatformOption, tenant_name
from vicw_standalone.cli.upkeep import capacity
from vicw_standalone.settings import read_settings

if TYPE_CHECKING:
    from vicw_ingest.erasure.eraser import Eraser, ErasureReport
    from vicw_ingest.erasure.proof import FinishedErasure
    from vicw_ingest.erasure.selection import ErasureSelection

    type Choose = Callable[[Store], Awaitable[ErasureSelection | list[ErasureSelection]]]

app = typer.Typer(
    help="Erase for good, and prove that nothing is left. To keep the past readable, use `vicw retract` instead.",
    no_args_is_help=True,
)
_MAX_FOLDERS = 100
TenantOfOption = Annotated[str, typer.Option("--tenant", help="Tenant to erase from.", callback=tenant_name)]
ContextOption = Annotated[str | None, typer.Option("--context", help="Only in this context. \\[default: all contexts]")]
DryOption = Annotated[bool, typer.Option("--dry-run", help="Only show what would be erased.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
CopiesOption = Annotated[
    list[Path] | None,
    typer.Option("--copies", help="Also search this folder of exports or backups; may be repeated."),
]


def register(parent: typer.Typer) -> None:
    """Add the subcommands."""
    app.command()(capacity)
    parent.add_typer(app, name="forget")


@app.command()
def item(
    ids: Annotated[list[str], typer.Argument(help="Ids or uids of the items")],
    context: ContextOption = None,
    tenant: TenantOfOption = "default",
    copies: CopiesOption = None,
    dry_run: DryOption = False,
    yes: YesOption = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """Erase items with all their versions, and everything that rests on them alone."""
    from vicw_ingest.erasure.selection import choose_items

    _forget(lambda graph: choose_items(graph, tenant, ids, context), copies, dry_run, yes, data_dir, platform)


@app.command()
def person(
    name: Annotated[str, typer.Argument(help="Name of the person, or uid of the person's entity")],
    context: ContextOption = None,
    everywhere: Annotated[
        bool, typer.Option("--everywhere", help="Treat this name as the same person in every context.")
    ] = False,
    mentions: Annotated[
        bool, typer.Option("--mentions", help="Also erase items of others that mention the person.")
    ] = False,
    tenant: TenantOfOption = "default",
    copies: CopiesOption = None,
    dry_run: DryOption = False,
    yes: YesOption = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """Erase a person's items, the items about them, and their entity unless items of others mention it."""
    from vicw_ingest.erasure.selection import choose_person

    def choose(graph: Store) -> Awaitable[ErasureSelection]:
        return choose_person(graph, tenant, name, context, everywhere=everywhere, with_mentions=mentions)

    _forget(choose, copies, dry_run, yes, data_dir, platform)


@app.command()
def context(
    name: Annotated[str, typer.Argument(help="Name of the context")],
    tenant: TenantOfOption = "default",
    copies: CopiesOption = None,
    dry_run: DryOption = False,
    yes: YesOption = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """Erase a context with everything in it."""
    from vicw_ingest.erasure.selection import choose_context

    _forget(lambda graph: choose_context(graph, tenant, name), copies, dry_run, yes, data_dir, platform)


@app.command()
def tenant(
    name: Annotated[str, typer.Argument(help="Name of the tenant", callback=tenant_name)],
    copies: CopiesOption = None,
    dry_run: DryOption = False,
    yes: YesOption = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """Erase all contexts of a tenant. Its API keys stay: `vicw keys revoke` revokes them."""
    from vicw_ingest.erasure.selection import choose_tenant

    _forget(lambda graph: choose_tenant(graph, name), copies, dry_run, yes, data_dir, platform)


@app.command("import")
def import_(
    dry_run: DryOption = False,
    yes: YesOption = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """Abandon an interrupted import: erase what it has stored. The rest of the store is not changed.

    The export is not needed any more. Imported API keys stay: `vicw keys revoke` revokes them.
    """
    from vicw_standalone.erasure.embedded import choose_half

    _forget(choose_half, None, dry_run, yes, data_dir, platform, half=True)


@app.command()
def resume(
    copies: CopiesOption = None,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """Resume erasures that were interrupted or could not be proven, and search again."""
    _forget(None, copies, False, True, data_dir, platform, half=True)


def _forget(
    choose: Choose | None,
    copies: list[Path] | None,
    dry_run: bool,
    yes: bool,
    data_dir: Path | None,
    platform: bool,
    *,
    half: bool = False,
) -> None:
    configure_logs(LogSettings(level="warning"))
    folders = [folder.absolute() for folder in copies or ()]
    if len(folders) > _MAX_FOLDERS:
        fail(f"{len(folders)} folders: name at most {_MAX_FOLDERS}, or a folder that contains them", code=2)
    work = erase_on_platform if platform else _on_directory
    begun, finished = asyncio.run(work(choose, folders, dry_run, yes, data_dir, half))
    for one in finished:
        if begun and one.erasure not in begun:
            out.print("an erasure from an earlier run:")
        print_erasure(one, platform=platform)
    own = [one for one in finished if one.erasure in begun and not one.proof.empty]
    if not all(one.proof.holds for one in own or finished):  # if this run erased nothing, earlier erasures decide
        raise typer.Exit(1)


async def _on_directory(
    choose: Choose | None, copies: list[Path], dry_run: bool, yes: bool, data_dir: Path | None, half: bool = False
) -> tuple[list[str], list[FinishedErasure]]:
    from vicw_ingest.erasure.record import record_copies
    from vicw_standalone.erasure import embedded
    from vicw_standalone.erasure.embedded import settle_half

    settings = read_settings(data_dir=data_dir)
    begun: list[str] = []
    done: dict[str, ErasureReport] = {}
    try:
        async with embedded.opened(settings, half=half) as (standalone, eraser):
            await _check_folders(eraser, copies)
            if choose is not None and not (begun := await _begin(choose, standalone.graph, eraser, dry_run, yes, half)):
                return [], []
            for erasure in await eraser.pending():
                await record_copies(standalone.graph, erasure, [*map(str, copies)])
                done[erasure] = await embedded.erase(settings, standalone, eraser, erasure)
            if half:
                await settle_half(standalone.graph)
    except DataDirError as error:
        fail(f"{error.detail}. Nothing was erased", code=2)
    return begun, await embedded.end(settings, done) if done else []


async def erase_on_platform(
    choose: Choose | None,
    copies: list[Path],
    dry_run: bool,
    yes: bool,
    data_dir: Path | None = None,
    half: bool = False,
    *,
    wait_seconds: float = 60.0,
) -> tuple[list[str], list[FinishedErasure]]:
    """Erase on the platform. Return the erasures that this call began, and all that are over or not proven.

    Wait up to ``wait_seconds`` for a mirror that is in use, and as long for workers to update points.
    """
    from vicw_ingest.erasure.record import record_copies
    from vicw_sleep.settings import SleepServiceSettings as SleepSettings
    from vicw_standalone.erasure import platform
    from vicw_standalone.erasure.embedded import settle_half

    settings = SleepSettings.read()
    begun: list[str] = []
    done: dict[str, ErasureReport] = {}
    async with platform.opened(settings) as (wiring, eraser):
        await _check_folders(eraser, copies)
        graph = wiring.engines.graph
        if choose is not None and not (begun := await _begin(choose, graph, eraser, dry_run, yes, half)):
            return [], []
        for erasure in await eraser.pending():
            await record_copies(graph, erasure, [*map(str, copies)])
            done[erasure] = await platform.erase(settings, wiring, eraser, erasure, wait_seconds)
        if half:
            await settle_half(graph)
        return begun, await platform.end(settings, wiring, done, wait_seconds)


async def _check_folders(eraser: Eraser, copies: list[Path]) -> None:
    """Refuse a missing folder, unless a pending erasure recorded it: then it was removed since."""
    from vicw_ingest.erasure.record import copies_of

    recorded = await copies_of(eraser.graph.erasures, await eraser.pending())
    for folder in copies:
        if not folder.exists() and str(folder) not in recorded:
            fail(f"{folder} does not exist: name a folder of exports or backups, or a single one", code=2)


async def _begin(choose: Choose, graph: Store, eraser: Eraser, dry_run: bool, yes: bool, half: bool) -> list[str]:
    """Show what is to be erased, ask, and record it; return the uids of the erasures, one per tenant."""
    from vicw_core.archive.import_marker import mark_abandoned

    chosen_selections = await choose(graph)
    selections = chosen_selections if isinstance(chosen_selections, list) else [chosen_selections]
    for chosen in selections:
        _show(chosen)
    if dry_run:
        return []
    if not yes and not typer.confirm("Erase this for good? It cannot be undone", err=True):
        err.print("nothing was erased")
        return []
    if half:
        await mark_abandoned(graph)
    return [await eraser.begin(chosen) for chosen in selections]


def _show(chosen: ErasureSelection) -> None:
    """Print what is to be erased; refuse a selection that would erase nothing."""
    if chosen.people and chosen.mentioned and not chosen.count:
        names = harmless(", ".join(sorted({person.name for person in chosen.people})))
        others = counted(chosen.mentioned, "item of others that mentions", "items of others that mention")
        fail(f"nothing was erased: no item is by or about {names}. --mentions erases {others} them", code=2)
    out.print(harmless(_selection_text(chosen)), markup=False)


def _selection_text(chosen: ErasureSelection) -> str:
    whole = [f"context {name!r}" for name in chosen.contexts]
    whole += [f"the imported part of context {name!r} of tenant {chosen.tenant!r}" for name in chosen.partial]
    parts = [f"{counted(len(uids), 'item')} of context {context!r}" for context, uids in chosen.items.items()]
    lines = [", ".join([*whole, *parts]) or "nothing stored"]
    if chosen.people:
        names = ", ".join(sorted({person.name for person in chosen.people}))
        lines.append(
            f"and {names}, mentioned in {counted(chosen.mentioned, 'item')} of others (--mentions also erases these)"
        )
    return "\n".join(lines)


def print_erasure(finished: FinishedErasure, *, platform: bool) -> None:
    """Print what went, where something is left, and whether the erasure is proven."""
    proof, done = finished.proof, finished.done
    went = ", ".join(counted(count, f"{label} node") for label, count in sorted(done.nodes.items())) or "no nodes"
    out.print(f"erased: {went}; {counted(done.receipts, 'receipt')}, {counted(done.steps, 'logged step')}")
    for place in proof.places:
        out.print(f"still found in {harmless(place)}", markup=False)
    if proof.searched is not None:
        out.print(f"copies searched: {proof.searched}")
    for copy in proof.copies:
        out.print(f"still found in the copy {copy}", markup=False)
    for told in proof.unreadable:
        out.print(harmless(told), markup=False)
    for folder in proof.missing:
        out.print(f"{folder} no longer exists: it counts as removed", markup=False)
    if proof.holds and proof.empty:
        out.print("nothing was erased, so there is nothing to prove")
    elif proof.holds:
        out.print(f"proven: {proven(proof.read, platform=platform)}")
    else:
        if proof.waiting:
            out.print(f"{counted(proof.waiting, 'passage')} waiting for an ingest worker to update the points")
        out.print("not proven: remove what is listed, then run `vicw forget resume`, which searches the same copies")


def proven(read: int, *, platform: bool) -> str:
    """Return the statement of a proof in which ``read`` bytes of files were searched."""
    if not platform:
        return f"nothing is left in the store or in {read} bytes of files"
    places = f"the graph, the vectors or {read} bytes of the mirror" if read else "the graph or the vectors"
    return f"nothing is left in {places}; the engines' own files are not searched"
