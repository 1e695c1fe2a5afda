"""``vicw entities``: entity resolution by hand, on a running server."""

from __future__ import annotations

import json
from datetime import UTC
from typing import Annotated

import typer
from rich.markup import escape

from vicw_runtime.console import err, harmless, out
from vicw_runtime.terminal.completion import contexts as complete_contexts
from vicw_runtime.terminal.json_option import JsonOption, print_json
from vicw_shared.clock import format_minute
from vicw_shared.text import counted
from vicw_shared.wire.entities import Entity, EntityRef, IdentityChange, MergedRef
from vicw_shared.wire.items import MAX_PAGE
from vicw_standalone.terminal.pages import first
from vicw_standalone.terminal.server_client import UrlOption, server

_PAGE = 500
ContextArgument = Annotated[str, typer.Argument(help="Context of the entities.", autocompletion=complete_contexts)]
UidArgument = Annotated[str, typer.Argument(help="Uid of the entity, as `vicw entities list` shows it.")]
SubtypeOption = Annotated[str | None, typer.Option(help="Only entities of this subtype, such as person.")]
LimitOption = Annotated[int, typer.Option(help="Maximum number of entries to show.", min=1)]
app = typer.Typer(
    help="List entities, and decide which of them are the same. Needs a running server.",
    no_args_is_help=True,
)


def register(parent: typer.Typer) -> None:
    """Add the subcommands."""
    parent.add_typer(app, name="entities")


@app.command("list")
def list_entities(
    context: ContextArgument,
    prefix: Annotated[str | None, typer.Argument(help="Start of the names, in any casing.")] = None,
    subtype: SubtypeOption = None,
    limit: LimitOption = 100,
    as_json: JsonOption = False,
    url: UrlOption = None,
) -> None:
    """List the named nodes of a context: people, files, ideas, tags."""
    with server(url) as client:
        entities = first(
            limit,
            lambda after, size: client.entities(context, subtype=subtype, prefix=prefix, after=after, limit=size),
            lambda page: page.entities,
            most=_PAGE,
        )
    if as_json:
        print(json.dumps([entity.model_dump(mode="json") for entity in entities], indent=2))
        return
    for entity in entities:
        out.print(_line(entity))
    if not entities:
        err.print("Nothing found. Check the context's spelling, or remove filters", markup=False)


@app.command()
def show(uid: UidArgument, as_json: JsonOption = False, url: UrlOption = None) -> None:
    """Show an entity: its names, and the entities merged with it."""
    with server(url) as client:
        entity = client.entity(uid)
    if as_json:
        print(entity.model_dump_json(indent=2))
    else:
        _print(entity)


@app.command()
def profile(
    uid: Annotated[str, typer.Argument(help="Uid of a person or user, as `vicw entities list` shows it.")],
    limit: LimitOption = 100,
    as_json: JsonOption = False,
    url: UrlOption = None,
) -> None:
    """Show what a person told of themself, topic by topic."""
    with server(url) as client:
        found = client.profile(uid, limit=min(limit, MAX_PAGE))
    if as_json:
        print(found.model_dump_json(indent=2))
        return
    for statement in found.statements:
        said = escape(harmless(" ".join(statement.text.split())))
        line = f"[dim]{format_minute(statement.told_at, UTC)}[/]  {statement.topic:<7} {said}"
        out.print(f"[strike]{line}[/]" if statement.ended else line)
    if not found.statements:
        err.print(f"{harmless(found.name)} told nothing of themself", markup=False)


@app.command()
def candidates(
    contexts: Annotated[
        list[str], typer.Argument(help="Contexts whose names are compared.", autocompletion=complete_contexts)
    ],
    subtype: SubtypeOption = None,
    threshold: Annotated[
        float | None, typer.Option(help="Minimum similarity of names. \\[default: the server's]", min=0.5, max=1.0)
    ] = None,
    limit: LimitOption = 50,
    as_json: JsonOption = False,
    url: UrlOption = None,
) -> None:
    """List pairs of entities that may be the same, the likeliest first. `vicw entities merge` merges them."""
    with server(url) as client:
        page = client.entity_candidates(*contexts, subtype=subtype, threshold=threshold, limit=limit)
    if as_json:
        print(page.model_dump_json(indent=2))
        return
    for candidate in page.candidates:
        out.print(f"[bold]{candidate.score:.2f}[/] {escape(candidate.reason)}")
        out.print(f"     {_named(candidate.entity)}")
        out.print(f"     {_named(candidate.other)}")
    if not page.complete:
        err.print(f"only {counted(page.examined, 'name')} compared; narrow the selection with --subtype", markup=False)
    if not page.candidates:
        err.print(f"No candidates among {counted(page.examined, 'name')}", markup=False)


@app.command()
def merge(
    uid: UidArgument,
    into: Annotated[str, typer.Argument(help="Uid of the entity that is kept.")],
    as_json: JsonOption = False,
    url: UrlOption = None,
) -> None:
    """Merge two entities that are the same. `vicw entities split` undoes it."""
    with server(url) as client:
        _print_change(client.merge(uid, into), as_json=as_json)


@app.command()
def split(
    uid: UidArgument,
    apart_from: Annotated[
        str | None, typer.Argument(help="Uid of the other entity, if the two are not merged.")
    ] = None,
    as_json: JsonOption = False,
    url: UrlOption = None,
) -> None:
    """Undo a merge, or record that two entities are different. They are not proposed again."""
    with server(url) as client:
        _print_change(client.split(uid, apart_from), as_json=as_json)


@app.command()
def identify(
    user: Annotated[str, typer.Argument(help="Uid of a user: see `vicw entities list CONTEXT --subtype user`.")],
    person: Annotated[str, typer.Argument(help="Uid of the user's person.")],
    isnt: Annotated[bool, typer.Option("--not", help="Record that the user is not this person.")] = False,
    as_json: JsonOption = False,
    url: UrlOption = None,
) -> None:
    """Link a user to a person: as a viewer, the user sees items about that person."""
    with server(url) as client:
        _print_change(client.identify(user, person, holds=not isnt), as_json=as_json)


@app.command()
def rename(
    uid: UidArgument,
    name: Annotated[str, typer.Argument(help="The name to show from now on.")],
    as_json: JsonOption = False,
    url: UrlOption = None,
) -> None:
    """Change the name that is shown. The entity is still found by its earlier name."""
    with server(url) as client:
        _print_change(client.rename(uid, name), as_json=as_json)


def _print_change(change: IdentityChange, *, as_json: bool) -> None:
    if as_json:
        print_json(change)
        return
    _print(change.entity)
    if not change.changed:
        err.print("nothing changed", markup=False)


def _print(entity: Entity) -> None:
    out.print(_line(entity))
    if entity.aliases:
        out.print(f"     also {_shown(', '.join(entity.aliases))}")
    if entity.merged_into is not None:
        out.print(f"     merged into {_named(entity.merged_into)}{_guess(entity.merged_into)}")
        if entity.canonical != entity.merged_into.uid:
            out.print(f"     shown as {entity.canonical}", markup=False)
    for merged in entity.merged:
        out.print(f"     includes {_named(merged)}{_guess(merged)}")


def _line(entity: Entity) -> str:
    edges = "1 edge" if entity.degree == 1 else f"{entity.degree} edges"
    merged = " · merged" if entity.merged_into is not None else ""
    return f"{_named(entity)} [dim]· {edges}{merged}[/]"


def _named(entity: EntityRef) -> str:
    return f"[bold]{_shown(entity.name)}[/] [dim]{_shown(entity.subtype)} · {_shown(entity.context)} · {entity.uid}[/]"


def _guess(ref: MergedRef) -> str:
    return " [dim](a guess)[/]" if ref.guess else ""


def _shown(text: str) -> str:
    return escape(harmless(text))
