"""HTTP endpoints of imports: upload files, see how far their import is, cancel it. Their right is ``ingest``."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response, Security

from vicw_ingest.file_import.service import ImportJobs
from vicw_runtime.http import Gate, bearer_scheme, caller_of, refusals, tenant_of
from vicw_shared.errors import FieldProblem, InvalidInputError, LimitExceededError
from vicw_shared.model.keys import Right
from vicw_shared.wire.examples import story
from vicw_shared.wire.file_import import ImportJob, ImportQuery

_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "The files, each a part with its name; a name may have folders above it. A `.zip` is opened",
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "properties": {"file": {"type": "array", "items": {"type": "string", "format": "binary"}}},
                    "required": ["file"],
                },
                "example": {"file": ["# The castle\n\nIts vault lies under the north tower.\n"]},
            }
        },
    }
}

_Job = Annotated[str, Path(examples=[story.JOB])]
_BEGUN: dict[str, Any] = {
    "description": "The job has begun",
    "headers": {"Location": {"description": "Its address", "schema": {"type": "string"}}},
}


def create_import_router(jobs: Callable[[], ImportJobs], gate: Gate) -> APIRouter:
    """Return the routes, protected by ``gate``. Each request calls ``jobs`` anew."""
    router = APIRouter(tags=["import"], dependencies=[Security(bearer_scheme)])

    async def post_import(http: Request, response: Response, query: Annotated[ImportQuery, Query()]) -> ImportJob:
        from vicw_ingest.file_import.upload import boundary_of, receive  # seldom needed

        of = jobs()
        content_type = http.headers.get("content-type", "")
        boundary_of(content_type)
        await asyncio.to_thread(_require_known, query)
        length = http.headers.get("content-length", "")
        async with of.places.place(tenant_of(http), int(length) if length.isdecimal() else None) as place:
            took = partial(of.places.take, place)
            try:
                async with asyncio.timeout(of.settings.upload_seconds):
                    files = await receive(http.stream(), content_type, place.files, of.settings, took)
            except TimeoutError:
                raise _too_slow(of.settings.upload_seconds) from None
            job = await of.begin(place, files.paths, query, uploaded=files.count, key=caller_of(http).key)
        response.headers["Location"] = job.address
        return job

    async def get_import(job: _Job, http: Request) -> ImportJob:
        return await jobs().status(tenant_of(http), job)

    async def delete_import(job: _Job, http: Request) -> ImportJob:
        return await jobs().cancel(tenant_of(http), job)

    router.add_api_route(
        "/import",
        post_import,
        methods=["POST"],
        status_code=202,
        operation_id="import_files",
        summary="Import files",
        description="Reads files of every format that `vicw ingest` reads, and stores their items, as a job: the "
        "answer has its address. Options stand in the query.",
        responses={202: _BEGUN, **refusals(401, 403, 413, 422, 429, 503, 507)},
        openapi_extra=_BODY,
        route_class_override=gate.route(Right.INGEST, streams=True),
    )
    router.add_api_route(
        "/import/{job}",
        get_import,
        methods=["GET"],
        operation_id="get_import",
        summary="Get the progress and the report of an import",
        responses=refusals(401, 403, 404, 422, 503),
        route_class_override=gate.route(Right.INGEST),
    )
    router.add_api_route(
        "/import/{job}",
        delete_import,
        methods=["DELETE"],
        operation_id="cancel_import",
        summary="Cancel an import",
        description="What it has stored stays. An import that has ended is answered as it is.",
        responses=refusals(401, 403, 404, 422, 503, 507),
        route_class_override=gate.route(Right.INGEST),
    )
    return router


def _require_known(query: ImportQuery) -> None:
    """Refuse what readers would refuse after the upload."""
    from vicw_readers.intake.source_file import patterns_of  # slow to import
    from vicw_readers.registry import readers

    names = [reader.name for reader in readers()]
    if query.format is not None and query.format not in names:
        raise InvalidInputError(
            FieldProblem("format", f"{query.format!r} is no format", f"There are {', '.join(names)}")
        )
    for field, patterns in (("include", query.include), ("exclude", query.exclude)):
        try:
            patterns_of(patterns)
        except (ValueError, re.error) as error:
            fix = "Write it as a line of .gitignore, such as *.md"
            raise InvalidInputError(FieldProblem(field, f"has no valid pattern: {error}", fix)) from None


def _too_slow(seconds: float) -> LimitExceededError:
    return LimitExceededError(
        f"body: did not come within {seconds:g} seconds (VICW_IMPORT_UPLOAD_SECONDS). Send fewer files at once"
    )
