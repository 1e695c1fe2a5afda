"""``vicw retract``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import batched
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vicw_runtime.console import fail, harmless, out
from vicw_runtime.terminal.completion import contexts as complete_contexts
from vicw_runtime.terminal.json_option import FilterOption, JsonOption, read_filter
from vicw_shared.text import counted
from vicw_shared.uids import is_uid
from vicw_standalone.terminal.server_client import UrlOption, server

if TYPE_CHECKING:  # slow to import
    from vicw_shared.wire.retract import RetractedItem

_IDS_AT_ONCE = 500


def register(app: typer.Typer) -> None:
    """Add the subcommand."""
    app.command()(retract)


def retract(
    ids: Annotated[list[str] | None, typer.Argument(help="Ids of the items, or uids.", metavar="ID…")] = None,
    context: Annotated[
        str | None,
        typer.Option(
            help="Context that the items were ingested into. \\[default: they are named by uids]",
            autocompletion=complete_contexts,
        ),
    ] = None,
    ended_at: Annotated[
        datetime | None,
        typer.Option(help="When the items stopped being true, in UTC. \\[default: they never were]"),
    ] = None,
    filter_: FilterOption = None,
    everything: Annotated[
        bool, typer.Option("--all", help="With a --filter without a condition: every item is meant.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be retracted.")] = False,
    as_json: JsonOption = False,
    url: UrlOption = None,
) -> None:
    """Retract items, with everything that rests on them alone.

    They are no longer found; questions about the past (known_at, and with --ended-at also as_of) still see them.
    Ingesting an id again restores it. Exit code 1 if an id is unknown. Instead of ids a --filter chooses live items.
    """
    until = ended_at.replace(tzinfo=UTC) if ended_at is not None else None
    chosen = read_filter(filter_)
    if (chosen is None) is not bool(ids):
        fail("name items, or give a --filter", code=2)
    if chosen is not None:
        _retract_filtered(
            {"filter": chosen, "context": context, "all": everything or None}, until, dry_run, url, as_json
        )
        return
    ids = ids or []
    if context is None and (others := [given for given in ids if not is_uid(given)]):
        fail(f"{harmless(others[0])} is no uid: name the context of an id with --context", code=2)
    with server(url) as client:
        answers = [
            client.retract(**_named(batch, context), ended_at=until, dry_run=dry_run)
            for batch in batched(ids, _IDS_AT_ONCE)
        ]
    outcomes = [item for answer in answers for item in answer.items]
    if as_json:
        _print_json(outcomes, dry_run)
    for given, item in () if as_json else zip(ids, outcomes, strict=False):
        _print(item, given, dry_run)
    if dry_run and not as_json:
        out.print("nothing was changed")
    if any(item.status.value == "unknown" for item in outcomes):
        raise typer.Exit(1)


def _retract_filtered(
    chosen: dict[str, Any], until: datetime | None, dry_run: bool, url: str | None, as_json: bool
) -> None:
    """Retract what passes a filter: a request does as much as one may, so it is sent until nothing passes any more."""
    fields = {name: value for name, value in chosen.items() if value is not None}
    retracted: list[RetractedItem] = []
    with server(url) as client:
        while True:
            answer = client.retract(**fields, ended_at=until, dry_run=dry_run)
            selected, done = answer.selected or 0, len(answer.items)
            for item in () if as_json else answer.items:
                _print(item, item.uid or "", dry_run)
            retracted += answer.items
            if dry_run or done == 0 or done >= selected:
                break
    if as_json:
        _print_json(retracted, dry_run)
    elif dry_run:
        out.print(f"nothing was changed: {counted(selected, 'item')} would be retracted")
    else:
        out.print(f"{counted(len(retracted), 'item')} retracted")


def _print(item: RetractedItem, given: str, dry_run: bool) -> None:
    status = item.status.value
    status = f"would be {status}" if dry_run and status == "retracted" else status
    out.print(f"{status:<9} {harmless(item.id or given)}", markup=False)


def _print_json(items: Sequence[RetractedItem], dry_run: bool) -> None:
    rows = [item.model_dump(mode="json") for item in items]
    print(json.dumps({"items": rows, "dry_run": dry_run}, indent=2, ensure_ascii=False))


def _named(batch: tuple[str, ...], context: str | None) -> dict[str, Any]:
    return {"uids": batch} if context is None else {"context": context, "ids": batch}
