"""A turn of forgetting for want of room: so much is chosen and erased, then it is somebody else's."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import structlog

from vicw_ingest.capacity.capacity import Capacity
from vicw_ingest.capacity.policy import Policy
from vicw_shared.clock import now
from vicw_shared.errors import VicwError
from vicw_shared.settings import ForgetSettings

_log = structlog.get_logger()
_PATIENCE = timedelta(hours=12)
"""So much later than a run that has found a grace over another one erases: the night after, as a rule."""


def policy_of(settings: ForgetSettings) -> Policy:
    """Return what is kept, and what goes first."""
    return Policy(items=settings.items, half_life=settings.half_life, rest=settings.rest, grace=settings.grace)


async def turn(capacity: Capacity, settings: ForgetSettings) -> bool:
    """Do what is due, ``settings.batch`` items at most; tell whether there is more. What fails is logged."""
    if not settings.items:
        return False
    try:
        policy = replace(policy_of(settings), patience=min(settings.grace, _PATIENCE))
        done = await capacity.run(policy, now=now(), most=settings.batch)
    except VicwError as error:
        _log.warning("forgetting stopped; what it has done stands", error=error.detail)
        return False
    if done.erased or done.kept or done.marked:
        _log.info("forgot for want of room", erased=done.erased, kept=done.kept, to_go=done.marked)
    return done.more
