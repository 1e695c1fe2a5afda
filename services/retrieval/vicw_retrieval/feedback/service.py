"""Feedback on an item: the use case behind ``POST /feedback``, and what an explained answer shows of it.

It is here and not on the write path, since who judges an item must see it; nothing that was said is changed by it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from vicw_core.feedback import ItemFeedback, Judgement, record_id
from vicw_core.page_cursor import fingerprint_of
from vicw_core.secrets.detector import find_secrets, mask
from vicw_core.step_pages import cursor_of, place_of
from vicw_retrieval.access.scope import audience_of
from vicw_retrieval.access.viewer_identity import with_viewer_identities
from vicw_retrieval.items.details import ItemReader
from vicw_retrieval.items.service import find_item
from vicw_retrieval.ports import RetrievalPorts
from vicw_retrieval.request.stages import name_sizes, require_within_limits
from vicw_shared.clock import now
from vicw_shared.errors import MissingRecordError, RetryableError, UnavailableError
from vicw_shared.ports import GraphTransaction, MaintenanceStep, Scope, SleepLog, Steps
from vicw_shared.ports.sleep import FEEDBACK
from vicw_shared.uids import chunk_uid, is_uid
from vicw_shared.wire import feedback as wire
from vicw_shared.wire.feedback import (
    Feedback,
    FeedbackPage,
    FeedbackQuery,
    FeedbackRequest,
    JudgedQuestion,
    ResultFeedback,
    Verdict,
)

_PAGE = 500


async def give_feedback(request: FeedbackRequest, tenant: str, ports: RetrievalPorts) -> Feedback:
    """Store a verdict on an item, durably, and return the numbers of all on it.

    The same people's verdict on the same question replaces their earlier one. Raises InvalidInputError for a query or a
    name over its limit, MissingRecordError for an item that is not there or that the viewer may not see,
    UnavailableError while the graph is down.
    """
    limits, log = ports.limits, ports.log
    query_size = "query", len(request.query), limits.feedback_chars, "VICW_MAX_FEEDBACK_CHARS", "characters"
    names = {"item": request.item, "context": request.context}
    require_within_limits((query_size, *name_sizes(names, {}, request.viewer, limits)))
    if log is None:
        raise UnavailableError("graph", "feedback is not stored here")
    at = now()
    scope = Scope(tenant=tenant, now=at, audience=audience_of(request.viewer) if request.viewer is not None else None)
    scope = await with_viewer_identities(ports.graph, scope)
    item = (await find_item(ItemReader(ports.graph, scope, ports.registry), request.item, request.context)).item
    people = tuple(sorted(filter(is_uid, scope.audience.identities))) if scope.audience is not None else ()
    query = mask(request.query, find_secrets(request.query))
    judgement = Judgement(request.verdict.value, query, at, people)

    async def work(transaction: GraphTransaction) -> ItemFeedback:
        # Of a consolidated item only the passages are left.
        if not await transaction.nodes([item.uid, chunk_uid(item.uid, 0)]):
            raise MissingRecordError(f"There is no item {request.item!r}")
        stored = ItemFeedback.of(await log.step(record_id(item.uid)))
        feedback = stored.adding(judgement, most=limits.feedback)
        await transaction.log_step(feedback.record(item, at))
        return feedback

    feedback = await ports.graph.write(tenant, item.context, work)
    return Feedback(uid=item.uid, context=item.context, useful=feedback.useful, wrong=feedback.wrong)


async def list_feedback(query: FeedbackQuery, tenant: str, ports: RetrievalPorts) -> FeedbackPage:
    """Return a page of what was said of a tenant's items, with the questions: it is no answer for a viewer.

    Raises InvalidInputError for an ``after`` of another request, UnavailableError while the graph is down.
    """
    fingerprint = fingerprint_of(tenant, "feedback", query.model_dump(mode="json"), {"after", "limit"})
    after, chosen = place_of(query.after, fingerprint), list[MaintenanceStep]()
    while len(chosen) <= query.limit:
        page = await ports.graph.scan(Steps(tenant=tenant, task=FEEDBACK), after=after, limit=_PAGE)
        chosen += [step for step in page if _is_asked_for(step, query)]
        if len(page) < _PAGE:
            break
        after = page[-1]
    shown = chosen[: query.limit]
    following = cursor_of(shown[-1], fingerprint) if len(chosen) > len(shown) else None
    return FeedbackPage(items=tuple(map(_listed, shown)), next=following)


def _is_asked_for(step: MaintenanceStep, query: FeedbackQuery) -> bool:
    said = ItemFeedback.of(step)
    counts = {Verdict.USEFUL: said.useful, Verdict.WRONG: said.wrong}
    asked = said.useful + said.wrong if query.verdict is None else counts[query.verdict]
    return query.context in {None, step.context} and asked > 0  # an erasure may have left none


def _listed(step: MaintenanceStep) -> wire.ListedFeedback:
    said = ItemFeedback.of(step)
    shown = _shown(said, questions=True)
    return wire.ListedFeedback(uid=step.subject, context=step.context, at=step.at, **shown.model_dump())


async def feedback_on(log: SleepLog | None, items: Sequence[str], *, questions: bool) -> dict[str, ResultFeedback]:
    """Return what was said of these items, by uid; {} while the graph is down.

    ``questions``: with the questions, which no viewer sees, since others asked them.
    """
    if log is None:
        return {}
    try:
        steps = await asyncio.gather(*(log.step(record_id(uid)) for uid in items))
    except RetryableError:
        return {}
    return {uid: _shown(ItemFeedback.of(step), questions) for uid, step in zip(items, steps, strict=True) if step}


def _shown(feedback: ItemFeedback, questions: bool) -> ResultFeedback:
    latest = feedback.latest if questions else ()
    return ResultFeedback(
        useful=feedback.useful,
        wrong=feedback.wrong,
        latest=tuple(JudgedQuestion(verdict=Verdict(one.verdict), query=one.query, at=one.at) for one in latest),
    )
