"""``vicw items``: what a running server has stored, listed, shown and changed."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, Any

import typer
from rich.markup import escape

from vicw_runtime.console import err, fail, harmless, out
from vicw_runtime.terminal.completion import contexts as complete_contexts
from vicw_runtime.terminal.json_option import FilterOption, JsonOption, print_json, read_object
from vicw_shared.clock import format_minute
from vicw_shared.model.item_order import ItemOrder
from vicw_shared.uids import is_uid
from vicw_shared.wire.feedback import Verdict
from vicw_shared.wire.items import ItemDetails
from vicw_standalone.cli.retract import retract
from vicw_standalone.terminal.item_lines import print_items
from vicw_standalone.terminal.pages import first
from vicw_standalone.terminal.server_client import UrlOption, server

ItemArgument = Annotated[str, typer.Argument(help="Uid of the item; with --context also your id.", metavar="ID")]
ContextOption = Annotated[
    str | None, typer.Option(help="Context of the item, if ID is your id.", autocompletion=complete_contexts)
]
app = typer.Typer(help="List, show, change and retract what is stored. Needs a running server.", no_args_is_help=True)


def register(parent: typer.Typer) -> None:
    """Add the subcommands."""
    app.command("retract")(retract)
    parent.add_typer(app, name="items")


@app.command("list")
def list_items(
    context: Annotated[str | None, typer.Argument(help="Only this context.", autocompletion=complete_contexts)] = None,
    in_context: Annotated[
        str | None, typer.Option("--context", help="The same as CONTEXT.", autocompletion=complete_contexts)
    ] = None,
    filter_: FilterOption = None,
    speaker: Annotated[str | None, typer.Option(help="Only what this speaker said.")] = None,
    user: Annotated[str | None, typer.Option(help="Only what this user said.")] = None,
    domain: Annotated[str | None, typer.Option(help="Only this domain.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="Items must have this tag; may be repeated.")] = None,
    since: Annotated[datetime | None, typer.Option(help="Told then or later, in UTC.")] = None,
    until: Annotated[datetime | None, typer.Option(help="Told before then, in UTC.")] = None,
    order: Annotated[ItemOrder, typer.Option(help="What they are ordered by.")] = ItemOrder.TOLD,
    ascending: Annotated[bool, typer.Option("--asc", help="The first ones first.")] = False,
    retired: Annotated[bool, typer.Option("--retired", help="List what was replaced or retracted, too.")] = False,
    limit: Annotated[int, typer.Option(help="Maximum number of items.", min=1)] = 50,
    as_json: JsonOption = False,
    url: UrlOption = None,
) -> None:
    """List items, the latest first."""
    if context is not None and in_context not in {None, context}:
        fail("name one context", code=2)
    context = context if context is not None else in_context
    query: dict[str, Any] = {
        "context": context,
        "filter": _read_filter(filter_),
        "speaker": speaker,
        "user": user,
        "domain": domain,
        "tag": tuple(tag) if tag else None,
        "since": since.replace(tzinfo=UTC) if since is not None else None,
        "until": until.replace(tzinfo=UTC) if until is not None else None,
        "order": order,
        "direction": "asc" if ascending else "desc",
        "include": "retired" if retired else None,
    }
    with server(url) as client:
        items = first(
            limit, lambda cursor, size: client.items(**query, cursor=cursor, limit=size), lambda page: page.items
        )
    if as_json:
        print(json.dumps([item.model_dump(mode="json") for item in items], indent=2, ensure_ascii=False))
        return
    if items:
        print_items(items, with_context=context is None)
    else:
        err.print("Nothing found. Check the spelling, or remove filters", markup=False)


@app.command()
def show(item: ItemArgument, context: ContextOption = None, as_json: JsonOption = False, url: UrlOption = None) -> None:
    """Show one item with all that is known of it."""
    with server(url) as client:
        found = client.item(**_named(item, context)) if context is not None else client.item(_uid(item))
    if as_json:
        print(found.model_dump_json(indent=2))
    else:
        _print(found)


@app.command()
def edit(
    item: ItemArgument,
    patch: Annotated[
        str,
        typer.Argument(
            help='The new values of fields as JSON, such as \'{"tags": ["paid"], "speaker": null}\'; null sets one '
            "back to its default. `-` reads it from standard input.",
            metavar="JSON",
        ),
    ],
    context: ContextOption = None,
    if_version: Annotated[int | None, typer.Option(help="Change this version only.", min=1)] = None,
    as_json: JsonOption = False,
    url: UrlOption = None,
) -> None:
    """Change single fields of an item; the others stay."""
    fields = read_object(sys.stdin.read() if patch == "-" else patch, "the new values")
    if wrong := fields.keys() & {"context", "id", "if_match"}:
        fail(f"{min(wrong)} cannot be changed", code=2)
    with server(url) as client:
        if context is not None:
            changed = client.patch(**_named(item, context), if_match=if_version, **fields)
        else:
            changed = client.patch(_uid(item), if_match=if_version, **fields)
    if as_json:
        print_json(changed)
        return
    out.print(f"{changed.item.status.value}: version {changed.version}, uid {changed.item.uid}", markup=False)


@app.command()
def supersede(
    new: Annotated[str, typer.Argument(help="The item that holds: its uid; with --context also your id.")],
    old: Annotated[str, typer.Argument(help="The item that it replaces.")],
    context: Annotated[
        str | None,
        typer.Option(help="Context of the items, if they are named by your ids.", autocompletion=complete_contexts),
    ] = None,
    at: Annotated[
        datetime | None,
        typer.Option(help="Since when the new one holds, in UTC. \\[default: the time of the new item]"),
    ] = None,
    undo: Annotated[bool, typer.Option("--undo", help="Take it back: the old item holds again.")] = False,
    as_json: JsonOption = False,
    url: UrlOption = None,
) -> None:
    """State that an item replaces another, which is past from then on."""
    new, old = (new, old) if context is not None else (_uid(new), _uid(old))
    with server(url) as client:
        answer = client.supersede(
            context=context, new=new, old=old, at=at.replace(tzinfo=UTC) if at is not None else None, undo=undo
        )
    if as_json:
        print_json(answer)
        return
    until = f"past since {format_minute(answer.superseded_at, UTC)}" if answer.superseded_at else "holds"
    out.print(f"{harmless(old)}: {until}{'' if answer.changed else ', as before'}", markup=False)


@app.command()
def feedback(
    item: ItemArgument,
    verdict: Annotated[Verdict, typer.Argument(help="What it was for the question.")],
    query: Annotated[str, typer.Option(help="The question that it was shown for.")],
    context: ContextOption = None,
    viewer: Annotated[str | None, typer.Option(help="Id of the user who says so. \\[default: the application]")] = None,
    as_json: JsonOption = False,
    url: UrlOption = None,
) -> None:
    """Say that an item was useful or wrong for a question."""
    with server(url) as client:
        given = client.feedback(
            item=item if context is not None else _uid(item),
            context=context,
            verdict=verdict,
            query=query,
            viewer={"user": viewer} if viewer is not None else None,
        )
    if as_json:
        print_json(given)
        return
    out.print(f"{given.uid}: {given.useful} useful, {given.wrong} wrong", markup=False)


def _named(item: str, context: str) -> dict[str, Any]:
    return {"context": context, "id": item}


def _uid(item: str) -> str:
    if not is_uid(item):
        fail(f"{harmless(item)} is no uid: name the context of an id with --context", code=2)
    return item


def _read_filter(text: str | None) -> dict[str, Any] | None:
    return read_object(text, "--filter") if text is not None else None


def _print(item: ItemDetails) -> None:
    for name, value in _fields(item):
        out.print(f"[dim]{name:<18}[/]{escape(harmless(value))}")
    out.print()
    out.print(harmless(item.text or ""), markup=False)
    for edge in item.edges:
        arrow = "→" if edge.source == item.uid else "←"
        out.print(f"[dim]{arrow} {escape(edge.type)}[/] {escape(harmless(edge.other.name))}")


def _fields(item: ItemDetails) -> Iterator[tuple[str, str]]:
    """Yield the fields that have a value, as text."""
    shown = item.model_dump(mode="json", exclude={"text", "passages", "statements", "edges", "edges_complete"})
    for name, value in shown.items():
        if value in (None, [], {}, "", False):
            continue
        if name in {"about", "versions"}:
            key = "name" if name == "about" else "version"
            yield name, ", ".join(str(one[key]) for one in value)
        elif isinstance(value, list):
            yield name, ", ".join(map(str, value))
        else:
            yield name, json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else str(value)
