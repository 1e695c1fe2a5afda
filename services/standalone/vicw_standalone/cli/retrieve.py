"""``vicw retrieve`` and ``vicw retract``."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import batched
from typing import Annotated

import typer
from rich.markup import escape

from vicw_runtime.operations.console import err, harmless, out
from vicw_shared.wire.retract import RetractedStatus
from vicw_shared.wire.retrieve import Result, RetrieveResponse
from vicw_standalone.terminal.server_client import UrlOption, server

_IDS_AT_ONCE = 500


def register(app: typer.Typer) -> None:
    """Add the subcommands."""
    app.command()(retrieve)
    app.command()(retract)


def retrieve(
    query: Annotated[str, typer.Argument(help="The question.")],
    context: Annotated[str | None, typer.Option(help="Search only this context.")] = None,
    domain: Annotated[
        str | None, typer.Option(help="Search only this domain. \\[default: inferred from the query]")
    ] = None,
    limit: Annotated[int, typer.Option(help="Maximum number of results.", min=1)] = 5,
    tag: Annotated[list[str] | None, typer.Option(help="Results must have this tag; may be repeated.")] = None,
    chars: Annotated[
        int | None, typer.Option(help="Budget of the answer's text, in characters. \\[default: 8000]", min=1)
    ] = None,
    tokens: Annotated[int | None, typer.Option(help="The same budget in tokens of three bytes each.", min=1)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the server's answer as JSON.")] = False,
    text: Annotated[bool, typer.Option("--text", help="Print only the text for a prompt.")] = False,
    url: UrlOption = None,
) -> None:
    """Retrieve evidence for a question."""
    with server(url) as client:
        answer = client.retrieve(
            query=query,
            context=context,
            domain=domain,
            limit=limit,
            tags={"all": tuple(tag or ())},
            budget={"chars": chars, "tokens": tokens},
        )
    if as_json:
        print(answer.model_dump_json(indent=2))
    elif text:
        print(harmless(answer.text) if sys.stdout.isatty() else answer.text)
    else:
        _print_answer(answer)
    if not answer.results:
        err.print(_nothing_found(context=[context], domain=[domain], tag=tag or []), markup=False)


def retract(
    ids: Annotated[list[str], typer.Argument(help="Ids of the items.", metavar="ID…")],
    context: Annotated[str, typer.Option(help="Context that the items were ingested into.")],
    ended_at: Annotated[
        datetime | None,
        typer.Option(help="When the items stopped being true, in UTC. \\[default: they never were]"),
    ] = None,
    url: UrlOption = None,
) -> None:
    """Retract items, with everything that rests on them alone.

    They are no longer found; questions about the past (known_at, and with --ended-at also as_of) still see them.
    Ingesting an id again restores it. Exit code 1 if an id is unknown.
    """
    until = ended_at.replace(tzinfo=UTC) if ended_at is not None else None
    with server(url) as client:
        answers = [
            client.retract(context=context, ids=tuple(batch), ended_at=until) for batch in batched(ids, _IDS_AT_ONCE)
        ]
    outcomes = [item for answer in answers for item in answer.items]
    for item in outcomes:
        out.print(f"{item.status.value:<9} {harmless(item.id)}", markup=False)
    if any(item.status is RetractedStatus.UNKNOWN for item in outcomes):
        raise typer.Exit(1)


def _nothing_found(**filters: Sequence[str | None]) -> str:
    """Return a message that names the filters: a mistyped one must not look like an empty store."""
    options = [f"--{name} {shlex.quote(value)}" for name, values in filters.items() for value in values if value]
    if not options:
        return "Nothing found"
    return f"Nothing found with {' '.join(options)}. Check the spelling, or remove filters"


def _print_answer(answer: RetrieveResponse) -> None:
    for result in answer.results:
        _print_result(result, answer)
    intent = answer.intent
    narrowed = ", searched only there" if intent.filtered else ""
    count = "1 result" if len(answer.results) == 1 else f"{len(answer.results)} results"
    err.print(
        f"[dim]{count} in {answer.took_ms['total']:.0f} ms; domain {escape(intent.domain)} "
        f"({intent.confidence:.0%} sure by {intent.domain_source}{narrowed})[/]"
    )
    if answer.degraded:
        err.print(f"[yellow]left out: {escape(', '.join(answer.degraded))}[/]")


def _print_result(result: Result, answer: RetrieveResponse) -> None:
    timestamp = f" · {result.timestamp:%Y-%m-%d %H:%M}" if result.timestamp else ""
    out.print(
        f"[bold cyan]{result.rank}.[/] [bold]{_shown(result.name)}[/] [dim]{_shown(result.context)} · "
        f"{_shown(result.subtype)}{timestamp} · {_shown(result.id or result.uid)} · {result.score:.3f}[/]"
    )
    out.print(harmless(result.text.strip()), markup=False)
    nodes = {node.uid: node for node in answer.graph.nodes}
    for via in result.via:
        other = nodes.get(via.uid)
        if other is not None and via.type != "EVIDENCED_BY":
            arrow = "→" if via.direction == "out" else "←"
            excerpt = " ".join((other.text or other.name).split())[:100]
            out.print(f"   [dim]{arrow} {via.type}[/] [dim]{_shown(excerpt)}[/]")
    out.print()


def _shown(text: str) -> str:
    return escape(harmless(text))
