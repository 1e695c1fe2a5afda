"""Operations ``check`` and ``check/last``."""

from __future__ import annotations

from vicw_runtime.operations import NoItem, Opening, Operation, Report, Stores
from vicw_runtime.upkeep.service import check_state
from vicw_shared.wire.base import Message, StrictInt, example
from vicw_shared.wire.sleep import CheckState
from vicw_sleep.check.service import check


class CheckRequest(Message):
    """Check all invariants."""

    model_config = example({})


class CheckResult(Message):
    """Counts of what was read, and at most 5000 ``violations``; ``unlisted`` counts the others.

    ``waiting`` passages are not indexed yet.
    """

    model_config = example({"nodes": 22, "edges": 41, "points": 4, "waiting": 0, "violations": [], "unlisted": 0})

    nodes: StrictInt
    edges: StrictInt
    points: StrictInt
    waiting: StrictInt
    violations: tuple[str, ...]
    unlisted: StrictInt


async def run(stores: Stores, request: CheckRequest, report: Report[NoItem]) -> CheckResult:
    """Check the invariants; read-only. Raises UnavailableError if the vector index is missing."""
    done = await check(
        stores.graph.audit, stores.graph.outbox, await stores.open_vectors(), stores.registry, report.progress
    )
    return CheckResult(
        nodes=done.nodes,
        edges=done.edges,
        points=done.points,
        waiting=done.waiting,
        violations=tuple(done.violations),
        unlisted=done.unlisted,
    )


class LastCheckRequest(Message):
    """Tell what the last comparison of the two stores found, of all tenants."""

    model_config = example({})


async def run_last(stores: Stores, request: LastCheckRequest, report: Report[NoItem]) -> CheckState:
    """Read what is recorded of the comparisons."""
    return await check_state(stores.graph, (await stores.graph.record.models()).rebuilding, None)


CHECK = Operation(
    name="check",
    summary="Check the invariants of the store",
    request=CheckRequest,
    result=CheckResult,
    item=NoItem,
    run=run,
    opening=Opening.STORES,
    owner_only=True,  # violations name contexts
)
LAST_CHECK = Operation(
    name="check/last",
    summary="Show what the last comparison of the two stores found",
    request=LastCheckRequest,
    result=CheckState,
    item=NoItem,
    run=run_last,
    opening=Opening.STORES,
    owner_only=True,  # numbers of all tenants
)
OPERATIONS = (CHECK, LAST_CHECK)
