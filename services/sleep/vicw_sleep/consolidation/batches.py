"""Select the neighbours of a flow to consolidate together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from vicw_core.consolidation.consolidate import level
from vicw_core.graph.decay import weight
from vicw_core.index import sparse
from vicw_shared.model import Node
from vicw_shared.ports import Use
from vicw_sleep.consolidation.model import SourceEvent

_WINDOW = 3
"""Events on either side that decide about a topic change."""
_STEM_CHARS = 4
"""Minimum length of a stem that indicates a topic."""
_MIN_STEMS = 8
"""Minimum number of stems on either side to detect a topic change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationRules:
    """Conditions of consolidation: Events learnt before ``before``, ``size`` at a time and at least ``min_size``.

    The last ``keep_latest`` Events of a flow with Events younger than that are left alone: the flow continues. A pause
    longer than ``max_pause``, or a share of common stems below ``min_cohesion`` (in [0, 1]), is a change of topic.
    Events of weight ``protected_weight`` and more are protected like marked ones, as are those that an answer has
    shown since ``used_since``. Macro-Events are consolidated again up to ``levels``, each level after a further
    ``rest``. The weight of an Event halves in each ``half_life`` of disuse; None: it does not.
    """

    before: datetime
    size: int = 5
    min_size: int = 3
    keep_latest: int = 5
    max_pause: timedelta = timedelta(minutes=30)
    min_cohesion: float = 0.02
    protected_weight: float = 0.7
    levels: int = 2
    rest: timedelta = timedelta(days=1)
    used_since: datetime | None = None
    half_life: timedelta | None = None


def batches(
    flow: Sequence[SourceEvent], rules: ConsolidationRules, *, ended: bool = True
) -> Iterator[list[SourceEvent]]:
    """Yield the batches of a flow, in its order. ``ended``: no Event younger than ``before`` follows it.

    Runs are as long as possible without mixing Events that have to stay apart. A run is split evenly, so that no batch
    of one remains.
    """
    free = list(flow if ended else flow[: max(0, len(flow) - rules.keep_latest)])
    for run in _runs(free, rules):
        yield from _split_evenly(run, rules)


def may_consolidate(events: Sequence[Node], rules: ConsolidationRules) -> bool:
    """Return whether neighbours may be consolidated, judged by the nodes alone: any further check costs reads."""
    ripe = 0
    for event in events:
        ripe = ripe + 1 if is_ripe(event, rules) else 0
        if ripe >= rules.min_size:
            return True
    return False


def is_ripe(event: Node, rules: ConsolidationRules) -> bool:
    """Return whether an Event is old enough to be consolidated and not protected."""
    old = event.created_at < rules.before - level(event) * rules.rest
    is_protected = event.protected or event.is_duplicate or is_weighty(event, None, rules)
    return old and level(event) < rules.levels and not is_protected


def may_be_consolidated(source: SourceEvent, rules: ConsolidationRules) -> bool:
    """Return whether an Event may be consolidated at all."""
    is_indexed = bool(source.passages) and all(passage.indexed for passage in source.passages)
    is_recently_used = rules.used_since is not None and source.use is not None and source.use.last >= rules.used_since
    is_protected = source.busy or is_recently_used or is_weighty(source.event, source.use, rules)
    return is_ripe(source.event, rules) and is_indexed and not is_protected


def is_weighty(event: Node, use: Use | None, rules: ConsolidationRules) -> bool:
    """Return whether an Event is too important to be consolidated: more than half of its importance is left."""
    if event.importance is None or event.importance < rules.protected_weight:
        return False
    return rules.half_life is None or weight(event, use, rules.before, rules.half_life) > rules.protected_weight / 2


def may_join(left: SourceEvent, right: SourceEvent, rules: ConsolidationRules) -> bool:
    """Return whether neighbours may be consolidated together: they have the same visibility and expire together.

    Tenant and context are not compared: a flow has one of each. The speaker does not decide about visibility.
    """
    alike: Sequence[Callable[[SourceEvent], object]] = (
        lambda one: one.event.sensitivity,
        lambda one: one.event.portable,
        lambda one: one.about,
        lambda one: one.event.expires_at,
        lambda one: one.event.superseded_at,
        lambda one: one.event.domain,
        lambda one: one.event.bucket,
        lambda one: level(one.event),
    )
    return all(key(left) == key(right) for key in alike) and right.at - left.at <= rules.max_pause


def _runs(flow: Sequence[SourceEvent], rules: ConsolidationRules) -> Iterator[list[SourceEvent]]:
    run: list[SourceEvent] = []
    stems = [_stems(source) for source in flow]
    for position, source in enumerate(flow):
        if not may_be_consolidated(source, rules):
            yield run
            run = []
            continue
        if run and (not may_join(run[-1], source, rules) or _is_topic_change(stems, position, rules)):
            yield run
            run = []
        run.append(source)
    yield run


def _is_topic_change(stems: Sequence[set[str]], position: int, rules: ConsolidationRules) -> bool:
    """Return whether the topic changes before a place: the two sides have hardly a word in common.

    Lexical cohesion as in TextTiling (Hearst 1997), over a few turns: on so little text, vectors add nothing.
    """
    left: set[str] = set().union(*stems[max(0, position - _WINDOW) : position])
    right: set[str] = set().union(*stems[position : position + _WINDOW])
    if min(len(left), len(right)) < _MIN_STEMS:
        return False
    return len(left & right) / min(len(left), len(right)) < rules.min_cohesion


def _stems(event: SourceEvent) -> set[str]:
    return {stem for stem in sparse.stems(event.text) if len(stem) >= _STEM_CHARS}


def _split_evenly(run: Sequence[SourceEvent], rules: ConsolidationRules) -> Iterator[list[SourceEvent]]:
    if len(run) < rules.min_size:
        return
    parts = -(-len(run) // rules.size)
    small, longer = divmod(len(run), parts)
    start = 0
    for part in range(parts):
        end = start + small + (part < longer)
        if end - start >= rules.min_size:
            yield list(run[start:end])
        start = end
