"""``vicw retrieve``.

Hooks run it at each prompt, so it has to start in a moment: one request with the standard library, and no models.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Annotated, Any
from zoneinfo import ZoneInfo

import typer
from rich.markup import escape

from vicw_runtime.console import err, harmless, out
from vicw_runtime.terminal.completion import contexts as complete_contexts
from vicw_runtime.terminal.json_option import FilterOption, read_object
from vicw_shared.clock import format_minute
from vicw_standalone.terminal.one_request import post
from vicw_standalone.terminal.server_client import UrlOption, server

_ANSWERED = {"unsure": "unsure whether this answers it", "nothing": "nothing is known of this"}


def register(app: typer.Typer) -> None:
    """Add the subcommand."""
    app.command()(retrieve)


def retrieve(
    query: Annotated[str, typer.Argument(help="The question.")],
    context: Annotated[
        str | None, typer.Option(help="Search only this context.", autocompletion=complete_contexts)
    ] = None,
    domain: Annotated[
        str | None, typer.Option(help="Search only this domain. \\[default: inferred from the query]")
    ] = None,
    limit: Annotated[int, typer.Option(help="Maximum number of results.", min=1)] = 5,
    min_relevance: Annotated[
        float, typer.Option(help="Leave out results less likely to be evidence than this, 0 to 1.", min=0, max=1)
    ] = 0.0,
    tag: Annotated[list[str] | None, typer.Option(help="Results must have this tag; may be repeated.")] = None,
    speaker: Annotated[str | None, typer.Option(help="Only what this speaker said.")] = None,
    user: Annotated[str | None, typer.Option(help="Only what this user said.")] = None,
    since: Annotated[datetime | None, typer.Option(help="Told then or later, in UTC.")] = None,
    until: Annotated[datetime | None, typer.Option(help="Told before then, in UTC.")] = None,
    filter_: FilterOption = None,
    chars: Annotated[
        int | None, typer.Option(help="Budget of the answer's text, in characters. \\[default: 8000]", min=1)
    ] = None,
    tokens: Annotated[int | None, typer.Option(help="The same budget in tokens of three bytes each.", min=1)] = None,
    timezone: Annotated[
        str | None,
        typer.Option(help="Your time zone, such as Europe/Berlin, for days and for times. \\[default: UTC]"),
    ] = None,
    cursor: Annotated[
        str | None, typer.Option(help="The next page: `next` of an answer with --json to the same question.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the server's answer as JSON.")] = False,
    text: Annotated[bool, typer.Option("--text", help="Print only the text for a prompt.")] = False,
    url: UrlOption = None,
) -> None:
    """Retrieve evidence for a question."""
    question: dict[str, Any] = {
        "query": query,
        "context": context,
        "domain": domain,
        "limit": limit,
        "tags": {"all": tag or []},
        "budget": {"chars": chars, "tokens": tokens},
        **{name: value for name, value in {"speaker": speaker, "user": user, "cursor": cursor}.items() if value},
        **{
            name: at.replace(tzinfo=UTC).isoformat()
            for name, at in {"since": since, "until": until}.items()
            if at is not None
        },
        **({"filter": read_object(filter_, "--filter")} if filter_ is not None else {}),
        **({"timezone": timezone} if timezone else {}),
        **({"min_relevance": min_relevance} if min_relevance else {}),
    }
    answer = post("/retrieve", question, url)
    if answer is None:  # the client tries again, and says what is wrong
        with server(url) as client:
            answer = client.retrieve(**question).model_dump(mode="json")
    if as_json:
        print(json.dumps(answer, indent=2, ensure_ascii=False))
    elif text:
        print(harmless(answer["text"]) if sys.stdout.isatty() else answer["text"])
    else:
        _print_answer(answer, ZoneInfo(timezone) if timezone else UTC)
    if not answer["results"]:
        named = _nothing_found(
            context=[context], domain=[domain], tag=tag or [], speaker=[speaker], user=[user], filter=[filter_]
        )
        err.print(named, markup=False)


def _nothing_found(**filters: Sequence[str | None]) -> str:
    """Return a message that names the filters: a mistyped one must not look like an empty store."""
    options = [f"--{name} {shlex.quote(value)}" for name, values in filters.items() for value in values if value]
    if not options:
        return "Nothing found"
    return f"Nothing found with {' '.join(options)}. Check the spelling, or remove filters"


def _print_answer(answer: Mapping[str, Any], zone: tzinfo) -> None:
    nodes = {node["uid"]: node for node in answer["graph"].get("nodes", ())}
    for result in answer["results"]:
        _print_result(result, nodes, zone)
    if (named := answer.get("time")) and named["nothing"]:
        err.print(f"[yellow]nothing is known of this time: {_shown(named['text'])}; these are of others[/]")
    if (said := _ANSWERED.get(answer.get("answered", ""))) is not None:
        err.print(f"[yellow]{said} (relevance {answer['relevance']:.2f})[/]")
    intent = answer["intent"]
    narrowed = ", searched only there" if intent["filtered"] else ""
    count = "1 result" if len(answer["results"]) == 1 else f"{len(answer['results'])} results"
    err.print(
        f"[dim]{count} in {answer['took_ms']['total']:.0f} ms; domain {escape(intent['domain'])} "
        f"({intent['confidence']:.0%} sure by {intent['domain_source']}{narrowed})[/]"
    )
    if intent.get("ambiguous"):
        fits = ", ".join(f"{escape(name)} {share:.0%}" for name, share in intent["domains"].items())
        err.print(f"[yellow]ambiguous: it fits several domains ({fits}); --domain asks one of them[/]")
    degraded = set(answer.get("degraded", ()))
    if "pending" in degraded:
        err.print("[yellow]some memories are not indexed yet and may be missing[/]")
        degraded.remove("pending")
    if "embedding" in degraded:
        err.print("[yellow]found by words alone: the server still loads its embedding model[/]")
    elif degraded:
        err.print(f"[yellow]left out: {escape(', '.join(sorted(degraded)))}[/]")


def _print_result(result: Mapping[str, Any], nodes: Mapping[str, Mapping[str, Any]], zone: tzinfo) -> None:
    timestamp = result.get("timestamp")
    at = format_minute(datetime.fromisoformat(timestamp), zone) if timestamp else ""
    shown_time = f" · {at}" if at else ""
    out.print(
        f"[bold cyan]{result['rank']}.[/] [bold]{_shown(result['name'])}[/] [dim]{_shown(result['context'])} · "
        f"{_shown(result['subtype'])}{shown_time} · {_shown(result.get('id') or result['uid'])} · "
        f"{result['score']:.3f}[/]"
    )
    out.print(harmless(result["text"].strip()), markup=False)
    for via in result.get("via", ()):
        other = nodes.get(via["uid"])
        if other is not None and via["type"] != "EVIDENCED_BY":
            arrow = "→" if via["direction"] == "out" else "←"
            excerpt = " ".join((other.get("text") or other["name"]).split())[:100]
            out.print(f"   [dim]{arrow} {via['type']}[/] [dim]{_shown(excerpt)}[/]")
    out.print()


def _shown(text: str) -> str:
    return escape(harmless(text))
