"""``vicw sleep``: the commands of the sleep cycle's features."""

from __future__ import annotations

import typer

from vicw_ingest.eviction.cli import describe_eviction
from vicw_ingest.expiry import cli as expiry
from vicw_sleep.consolidation import cli as consolidation
from vicw_sleep.dream import cli as dream
from vicw_sleep.history import cli as history
from vicw_sleep.history.model import LoggedTask
from vicw_sleep.reconcile import cli as reconcile
from vicw_sleep.resolve import cli as resolve


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
