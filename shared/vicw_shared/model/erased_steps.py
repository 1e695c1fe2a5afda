"""Flow steps of erased Events, kept in the metadata of their Context."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from vicw_shared.model.core5 import Node
from vicw_shared.uids import make_uid

VACATED = "vacated"
"""Metadata key of a Context: runs [first, last] of erased steps, by a hash of the flow."""


def flow_key(tenant: str, context: str, flow: str) -> str:
    """Return the hash that identifies a flow without its id."""
    return make_uid(tenant, context, flow)


def vacated(root: Node) -> Iterator[tuple[str, int]]:
    """Yield the erased steps of a context, each with its flow's key: (key, step)."""
    runs_by_flow = root.metadata.get(VACATED)
    for key, runs in (runs_by_flow if isinstance(runs_by_flow, Mapping) else {}).items():
        for step in steps_of(runs):
            yield str(key), step


def steps_of(runs: object) -> set[int]:
    """Return the steps in these runs [first, last]."""
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
