"""Recall by itself: what a session gets when it begins, and what a prompt calls for."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import structlog
from prometheus_client import Counter

from vicw_readers.assistants.agents.transcript import OFF_MARKER
from vicw_retrieval.agent_hooks.fence import ShownMemory, write_memories
from vicw_retrieval.agent_hooks.model import SessionPlace
from vicw_retrieval.agent_hooks.sessions import Session
from vicw_retrieval.items.service import list_items
from vicw_retrieval.pipeline import retrieve
from vicw_retrieval.ports import RetrievalPorts
from vicw_shared.errors import VicwError
from vicw_shared.settings import HookSettings
from vicw_shared.text import visible
from vicw_shared.wire.answer_format import Budget
from vicw_shared.wire.filters import Filter
from vicw_shared.wire.items import ItemsQuery
from vicw_shared.wire.retrieve import Answered, Expand, RetrieveRequest

_log = structlog.get_logger()
RECALLS = Counter("vicw_hook_recalls_total", "Recalls of agents' hooks, by outcome", ["outcome"])
_SPARE = 12
"""Results asked for beyond those wanted: some were shown before, or are of this session."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """The fenced text, and the uids of the memories in it. Both are empty if there is nothing to show."""

    text: str = ""
    items: tuple[str, ...] = ()


async def recall(
    prompt: str, place: SessionPlace, session: Session, ports: Callable[[], RetrievalPorts], settings: HookSettings
) -> Recalled:
    """Return what the context holds for a prompt: a few memories, none that the session was shown before.

    Nothing if the answer is not ``likely``, for a prompt with the off marker, after the deadline, and when the stores
    fail: a prompt is never held up. The session's own turns are left out until it is compacted.
    """
    if OFF_MARKER in prompt or not visible(prompt):
        return Recalled()

    async def found(opened: RetrievalPorts) -> list[ShownMemory]:
        request = RetrieveRequest(
            query=_shortened(prompt, settings.prompt_chars),
            context=place.context,
            limit=settings.results + _SPARE,
            expand=Expand(hops=0),
            budget=Budget(chars=1),  # the text is written below
            filter=_filter(settings),
        )
        answer = await retrieve(request, place.tenant, opened)
        if answer.answered is not Answered.LIKELY or answer.relevance < settings.min_relevance:
            return []
        results = [one for one in answer.results if session.is_compacted or one.flow_id != place.session]
        return [ShownMemory(one.uid, one.text, one.id, one.speaker, one.source, one.timestamp) for one in results]

    return await _shown(found, settings.results, session, ports, settings)


async def brief(
    place: SessionPlace, session: Session, ports: Callable[[], RetrievalPorts], settings: HookSettings
) -> Recalled:
    """Return the latest memories of a context, the earliest first, for a session that begins.

    The session's own turns are left out until it is compacted: it is resumed with them. Fails as ``recall`` does.
    """

    async def found(opened: RetrievalPorts) -> list[ShownMemory]:
        condition = _filter(settings, without=None if session.is_compacted else place.session)
        query = ItemsQuery(
            context=place.context,
            limit=settings.brief_items + _SPARE,
            filter=condition.model_dump_json(by_alias=True, exclude_none=True) if condition is not None else None,
        )
        items = (await list_items(query, place.tenant, opened)).items
        memories = [
            ShownMemory(one.uid, one.text, one.id, one.speaker, one.source, one.told_at) for one in items if one.text
        ]
        return memories[: settings.brief_items][::-1]

    return await _shown(found, settings.brief_items, session, ports, settings)


async def _shown(
    search: Callable[[RetrievalPorts], Awaitable[list[ShownMemory]]],
    most: int,
    session: Session,
    ports: Callable[[], RetrievalPorts],
    settings: HookSettings,
) -> Recalled:
    """Return what a search finds and the session does not know yet, within the deadline; nothing if it fails."""

    async def in_foreground() -> list[ShownMemory]:
        opened = ports()
        with opened.throttle.foreground_request():
            return await search(opened)

    task = asyncio.create_task(in_foreground(), name="hook")
    try:
        # A search that is cancelled ends with the read that it waits for, so it is not waited for.
        await asyncio.wait({task}, timeout=settings.deadline_ms / 1000)
        found = task.result()
    except (VicwError, asyncio.InvalidStateError) as error:
        RECALLS.labels("failed" if isinstance(error, VicwError) else "late").inc()
        _log.warning("no memories for a hook", error=error.detail if isinstance(error, VicwError) else "deadline")
        return Recalled()
    finally:
        task.cancel()
    new: list[ShownMemory] = []
    taken = set(session.shown)
    for memory in found:
        if taken.isdisjoint(memory.keys):
            new.append(memory)
            taken.update(memory.keys)
    text, shown = write_memories(new[:most], settings.chars)
    session.show(key for memory in shown for key in memory.keys)
    RECALLS.labels("shown" if shown else "nothing").inc()
    return Recalled(text, tuple(memory.uid for memory in shown))


def _shortened(prompt: str, chars: int) -> str:
    """Return a prompt, or the beginning and the end of a long one: what is asked stands in the one or the other."""
    if len(prompt) <= chars:
        return prompt
    return f"{prompt[: chars // 2]}\n{prompt[-(chars - chars // 2) :]}"


def _filter(settings: HookSettings, *, without: str | None = None) -> Filter | None:
    """Return the condition that keeps the operator's sources out, and a flow; None if there is nothing to keep out."""
    kept_out: list[dict[str, object]] = [
        {"source": {"prefix": name[:-1]} if name.endswith("*") else name} for name in settings.excluded_source_names
    ]
    if without is not None:
        kept_out.append({"flow": without})
    return Filter.model_validate({"not": {"any": kept_out}}) if kept_out else None
