"""Steps of flows that nothing has any more, since what had them was erased: the metadata of a Context keeps them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from vicw_shared.model.core5 import Node
from vicw_shared.uids import make_uid

VACATED = "vacated"
"""The metadata of a Context that keeps them: by a hash of the flow, runs [first, last]."""


def flow_key(tenant: str, context: str, flow: str) -> str:
    """Return the hash by which a flow is known without its id."""
    return make_uid(tenant, context, flow)


def vacated(root: Node) -> Iterator[tuple[str, int]]:
    """Return each erased step of a context: the flow's key and the step."""
    told = root.metadata.get(VACATED)
    for key, runs in (told if isinstance(told, Mapping) else {}).items():
        for step in steps_of(runs):
            yield str(key), step


def steps_of(runs: object) -> set[int]:
    """Return the steps of runs [first, last]."""
    return {step for first, last in (runs if isinstance(runs, list) else []) for step in range(first, last + 1)}


def runs_of(steps: Iterable[int]) -> list[list[int]]:
    """Return steps as runs [first, last], in order."""
    runs: list[list[int]] = []
    for step in sorted(steps):
        if runs and runs[-1][1] == step - 1:
            runs[-1][1] = step
        else:
            runs.append([step, step])
    return runs
