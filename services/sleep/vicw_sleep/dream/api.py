"""Operations ``sleep/dream`` and ``sleep/wipe``."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from vicw_core.changes import ChangeKind
from vicw_runtime.operations import Memory, NoItem, Operation, Report
from vicw_shared.clock import now
from vicw_shared.wire.base import Id, Message, StrictBool, StrictInt, Unit, example
from vicw_shared.wire.examples import story
from vicw_sleep.dream.commit import DreamResult
from vicw_sleep.dream.job import dreamer_of, rules_of
from vicw_sleep.dream.wipe import wipe
from vicw_sleep.mirror.atoms import Atom

_EXCERPT_CHARS = 60


class DreamRequest(Message):
    """Add auto-tags to items that have too few tags."""

    model_config = example({"tenant": "default", "dry_run": True, "limit": 100})

    tenant: Id | None = Field(None, description="Only this tenant; null: all")
    dry_run: StrictBool = Field(False, description="Only report what would be added")
    hours: Annotated[float, Field(strict=True, ge=0, le=100_000)] | None = Field(
        None, description="Only items older than this; null: VICW_DREAM_HOURS"
    )
    limit: Annotated[int, Field(strict=True, ge=1)] | None = Field(
        None, description="Maximum number of items to process; null: all"
    )


class AddedTag(Message):
    """An auto-tag and why it was added."""

    name: str
    certainty: Unit
    reason: str


class DreamtItem(Message):
    """An item that got auto-tags, with the beginning of its text."""

    model_config = example(
        {
            "context": story.NOVEL,
            "id": story.FLIGHT,
            "excerpt": "Edran rode north before anyone could ask him where she had…",
            "tags": [{"name": "amulet", "certainty": 0.8, "reason": "similar items have it"}],
        }
    )

    context: str
    id: str
    excerpt: str
    tags: tuple[AddedTag, ...]


class DreamOutcome(Message):
    """Of the ``items`` processed, ``dreamt`` got ``tags``."""

    model_config = example({"items": 4, "dreamt": 1, "tags": 1})

    items: StrictInt
    dreamt: StrictInt
    tags: StrictInt


class WipeRequest(Message):
    """Remove all auto-tags of all tenants."""

    model_config = example({})


class WipeResult(Message):
    """Number of auto-tags that were removed."""

    model_config = example({"removed": 1})

    removed: StrictInt


async def run_dream(memory: Memory, request: DreamRequest, report: Report[DreamtItem]) -> DreamOutcome:
    """Dream of all items that are due. Tags added so far stay if it is stopped; run it again to continue."""
    settings = memory.settings.dream
    if request.hours is not None:
        settings = settings.model_copy(update={"hours": request.hours})
    dreamer = replace(
        dreamer_of(memory), progress=report.progress, on_item=lambda dreamt: report.item(_dreamt_item(dreamt))
    )
    rules = rules_of(settings)
    done = await dreamer.run(rules, now=now(), dry=request.dry_run, max_items=request.limit, tenant=request.tenant)
    return DreamOutcome(items=done.items, dreamt=done.dreamt, tags=done.tags)


async def run_wipe(memory: Memory, request: WipeRequest, report: Report[NoItem]) -> WipeResult:
    """Remove the tags and the steps. Run it again to complete it if it is stopped."""
    return WipeResult(removed=await wipe(memory.graph, memory.queue, now=now(), progress=report.progress))


def _dreamt_item(dreamt: DreamResult) -> DreamtItem:
    tags = tuple(AddedTag(name=tag.name, certainty=tag.certainty, reason=tag.reason) for tag in dreamt.tags)
    atom = dreamt.atom
    return DreamtItem(context=atom.item.context, id=atom.id, excerpt=_excerpt(atom), tags=tags)


def _excerpt(atom: Atom) -> str:
    """Return the start of an item's text: the name of a turn is only its speaker."""
    text = " ".join((atom.item.title or atom.text).split())
    text = f"{atom.item.speaker}: {text}" if atom.item.speaker and not atom.item.is_macro else text
    return text if len(text) <= _EXCERPT_CHARS else f"{text[: _EXCERPT_CHARS - 1]}…"


DREAMING = Operation(
    name="sleep/dream",
    summary="Add auto-tags",
    request=DreamRequest,
    result=DreamOutcome,
    item=DreamtItem,
    run=run_dream,
    of_tenant=True,
    change=lambda request: None if request.dry_run else ChangeKind.RUN,
)
WIPE = Operation(
    name="sleep/wipe",
    summary="Remove all auto-tags",
    request=WipeRequest,
    result=WipeResult,
    item=NoItem,
    run=run_wipe,
    change=lambda request: ChangeKind.WIPE,
)
OPERATIONS = (DREAMING, WIPE)
