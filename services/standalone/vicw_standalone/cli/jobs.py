"""``vicw jobs``: list and retry failed indexing and extraction."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from vicw_runtime.logs import configure_logs
from vicw_runtime.operations.console import err, fail, harmless, out
from vicw_shared.errors import MissingRecordError
from vicw_shared.ports import Backlog, IndexFailure
from vicw_shared.settings import LogSettings, RedisSettings
from vicw_shared.settings.variables import named_by_variable
from vicw_shared.text import counted
from vicw_standalone.cli.models import DataDirOption, PlatformOption, tenant_name
from vicw_standalone.platform_stores import open_graph
from vicw_standalone.settings import read_settings

if TYPE_CHECKING:
    from vicw_shared.wire.ingest import JobStatus
    from vicw_stores.neo4j import Neo4jGraphStore
    from vicw_stores.sqlite import SqliteGraphStore

TenantOption = Annotated[
    str | None, typer.Option(help="Only this tenant. \\[default: all tenants]", callback=tenant_name)
]
LlmOption = Annotated[bool, typer.Option("--llm", help="Items that wait for the language model, instead of passages.")]
app = typer.Typer(
    help="List passages that could not be indexed, and retry them. A server may be running.", no_args_is_help=True
)


def register(parent: typer.Typer) -> None:
    """Add the subcommands."""
    parent.add_typer(app, name="jobs")


@asynccontextmanager
async def open_graph_of(data_dir: Path | None, platform: bool) -> AsyncIterator[SqliteGraphStore | Neo4jGraphStore]:
    """Open the graph store; servers and workers may run."""
    configure_logs(LogSettings(level="warning"))
    if platform:
        async with open_graph() as graph:
            yield graph
    else:
        from vicw_standalone.offline import open_beside  # the platform's image has no embedded stores

        async with open_beside(read_settings(data_dir=data_dir).storage.data_dir) as beside:
            yield beside


@app.command("list")
def list_failures(
    tenant: TenantOption = None,
    limit: Annotated[int, typer.Option(help="Maximum number of entries to list.", min=1)] = 50,
    everything: Annotated[bool, typer.Option("--all", help="List all entries, regardless of --limit.")] = False,
    llm: LlmOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """List the passages whose embedding failed, most tries first, with the last error.

    Dead entries are not retried: `vicw jobs replay` makes them due again. The others are retried after a pause. With
    --llm: the items whose extraction by the language model failed; they are stored and found all the same.
    """

    async def read() -> tuple[list[IndexFailure], Backlog]:
        async with open_graph_of(data_dir, platform) as graph:
            queue = graph.pending_extractions if llm else graph.outbox
            return await queue.failures(tenant, sys.maxsize if everything else limit), await queue.backlog(tenant)

    failures, backlog = asyncio.run(read())
    if as_json:
        print(json.dumps([fields_of(failure) for failure in failures], indent=2))
        return
    for failure in failures:
        out.print(describe_failure(failure), markup=False)
    hidden = backlog.failing + backlog.dead - len(failures)
    more = f"; {hidden} not shown" if hidden > 0 else ""
    err.print(f"{backlog.waiting} waiting, {backlog.failing} of them failing, {backlog.dead} dead{more}")


def describe_failure(failure: IndexFailure) -> str:
    """Return a failed entry as readable lines."""
    facts = {
        "dead"
        if failure.dead
        else "failing": f"{counted(failure.tries, 'try', 'tries')} since {failure.since:%Y-%m-%d %H:%M}",
        "tenant": failure.tenant,
        "context": failure.context,
        "id": failure.source_id or failure.item,
    }
    lines = failure.point_id, "  ".join(f"{name} {value}" for name, value in facts.items()), failure.error
    return "\n    ".join(" ".join(harmless(line).split("\n")) for line in lines)


def fields_of(failure: IndexFailure) -> dict[str, Any]:
    """Return a failed entry as the fields of its JSON."""
    fields = asdict(failure)
    named = {"entry": fields.pop("point_id"), "id": fields.pop("source_id")}
    return named | fields | {"since": failure.since.isoformat()}


@app.command()
def show(
    job: Annotated[str, typer.Argument(help="Id of the job, from the answer of POST /ingest")],
    tenant: Annotated[
        str | None, typer.Option(help="The job's tenant. \\[default: default, or VICW_TENANT]", callback=tenant_name)
    ] = None,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """Print the progress and the failures of a job, as `GET /ingest/jobs/JOB` answers."""
    from vicw_ingest.response.job_status import job_status

    owner = tenant or read_settings(data_dir=data_dir).server.tenant

    async def read() -> JobStatus:
        async with open_graph_of(data_dir, platform) as graph:
            return await job_status(job, owner, graph.record, graph.outbox, graph.pending_extractions)

    try:
        status = asyncio.run(read())
    except MissingRecordError as error:
        fail(f"{error.detail} of tenant {owner!r}. `--tenant NAME` looks in another tenant")
    print(json.dumps(status.model_dump(mode="json"), indent=2))


@app.command()
def replay(
    entries: Annotated[list[str] | None, typer.Argument(help="Ids of entries, as `vicw jobs list` shows them")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All failing entries of all tenants.")] = False,
    tenant: Annotated[
        str | None, typer.Option(help="All failing entries of this tenant.", callback=tenant_name)
    ] = None,
    llm: LlmOption = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """Retry passages at once, including dead ones, as if they had never failed; with --llm: items.

    A running server or worker begins within seconds; a stopped one when it starts.
    """
    if sum((bool(entries), everything, tenant is not None)) != 1:
        fail("name what to retry: entries, or --tenant, or --all", code=2)
    named = {_uid_of(entry) for entry in entries or ()}
    count = asyncio.run(_replay(sorted(named) or None, tenant, llm, data_dir, platform))
    out.print("1 entry is due again" if count == 1 else f"{count} entries are due again")
    if count < len(named):
        listed = "vicw jobs list --llm" if llm else "vicw jobs list"
        missing = len(named) - count
        is_or_are = "is" if missing == 1 else "are"
        fail(f"{missing} of the named entries {is_or_are} not failing; `{listed}` lists those that are")


def _uid_of(entry: str) -> str:
    try:
        return str(UUID(entry))
    except ValueError:
        fail(f"{entry!r} is not the id of an entry; `vicw jobs list` lists them", code=2)


async def _replay(
    entries: list[str] | None, tenant: str | None, llm: bool, data_dir: Path | None, platform: bool
) -> int:
    async with open_graph_of(data_dir, platform) as graph:
        count = await (graph.pending_extractions if llm else graph.outbox).replay(entries, tenant=tenant)
    if platform and count:
        from vicw_runtime.queue.celery_queue import EXTRACT, EXTRACT_QUEUE, CeleryQueue

        with named_by_variable():
            queue = CeleryQueue(RedisSettings(), **({"task": EXTRACT, "queue": EXTRACT_QUEUE} if llm else {}))
        await queue.wake()
        await queue.close()
    return count
