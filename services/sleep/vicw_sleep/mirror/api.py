"""Operations ``mirror/build``, ``mirror/sync`` and ``mirror/status``."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from vicw_core.graph.tenants import require_tenant
from vicw_runtime.operations import NoItem, Opening, Operation, Report, Stores
from vicw_shared.errors import FieldProblem, InvalidInputError, MissingRecordError
from vicw_shared.progress import from_threads
from vicw_shared.wire.base import Message, RawText, StrictBool, StrictInt, example
from vicw_sleep.mirror.page_writer import MirrorResult
from vicw_sleep.mirror.service import Mirror
from vicw_sleep.mirror.visibility import MirrorVisibility


class MirrorRequest(Message):
    """A mirror. What is not given is as in the settings of the memory (``VICW_MIRROR_…``)."""

    model_config = example({"path": "/srv/mirrors/novel", "viewer": "*"})

    path: RawText | None = Field(None, description="Its folder, on the machine of the memory")
    viewer: RawText | None = Field(None, description="A person's name, or * for everything")
    tenant: RawText | None = None


class MirrorWritten(Message):
    """``built`` false: it was up to date. ``edited`` pages were set aside."""

    model_config = example({"built": True, "items": 4, "pages": 7, "edited": []})

    built: StrictBool
    items: StrictInt
    pages: StrictInt
    edited: tuple[str, ...]


class MirrorState(Message):
    """``rebuild_reason``: why the next run rebuilds the mirror; empty: it is up to date."""

    model_config = example({"items": 4, "pages": 7, "edited": 0, "rebuild_reason": ""})

    items: StrictInt
    pages: StrictInt
    edited: StrictInt
    rebuild_reason: str


async def build(stores: Stores, request: MirrorRequest, report: Report[NoItem]) -> MirrorWritten:
    """Build a mirror. Raises as ``Mirror.build`` does, and MissingRecordError for a tenant without data."""
    mirror = await _known(stores, _mirror(stores, request))
    return _written(await mirror.build(from_threads(report.progress)))


async def sync(stores: Stores, request: MirrorRequest, report: Report[NoItem]) -> MirrorWritten:
    """Build a mirror unless it is up to date. Raises as ``build`` does."""
    mirror = await _known(stores, _mirror(stores, request))
    return _written(await mirror.sync(from_threads(report.progress)))


async def status(stores: Stores, request: MirrorRequest, report: Report[NoItem]) -> MirrorState:
    """Return the state of a mirror. Raises MissingRecordError if there is none, SettingsError if it is another."""
    state = await _mirror(stores, request).status()
    if state is None:
        raise MissingRecordError("there is no mirror yet: `vicw mirror build` builds one")
    return MirrorState(items=state.atoms, pages=state.pages, edited=state.edited, rebuild_reason=state.rebuild_reason)


def _mirror(stores: Stores, request: MirrorRequest) -> Mirror:
    """Return the mirror of a request. Raises InvalidInputError if nothing names its folder."""
    settings = stores.settings.mirror
    path = Path(request.path) if request.path is not None else settings.path
    if path is None:
        raise InvalidInputError(
            FieldProblem("path", "is not given", "Name the mirror's folder: --path FOLDER, or VICW_MIRROR_PATH")
        )
    viewer = request.viewer if request.viewer is not None else settings.viewer or ""
    return Mirror(stores.graph, path, request.tenant or settings.tenant, MirrorVisibility(viewer))


async def _known(stores: Stores, mirror: Mirror) -> Mirror:
    """Refuse a tenant without data: its name is mistyped. A mirror that still shows the tenant is emptied instead."""
    try:
        await require_tenant(stores.graph, mirror.tenant)
    except MissingRecordError as error:
        if not await mirror.is_there():
            raise MissingRecordError(
                f"{error.detail}. Name one with --tenant or VICW_MIRROR_TENANT; no mirror was written"
            ) from error
    return mirror


def _written(done: MirrorResult) -> MirrorWritten:
    return MirrorWritten(built=done.built, items=done.atoms, pages=done.pages, edited=tuple(done.edited))


BUILD = Operation(
    name="mirror/build",
    summary="Build the mirror",
    request=MirrorRequest,
    result=MirrorWritten,
    item=NoItem,
    run=build,
    opening=Opening.STORES,
    owner_only=True,
)
SYNC = Operation(
    name="mirror/sync",
    summary="Build the mirror unless it is up to date",
    request=MirrorRequest,
    result=MirrorWritten,
    item=NoItem,
    run=sync,
    opening=Opening.STORES,
    owner_only=True,
)
STATUS = Operation(
    name="mirror/status",
    summary="Get the size of the mirror and whether it is up to date",
    request=MirrorRequest,
    result=MirrorState,
    item=NoItem,
    run=status,
    opening=Opening.STORES,
    owner_only=True,
)
OPERATIONS = (BUILD, SYNC, STATUS)
