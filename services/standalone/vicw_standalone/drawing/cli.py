"""``vicw graph``: parts of the graph, as a diagram or as JSON."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from vicw_client import BadRequestError, VicwClient, VicwClientError
from vicw_runtime.console import err, fail, harmless, problem
from vicw_runtime.terminal.completion import contexts as complete_contexts
from vicw_shared.wire.graph import GraphAnswer
from vicw_standalone.drawing.picture import draw
from vicw_standalone.drawing.presets import PRESETS, Preset
from vicw_standalone.terminal.server_client import UrlOption, server

_SHOWN_CHARS = 100
app = typer.Typer(help="Show parts of the graph. Needs a running server.", no_args_is_help=True)

ContextOption = Annotated[str | None, typer.Option(help="Only this context.", autocompletion=complete_contexts)]
LimitOption = Annotated[int, typer.Option(help="Maximum number of nodes.", min=1)]
AsOfOption = Annotated[
    str | None, typer.Option(help="Answer as of this date, such as 2026-01-19, or date, time and zone.")
]
ViewerOption = Annotated[str | None, typer.Option(help="Only what this user may see in a private chat.")]
TypesOption = Annotated[str | None, typer.Option(help="Follow only these edge types, separated by commas.")]


def register(parent: typer.Typer) -> None:
    """Add the subcommands."""
    parent.add_typer(app, name="graph")


@app.command()
def show(
    node: Annotated[str | None, typer.Argument(help="Start node: a uid, an id, a name, or words of a text.")] = None,
    hops: Annotated[
        int | None, typer.Option(help="Maximum number of edges from the start. \\[default: 1; presets differ]", min=0)
    ] = None,
    types: TypesOption = None,
    without: Annotated[
        str | None,
        typer.Option(
            help="Types not to follow; '' follows all. \\[default: BELONGS_TO,EVIDENCED_BY,HAPPENED_AFTER,SUPERSEDES]"
        ),
    ] = None,
    context: ContextOption = None,
    as_of: AsOfOption = None,
    limit: LimitOption = 50,
    viewer: ViewerOption = None,
    causes: Annotated[bool, typer.Option("--causes", help="Preset: causes of NODE, back to the root cause.")] = False,
    flow: Annotated[str | None, typer.Option(help="Preset: this flow, in order.", metavar="FLOW")] = None,
    people: Annotated[bool, typer.Option("--people", help="Preset: relationships of people.")] = False,
    history: Annotated[
        bool,
        typer.Option(
            "--history",
            help="Preset: what replaced NODE and what it replaced; without NODE, all replacements in --context.",
        ),
    ] = False,
    knowledge: Annotated[
        bool, typer.Option("--knowledge", help="Preset: pages and code, and the links between them.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the server's answer as JSON.")] = False,
    url: UrlOption = None,
) -> None:
    """Draw the neighbourhood of a node, or a context, as a Mermaid flowchart.

    Without a node, the picture shows everything in --context that the followed edge types connect. Several words that
    are not a name start at the items that contain them. Exit code 2 if a name is ambiguous: the nodes are listed with
    their uids.
    """
    chosen = {"causes": causes, "flow": flow is not None, "people": people, "history": history}
    named = [name for name, is_chosen in {**chosen, "knowledge": knowledge}.items() if is_chosen]
    if len(named) > 1:
        fail(f"--{named[0]} and --{named[1]} exclude each other", code=2)
    preset = PRESETS[named[0] if named else "around"]
    if flow is None and node is None and context is None:
        fail("name a node, or --context CONTEXT", code=2)
    fields = _fields(context=context, as_of=_instant(as_of), limit=limit, viewer={"user": viewer} if viewer else None)
    with server(url) as client:
        try:
            answer = preset.ask(client, node, flow, hops, _names(types), _names(without), fields)
        except BadRequestError as error:
            _list_candidates(client, node, fields)
            if node is None or len(node.split()) == 1 or preset.question != "walk":
                fail(str(error), code=2)
            answer = preset.walk(client, hops, _names(types), _names(without), {"query": node, **fields})
            if not answer.start:
                fail(str(error), code=2)
            err.print("No node has this name; showing the neighbourhood of items with these words")
    _print(answer, preset, as_json=as_json)


@app.command()
def find(
    name: Annotated[str | None, typer.Argument(help="A uid, an id of an item, or a name in any casing.")] = None,
    context: ContextOption = None,
    subtype: Annotated[str | None, typer.Option(help="Only this subtype: person, file, tag, …")] = None,
    limit: LimitOption = 50,
    viewer: ViewerOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the server's answer as JSON.")] = False,
    url: UrlOption = None,
) -> None:
    """List the nodes that a name or an id may mean; without one, the named nodes of a context."""
    if name is None and context is None:
        fail("give a name, or --context CONTEXT", code=2)
    fields = _fields(context=context, limit=limit, viewer={"user": viewer} if viewer else None)
    with server(url) as client:
        answer = client.graph.find(**_fields(name=name, subtype=subtype), **fields)
    if as_json:
        print(answer.model_dump_json(indent=2))
        return
    for line in _candidates(answer):
        print(line)
    if not answer.nodes:
        err.print("Nothing found")


def _fields(**fields: object) -> dict[str, object]:
    return {name: value for name, value in fields.items() if value is not None}


def _names(text: str | None) -> tuple[str, ...] | None:
    if text is None:
        return None
    return tuple(name.strip().upper() for name in text.split(",") if name.strip())


def _instant(text: str | None) -> datetime | None:
    """Parse a date, which means the end of that day, or a time; without a zone it is this machine's local time."""
    if text is None:
        return None
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        fail(f"--as-of: {text!r} is not a time; write it as 2026-01-19 or 2026-01-19T10:00:00Z", code=2)
    if len(text) == len("2026-01-19"):
        instant = instant.replace(hour=23, minute=59, second=59, microsecond=999999)
    return instant if instant.tzinfo is not None else instant.astimezone()


def _list_candidates(client: VicwClient, node: str | None, fields: dict[str, object]) -> None:
    """List the nodes of an ambiguous name, and end the command."""
    if node is None:
        return
    try:
        answer = client.graph.find(name=node, **fields)
    except VicwClientError:
        return
    if len(answer.nodes) > 1:
        problem(f"{harmless(node)!r} is ambiguous; name the uid of one of these nodes:")
        for line in _candidates(answer):
            err.print(line, markup=False)
        raise typer.Exit(2)


def _candidates(answer: GraphAnswer) -> list[str]:
    return [
        "  ".join(
            harmless(" ".join(part.split()))[:_SHOWN_CHARS]
            for part in (node.uid, node.context, node.subtype, node.id or node.name)
        )
        for node in answer.nodes
    ]


def _print(answer: GraphAnswer, preset: Preset, *, as_json: bool) -> None:
    print(answer.model_dump_json(indent=2) if as_json else draw(answer, preset.style), end="\n" if as_json else "")
    if not answer.nodes:
        err.print("Nothing found. Check the spelling of --context and the types, or remove them")
    if not answer.complete:
        err.print("[yellow]not everything is shown; raise --limit[/]")
