"""``vicw ingest``, ``vicw retrieve`` and ``vicw retract``: what is done with a running server."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import batched
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from vicw_client import Retry, ServerUnreachableError, VicwClient, VicwClientError
from vicw_shared.wire.retract import RetractedStatus
from vicw_shared.wire.retrieve import Result, RetrieveResponse
from vicw_standalone.cli.console import err, fail, harmless, out, problem
from vicw_standalone.cli.interrupt import INTERRUPTED, interruptible
from vicw_standalone.importing import PATIENT, ImportStoppedError, Summary, import_paths
from vicw_standalone.sources.roots import ContextTakenError

_SHOWN_REFUSALS = 20
_IDS_AT_ONCE = 500
_START = ". Is the server running? Start it with `vicw serve`, or the platform with `docker compose up -d`"
UrlOption = Annotated[
    str | None, typer.Option(help="Address of the server. \\[default: http://127.0.0.1:8080, or VICW_URL]")
]


def _path(given: str) -> Path:
    """Read an argument; an empty one, which a variable that is not set gives, must not mean the current folder."""
    if not given:
        raise typer.BadParameter("is empty; name a file or a folder")
    path = Path(given)
    if not os.path.lexists(path):
        raise typer.BadParameter(f"{given} does not exist")
    return path


def register(app: typer.Typer) -> None:
    """Add the subcommands."""
    app.command()(ingest)
    app.command()(retrieve)
    app.command()(retract)


def ingest(
    paths: Annotated[list[Path], typer.Argument(help="Files and folders.", parser=_path, metavar="PATH…")],
    context: Annotated[
        str | None, typer.Option(help="Context to remember them in. \\[default: the folder's or file's name]")
    ] = None,
    domain: Annotated[
        str | None, typer.Option(help="coding, creative, general, or your own. \\[default: what the files are]")
    ] = None,
    flow: Annotated[str | None, typer.Option(help="Logical thread of the items.")] = None,
    again: Annotated[bool, typer.Option("--again", help="Send what an earlier run has stored, too.")] = False,
    no_wait: Annotated[
        bool, typer.Option("--no-wait", help="Return when everything is durable, before it can be found.")
    ] = False,
    url: UrlOption = None,
) -> None:
    """Remember files: Markdown, text, source code, JSONL of items, ChatGPT and Claude exports.

    Folders are walked (hidden files, binaries and what .gitignore names are passed over). Markdown is cut by
    heading, code by definition; ids are path#anchor, so a second run updates what has changed. An import that is
    stopped goes on where it was when it is run again. Ctrl-C stops it after the requests under way, a second one
    at once. Exit code 1 if anything was refused, 2 if it could not go on, 130 after Ctrl-C.
    """
    bar = Progress(
        SpinnerColumn(),
        TextColumn("remembering"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=err,
        transient=True,
    )
    with connect(url, PATIENT) as client, bar:
        _require_server(client)
        task = bar.add_task("items", total=None)
        try:
            with interruptible(_stopping, lambda: _stopped(bar)) as stop:
                summary = import_paths(
                    client,
                    paths,
                    context=context,
                    domain=domain,
                    flow=flow,
                    progress=lambda done, total: bar.update(task, completed=done, total=total),
                    again=again,
                    wait_until_found=not no_wait,
                    stop=stop,
                )
        except ImportStoppedError as error:
            bar.stop()
            _print_summary(error.summary)
            fail(f"{error}{hint(error.__cause__)}", code=2 if error.__cause__ else INTERRUPTED)
        except ContextTakenError as error:
            bar.stop()
            fail(str(error), code=2)
        except OSError as error:
            bar.stop()
            fail(f"cannot keep what the import has done ({error}); set XDG_STATE_HOME to a writable folder", code=2)
    _print_summary(summary)
    if summary.refused:
        raise typer.Exit(1)


def _stopping() -> None:
    err.print("stopping after the requests under way; press Ctrl-C again to stop at once")


def _stopped(bar: Progress) -> None:
    bar.stop()
    problem("stopped at once. What was acknowledged is stored; run the same import again to go on")


def _print_summary(summary: Summary) -> None:
    table = Table(show_header=False, box=None)
    for name, count in (
        ("created", summary.created),
        ("updated", summary.updated),
        ("unchanged", summary.unchanged),
        ("stored by an earlier run", summary.skipped),
        ("files passed over", len(summary.passed_over)),
        ("refused", len(summary.refused)),
    ):
        table.add_row(name, str(count))
    out.print(table)
    for context, count in summary.contexts.most_common():
        out.print(f"  {count} in context [bold]{escape(context)}[/]")
    for kind, count in summary.masked.most_common():
        out.print(f"  secrets masked in {count} {'item' if count == 1 else 'items'}: {kind}")
    if summary.jobs:
        requests = "1 request is" if len(summary.jobs) == 1 else f"{len(summary.jobs)} requests are"
        out.print(f"  durable, and found a little later: {requests} still being indexed")
    for refused in summary.refused[:_SHOWN_REFUSALS]:
        place = f"{refused.path}:{refused.line}" if refused.line else str(refused.path)
        err.print(f"[yellow]refused[/] {escape(place)}: {escape(refused.reason)}")
    if len(summary.refused) > _SHOWN_REFUSALS:
        err.print(f"[yellow]…and {len(summary.refused) - _SHOWN_REFUSALS} more[/]")


def retrieve(
    query: Annotated[str, typer.Argument(help="The question.")],
    context: Annotated[str | None, typer.Option(help="Search one context.")] = None,
    domain: Annotated[str | None, typer.Option(help="Strict filter. \\[default: inferred]")] = None,
    limit: Annotated[int, typer.Option(help="Results.", min=1)] = 5,
    tag: Annotated[list[str] | None, typer.Option(help="Results must have this tag; may be repeated.")] = None,
    chars: Annotated[int, typer.Option(help="Budget of the text, in characters.", min=1)] = 8000,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as the server gave it.")] = False,
    text: Annotated[bool, typer.Option("--text", help="Print only the text that is ready to paste.")] = False,
    url: UrlOption = None,
) -> None:
    """Ask for evidence."""
    with connect(url) as client:
        try:
            answer = client.retrieve(
                query=query,
                context=context,
                domain=domain,
                limit=limit,
                tags={"all": tuple(tag or ())},
                budget={"chars": chars},
            )
        except VicwClientError as error:
            fail(f"{error}{hint(error)}")
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
    context: Annotated[str, typer.Option(help="The context that they were ingested in.")],
    ended_at: Annotated[
        datetime | None,
        typer.Option(help="Until when they were true, in UTC. \\[default: they were wrong, and never true]"),
    ] = None,
    url: UrlOption = None,
) -> None:
    """Take items back, with all that rests on them alone.

    They are no longer found; questions about the past (known_at, and with --ended-at as_of) still see them. Ingesting
    an id again makes it live again. Exit code 1 if an id is unknown.
    """
    with connect(url) as client:
        try:
            until = ended_at.replace(tzinfo=UTC) if ended_at is not None else None
            answers = [
                client.retract(context=context, ids=tuple(batch), ended_at=until)
                for batch in batched(ids, _IDS_AT_ONCE)
            ]
        except VicwClientError as error:
            fail(f"{error}{hint(error)}")
    outcomes = [item for answer in answers for item in answer.items]
    for item in outcomes:
        out.print(f"{item.status.value:<9} {harmless(item.id)}", markup=False)
    if any(item.status is RetractedStatus.UNKNOWN for item in outcomes):
        raise typer.Exit(1)


def _nothing_found(**filters: Sequence[str | None]) -> str:
    """Name the filters: where one is mistyped, it must not look as if nothing were stored."""
    given = [f"--{name} {shlex.quote(value)}" for name, values in filters.items() for value in values if value]
    if not given:
        return "Nothing found"
    return f"Nothing found with {' '.join(given)}. Check the spelling, or leave filters out"


def _print_answer(answer: RetrieveResponse) -> None:
    for result in answer.results:
        _print_result(result, answer)
    intent = answer.intent
    narrowed = ", narrowed to it" if intent.filtered else ""
    found = "1 result" if len(answer.results) == 1 else f"{len(answer.results)} results"
    err.print(
        f"[dim]{found} in {answer.took_ms['total']:.0f} ms; domain {escape(intent.domain)} "
        f"({intent.confidence:.0%} sure by {intent.evidence}{narrowed})[/]"
    )
    if answer.degraded:
        err.print(f"[yellow]left out: {escape(', '.join(answer.degraded))}[/]")


def _print_result(result: Result, answer: RetrieveResponse) -> None:
    when = f" · {result.timestamp:%Y-%m-%d %H:%M}" if result.timestamp else ""
    out.print(
        f"[bold cyan]{result.rank}.[/] [bold]{_shown(result.name)}[/] [dim]{_shown(result.context)} · "
        f"{_shown(result.subtype)}{when} · {_shown(result.id or result.uid)} · {result.score:.3f}[/]"
    )
    out.print(harmless(result.text.strip()), markup=False)
    nodes = {node.uid: node for node in answer.graph.nodes}
    for via in result.via:
        other = nodes.get(via.uid)
        if other is not None and via.type != "EVIDENCED_BY":
            arrow = "→" if via.direction == "out" else "←"
            said = " ".join((other.text or other.name).split())[:100]
            out.print(f"   [dim]{arrow} {via.type}[/] [dim]{_shown(said)}[/]")
    out.print()


def _shown(text: str) -> str:
    return escape(harmless(text))


def connect(url: str | None, retry: Retry | None = None) -> VicwClient:
    """Return a client of the server at ``url``, or end the command."""
    try:
        return VicwClient(url, retry=retry)
    except VicwClientError as error:
        fail(f"{error}. Mend --url or VICW_URL", code=2)


def _require_server(client: VicwClient) -> None:
    """End at once where there is no server: an import is patient with one that is busy."""
    try:
        state = client.ready()
    except VicwClientError as error:
        fail(str(error), code=2)
    if not state.answered:
        fail(f"{state.detail}{_START}", code=2)


def hint(error: BaseException | None) -> str:
    """Return what to do where no server answers, else nothing."""
    return _START if isinstance(error, ServerUnreachableError) else ""
