"""``vicw forget``: erase for good, with proof."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vicw_ingest.erasure.requests.cli import forget_at
from vicw_ingest.erasure.sentences import proven, went
from vicw_ingest.eviction.cli import capacity
from vicw_runtime.console import err, fail, harmless, out
from vicw_runtime.operations.command import (
    DataDirOption,
    Place,
    PlatformOption,
    RemoteOption,
    run_command,
    tenant_name,
)
from vicw_runtime.operations.remote import refuse_options, remote_of
from vicw_runtime.terminal.completion import contexts as complete_contexts
from vicw_runtime.terminal.json_option import FilterOption, JsonOption, print_json, read_filter
from vicw_shared.errors import InvalidInputError
from vicw_shared.text import counted

if TYPE_CHECKING:
    from vicw_ingest.erasure.api import AnyTarget, ErasureResult, ForgetResult, Selected

app = typer.Typer(
    help="Erase for good, and prove that nothing is left. To keep the past readable, use `vicw retract` instead.",
    no_args_is_help=True,
)
_MAX_FOLDERS = 100
TenantOfOption = Annotated[str, typer.Option("--tenant", help="Tenant to erase from.", callback=tenant_name)]
ContextOption = Annotated[
    str | None,
    typer.Option("--context", help="Only in this context. \\[default: all contexts]", autocompletion=complete_contexts),
]
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
    ctx: typer.Context,
    ids: Annotated[list[str] | None, typer.Argument(help="Ids or uids of the items")] = None,
    context: ContextOption = None,
    filter_: FilterOption = None,
    everything: Annotated[bool, typer.Option("--all", help="With --filter: also if every item passes it.")] = False,
    tenant: TenantOfOption = "default",
    copies: CopiesOption = None,
    dry_run: DryOption = False,
    yes: YesOption = False,
    as_json: JsonOption = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
    url: RemoteOption = None,
) -> None:
    """Erase items with all their versions, and everything that rests on them alone.

    A filter is about the latest version of an item; what was retracted or has expired counts, too.
    """
    from vicw_ingest.erasure.api import FilterToForget, ItemsToForget

    chosen = read_filter(filter_)
    if (chosen is None) is not bool(ids):
        fail("name items, or give a --filter", code=2)
    target: AnyTarget
    if chosen is None:
        target = ItemsToForget(what="items", tenant=tenant, ids=tuple(ids or ()), context=context)
    else:
        target = FilterToForget(what="filter", tenant=tenant, filter=chosen, context=context, all=everything)
    _forget(ctx, target, copies, dry_run, yes, as_json, Place(data_dir, platform, url))


@app.command()
def user(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="Your id of the user: `vicw users` lists them", metavar="USER")],
    context: ContextOption = None,
    mentions: Annotated[
        bool, typer.Option("--mentions", help="Also erase items of others that mention the user's person.")
    ] = False,
    tenant: TenantOfOption = "default",
    copies: CopiesOption = None,
    dry_run: DryOption = False,
    yes: YesOption = False,
    as_json: JsonOption = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
    url: RemoteOption = None,
) -> None:
    """Erase what a user and the user's person said, and what is about them."""
    from vicw_ingest.erasure.api import UserToForget

    target = UserToForget(what="user", tenant=tenant, user=name, context=context, mentions=mentions)
    _forget(ctx, target, copies, dry_run, yes, as_json, Place(data_dir, platform, url))


@app.command()
def person(
    ctx: typer.Context,
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
    as_json: JsonOption = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
    url: RemoteOption = None,
) -> None:
    """Erase a person's items, the items about them, and their entity unless items of others mention it."""
    from vicw_ingest.erasure.api import PersonToForget

    target = PersonToForget(
        what="person", tenant=tenant, name=name, context=context, everywhere=everywhere, mentions=mentions
    )
    _forget(ctx, target, copies, dry_run, yes, as_json, Place(data_dir, platform, url))


@app.command()
def context(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="Name of the context", autocompletion=complete_contexts)],
    tenant: TenantOfOption = "default",
    copies: CopiesOption = None,
    dry_run: DryOption = False,
    yes: YesOption = False,
    as_json: JsonOption = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
    url: RemoteOption = None,
) -> None:
    """Erase a context with everything in it."""
    from vicw_ingest.erasure.api import ContextToForget

    target = ContextToForget(what="context", tenant=tenant, name=name)
    _forget(ctx, target, copies, dry_run, yes, as_json, Place(data_dir, platform, url))


@app.command()
def tenant(
    ctx: typer.Context,
    name: Annotated[
        str | None,
        typer.Argument(help="Name of the tenant; at an address it is the key's, and is left out", callback=tenant_name),
    ] = None,
    copies: CopiesOption = None,
    dry_run: DryOption = False,
    yes: YesOption = False,
    as_json: JsonOption = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
    url: RemoteOption = None,
) -> None:
    """Erase all contexts of a tenant. Its API keys stay: `vicw keys revoke` revokes them."""
    from vicw_ingest.erasure.api import TenantToForget

    place = Place(data_dir, platform, url)
    at_address = remote_of(ctx, place) is not None
    if at_address is (name is not None):
        which = "leave it out: a key has one tenant" if at_address else "which tenant?"
        fail(f"NAME: {which}", code=2)
    _forget(ctx, TenantToForget(what="tenant", name=name or ""), copies, dry_run, yes, as_json, place)


@app.command("import")
def import_(
    ctx: typer.Context,
    dry_run: DryOption = False,
    yes: YesOption = False,
    as_json: JsonOption = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """Abandon an interrupted import: erase what it has stored. The rest of the store is not changed.

    The export is not needed any more. Imported API keys stay: `vicw keys revoke` revokes them.
    """
    from vicw_ingest.erasure.api import ImportToForget

    _forget(ctx, ImportToForget(what="import"), None, dry_run, yes, as_json, Place(data_dir, platform))


@app.command()
def resume(
    ctx: typer.Context,
    copies: CopiesOption = None,
    as_json: JsonOption = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """Resume erasures that were interrupted or could not be proven, and search again."""
    _erase(ctx, None, _folders(copies), as_json, Place(data_dir, platform))


def _forget(
    ctx: typer.Context,
    target: AnyTarget,
    copies: list[Path] | None,
    dry_run: bool,
    yes: bool,
    as_json: bool,
    place: Place,
) -> None:
    """Show what is to be erased, ask, and erase it."""
    from vicw_ingest.erasure.api import SELECT, ImportToForget, SelectRequest

    if not isinstance(target, ImportToForget) and (server := remote_of(ctx, place)) is not None:
        refuse_options(ctx, "tenant", "copies")
        forget_at(server, target, dry_run=dry_run, yes=yes, as_json=as_json)
        return
    folders = _folders(copies)
    request = SelectRequest(target=target)
    shown = run_command(ctx, SELECT, request, place, progress="looking", as_json=as_json and dry_run)
    if as_json and dry_run:
        return
    for chosen in shown.selected:
        _show(chosen, silent=as_json)
    if dry_run:
        return
    if not yes and not typer.confirm("Erase this for good? It cannot be undone", err=True):
        err.print("nothing was erased")
        return
    _erase(ctx, target, folders, as_json, place)


def _folders(copies: list[Path] | None) -> tuple[str, ...]:
    """Return the folders of copies as absolute paths."""
    if copies is not None and len(copies) > _MAX_FOLDERS:
        fail(f"{len(copies)} folders: name at most {_MAX_FOLDERS}, or a folder that contains them", code=2)
    return tuple(str(folder.absolute()) for folder in copies or ())


def _erase(ctx: typer.Context, target: AnyTarget | None, copies: tuple[str, ...], as_json: bool, place: Place) -> None:
    from vicw_ingest.erasure.api import FORGET, FORGET_IMPORT, ForgetImportRequest, ForgetRequest, ImportToForget

    try:
        if isinstance(target, ImportToForget):
            request = ForgetImportRequest(copies=copies)
            done = run_command(ctx, FORGET_IMPORT, request, place, progress="erasing")
        else:
            done = run_command(ctx, FORGET, ForgetRequest(target=target, copies=copies), place, progress="erasing")
    except InvalidInputError as error:
        fail(f"{error.detail}. Nothing was erased", code=2)
    if as_json:
        print_json(done)
    _print_result(done, silent=as_json)


def _show(chosen: Selected, *, silent: bool) -> None:
    """Print what is to be erased; refuse a selection that would erase nothing."""
    if chosen.people and chosen.mentioned and not chosen.items:
        names = harmless(", ".join(chosen.people))
        others = counted(chosen.mentioned, "item of others that mentions", "items of others that mention")
        fail(f"nothing was erased: no item is by or about {names}. --mentions erases {others} them", code=2)
    if not silent:
        out.print(harmless(_selection_text(chosen)), markup=False)


def _selection_text(chosen: Selected) -> str:
    whole = [f"context {name!r}" for name in chosen.contexts]
    whole += [f"the imported part of context {name!r} of tenant {chosen.tenant!r}" for name in chosen.partial]
    parts = [f"{counted(count, 'item')} of context {context!r}" for context, count in chosen.items.items()]
    lines = [", ".join([*whole, *parts]) or "nothing stored"]
    if chosen.people:
        mentioning = counted(chosen.mentioned, "item")
        lines.append(
            f"and {', '.join(chosen.people)}, mentioned in {mentioning} of others (--mentions also erases these)"
        )
    return "\n".join(lines)


def _print_result(done: ForgetResult, *, silent: bool) -> None:
    """Print each erasure. Exit with 1 if what was asked for is not proven, or, if it was nothing, any earlier one."""
    own = [one for one in done.erasures if not one.earlier]
    for one in () if silent else done.erasures:
        if own and one.earlier:
            out.print("an erasure from an earlier run:")
        print_erasure(one, files=done.files)
    deciding: Sequence[ErasureResult] = [one for one in own if not one.empty] or done.erasures
    if not all(one.proven for one in deciding):
        raise typer.Exit(1)


def print_erasure(done: ErasureResult, *, files: bool) -> None:
    """Print what went, where something is left, and whether the erasure is proven."""
    out.print(went(done.nodes, done.receipts, done.steps))
    for place in done.found:
        out.print(f"still found in {harmless(place)}", markup=False)
    if done.searched is not None:
        out.print(f"copies searched: {done.searched}")
    for copy in done.copies:
        out.print(f"still found in the copy {copy}", markup=False)
    for reason in done.unreadable:
        out.print(harmless(reason), markup=False)
    for folder in done.missing:
        out.print(f"{folder} no longer exists: it counts as removed", markup=False)
    if done.proven and done.empty:
        out.print("nothing was erased, so there is nothing to prove")
    elif done.proven:
        out.print(f"proven: {proven(done.read, files=files)}")
    else:
        if done.waiting:
            who = "the indexer" if files else "an ingest worker"
            out.print(f"{counted(done.waiting, 'passage')} waiting for {who} to update the points")
        out.print("not proven: remove what is listed, then run `vicw forget resume`, which searches the same copies")
