"""``vicw check``."""

from __future__ import annotations

import typer

from vicw_runtime.console import fail, out
from vicw_runtime.operations.command import DataDirOption, Place, PlatformOption, run_command
from vicw_shared.errors import VicwError
from vicw_shared.text import counted


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("check")(check)


def check(ctx: typer.Context, data_dir: DataDirOption = None, platform: PlatformOption = False) -> None:
    """Check the store's invariants.

    Every passage that the graph marks as indexed has its point and the reverse, payloads agree with the graph, chains
    are unbroken and in order, every node is in exactly one context, steps have no gaps, every edge is in the registry.
    A server that has the data directory open does the work. Data that changes during the check may look broken,
    although each violation is checked twice: to be sure, stop all writers.

    Exit code 1 and a list of at most 5000 violations if an invariant is broken; 2 if the check was impossible: the
    store is missing or unreadable, its vector index is missing, or a setting is wrong.
    """
    from vicw_sleep.check.api import CHECK, CheckRequest

    try:
        done = run_command(ctx, CHECK, CheckRequest(), Place(data_dir, platform), progress="checking")
    except VicwError as error:
        fail(f"could not check: {error.detail}", code=2)
    counts = ((done.nodes, "node"), (done.edges, "edge"), (done.points, "point"))
    out.print(f"{', '.join(counted(count, noun) for count, noun in counts)}, {done.waiting} waiting")
    for violation in done.violations:
        out.print(violation, markup=False)
    if done.unlisted:
        out.print(f"and {done.unlisted} more")
    if done.violations or done.unlisted:
        raise typer.Exit(1)
    out.print("clean")
