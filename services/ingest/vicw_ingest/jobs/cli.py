"""``vicw jobs``: list and retry failed indexing and extraction."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from vicw_runtime.console import err, fail, harmless, out
from vicw_runtime.operations.command import (
    DataDirOption,
    Place,
    PlatformOption,
    ServerOption,
    TenantOption,
    run_command,
    tenant_name,
)
from vicw_runtime.terminal.json_option import JsonOption
from vicw_shared.errors import MissingRecordError
from vicw_shared.settings import ServerSettings
from vicw_shared.settings.variables import named_by_variable
from vicw_shared.text import counted

if TYPE_CHECKING:
    from vicw_ingest.jobs.api import FailedEntry

LlmOption = Annotated[bool, typer.Option("--llm", help="Items that wait for the language model, instead of passages.")]
app = typer.Typer(help="List passages that could not be indexed, and retry them.", no_args_is_help=True)


def register(parent: typer.Typer) -> None:
    """Add the subcommands."""
    parent.add_typer(app, name="jobs")


@app.command("list")
def list_failures(
    ctx: typer.Context,
    tenant: TenantOption = None,
    limit: Annotated[int, typer.Option(help="Maximum number of entries to list.", min=1)] = 50,
    everything: Annotated[bool, typer.Option("--all", help="List all entries, regardless of --limit.")] = False,
    llm: LlmOption = False,
    as_json: JsonOption = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """List the passages whose embedding failed, most tries first, with the last error.

    Dead entries are not retried: `vicw jobs replay` makes them due again. The others are retried after a pause. With
    --llm: the items whose extraction by the language model failed; they are stored and found all the same.
    """
    from vicw_ingest.jobs.api import LIST_FAILURES, FailuresRequest

    failures: list[FailedEntry] = []
    request = FailuresRequest(tenant=tenant, limit=None if everything else limit, llm=llm)
    backlog = run_command(ctx, LIST_FAILURES, request, Place(data_dir, platform), on_item=failures.append)
    if as_json:
        print(json.dumps([_fields_of(failure) for failure in failures], indent=2))
        return
    for failure in failures:
        out.print(_describe(failure), markup=False)
    hidden = backlog.failing + backlog.dead - len(failures)
    more = f"; {hidden} not shown" if hidden > 0 else ""
    err.print(f"{backlog.waiting} waiting, {backlog.failing} of them failing, {backlog.dead} dead{more}")


def _describe(failure: FailedEntry) -> str:
    """Return a failed entry as readable lines."""
    facts = {
        "dead"
        if failure.dead
        else "failing": f"{counted(failure.tries, 'try', 'tries')} since {failure.since:%Y-%m-%d %H:%M}",
        "tenant": failure.tenant,
        "context": failure.context,
        "id": failure.id or failure.item,
    }
    lines = failure.entry, "  ".join(f"{name} {value}" for name, value in facts.items()), failure.error
    return "\n    ".join(" ".join(harmless(line).split("\n")) for line in lines)


def _fields_of(failure: FailedEntry) -> dict[str, Any]:
    return {**failure.model_dump(), "since": failure.since.isoformat()}


@app.command()
def show(
    ctx: typer.Context,
    job: Annotated[str, typer.Argument(help="Id of the job, from the answer of POST /ingest")],
    tenant: Annotated[
        str | None, typer.Option(help="The job's tenant. \\[default: default, or VICW_TENANT]", callback=tenant_name)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, as it does anyway.")] = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """Print the progress and the failures of a job, as `GET /ingest/jobs/JOB` answers."""
    from vicw_ingest.jobs.api import SHOW_JOB, JobRequest

    with named_by_variable():
        owner = tenant or ServerSettings().tenant
    try:
        status = run_command(ctx, SHOW_JOB, JobRequest(job=job, tenant=owner), Place(data_dir, platform))
    except MissingRecordError as error:
        fail(f"{error.detail} of tenant {owner!r}. `--tenant NAME` looks in another tenant")
    print(json.dumps(status.model_dump(mode="json"), indent=2))


@app.command()
def replay(
    ctx: typer.Context,
    entries: Annotated[list[str] | None, typer.Argument(help="Ids of entries, as `vicw jobs list` shows them")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All failing entries of all tenants.")] = False,
    tenant: Annotated[
        str | None, typer.Option(help="All failing entries of this tenant.", callback=tenant_name)
    ] = None,
    llm: LlmOption = False,
    as_json: JsonOption = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
    url: ServerOption = None,
) -> None:
    """Retry passages at once, including dead ones, as if they had never failed; with --llm: items.

    A running server or worker begins within seconds; a stopped one when it starts.
    """
    from vicw_ingest.jobs.api import MAX_ENTRIES, REPLAY, ReplayRequest

    if sum((bool(entries), everything, tenant is not None)) != 1:
        fail("name what to retry: entries, or --tenant, or --all", code=2)
    named = {_uid_of(entry) for entry in entries or ()}
    if len(named) > MAX_ENTRIES:
        fail(f"{len(named)} entries: name at most {MAX_ENTRIES}, or use --all", code=2)
    request = ReplayRequest(entries=tuple(named) or None, tenant=tenant, llm=llm)
    count = run_command(ctx, REPLAY, request, Place(data_dir, platform, url), as_json=as_json).due
    if not as_json:
        out.print("1 entry is due again" if count == 1 else f"{count} entries are due again")
    if count < len(named):
        listed = "vicw jobs list --llm" if llm else "vicw jobs list"
        missing = len(named) - count
        is_or_are = "is" if missing == 1 else "are"
        fail(f"{missing} of the named entries {is_or_are} not failing; `{listed}` lists those that are")


def _uid_of(entry: str) -> UUID:
    try:
        return UUID(entry)
    except ValueError:
        fail(f"{entry!r} is not the id of an entry; `vicw jobs list` lists them", code=2)
