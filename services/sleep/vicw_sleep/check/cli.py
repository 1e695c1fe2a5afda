"""``vicw check``."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC
from typing import TYPE_CHECKING, Annotated

import typer

from vicw_runtime.console import fail, out
from vicw_runtime.operations.command import DataDirOption, Place, PlatformOption, RemoteOption, run_command
from vicw_runtime.operations.remote import remote_of
from vicw_runtime.terminal.json_option import JsonOption, print_json
from vicw_shared.clock import format_minute
from vicw_shared.errors import VicwError
from vicw_shared.text import counted

if TYPE_CHECKING:
    from vicw_shared.wire.sleep import CheckState


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("check")(check)


def check(
    ctx: typer.Context,
    last: Annotated[
        bool, typer.Option("--last", help="Check nothing; show what the last comparison of the two stores found.")
    ] = False,
    as_json: JsonOption = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
    url: RemoteOption = None,
) -> None:
    """Check the store's invariants.

    Every passage that the graph marks as indexed has its point and the reverse, payloads agree with the graph, chains
    are unbroken and in order, every node is in exactly one context, steps have no gaps, every edge is in the registry.
    A server that has the data directory open does the work. Data that changes during the check may look broken,
    although each violation is checked twice: to be sure, stop all writers. At an address only --last is answered: it
    takes a key with the right `admin`.

    Exit code 1 and a list of at most 5000 violations if an invariant is broken; 2 if the check was impossible: the
    store is missing or unreadable, its vector index is missing, or a setting is wrong.
    """
    from vicw_sleep.check.api import CHECK, LAST_CHECK, CheckRequest, LastCheckRequest

    place = Place(data_dir, platform, url)
    server = remote_of(ctx, place)
    if server is not None and not last:
        fail("all is checked for who owns the data alone; add --last: what the last comparison found", code=2)
    if server is not None:
        with server as memory:
            _print_last(memory.check(), as_json=as_json)
        return
    if last:
        _print_last(run_command(ctx, LAST_CHECK, LastCheckRequest(), place), as_json=as_json)
        return
    try:
        done = run_command(ctx, CHECK, CheckRequest(), place, progress="checking")
    except VicwError as error:
        fail(f"could not check: {error.detail}", code=2)
    if as_json:
        print_json(done)
        raise typer.Exit(1 if done.violations or done.unlisted else 0)
    counts = ((done.nodes, "node"), (done.edges, "edge"), (done.points, "point"))
    out.print(f"{', '.join(counted(count, noun) for count, noun in counts)}, {done.waiting} waiting")
    for violation in done.violations:
        out.print(violation, markup=False)
    if done.unlisted:
        out.print(f"and {done.unlisted} more")
    if done.violations or done.unlisted:
        raise typer.Exit(1)
    out.print("clean")


def _print_last(state: CheckState, *, as_json: bool) -> None:
    if as_json:
        print_json(state)
        return
    for line in _last_lines(state):
        out.print(line, markup=False, highlight=False)


def _last_lines(state: CheckState) -> Iterator[str]:
    """Yield what is recorded of the comparisons, a line for each fact."""
    if (last := state.compared) is None:
        yield "the stores have not been compared yet (vicw sleep reconcile compares them)"
    else:
        what = "is being compared since" if last.running else f"interrupted: {last.error}, at" if last.error else "at"
        yield f"last comparison: {what} {format_minute(last.began if last.running else last.at, UTC)}"
    if (drift := state.drift) is None:
        if last is not None:
            yield "no comparison has found a difference"
    else:
        counts = f"{counted(drift.missing, 'point')} missing, {drift.stale} out of date, {drift.orphaned} orphaned"
        yield f"last difference: at {format_minute(drift.at, UTC)}, repaired: {counts}"
    if state.rebuilding is not None:
        yield f"a lost vector index is being rebuilt since {format_minute(state.rebuilding, UTC)}"
    yield f"{counted(state.passages_waiting, 'passage')} not indexed yet"
