"""Which neighbours of a flow may become one (design: "Sleep cycle"; seed 003 §5.2: five at a time)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from vicw_shared import sparse
from vicw_shared.consolidation.consolidate import level
from vicw_shared.decay import weight
from vicw_shared.model import Node
from vicw_shared.ports import Use
from vicw_sleep.consolidation.model import SourceEvent

_WINDOW = 3
"""Events on either side that a topic is judged by."""
_STEM_CHARS = 4
"""Characters from which a stem says what something is about."""
_FEW_WORDS = 8
"""Stems on either side under which nothing tells of a topic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationRules:
    """What may be consolidated: Events learnt before ``before``, ``size`` at a time and at least ``least``.

    The last ``open`` of a flow that is younger than that are left alone: it goes on. A pause of more than ``pause``, or
    less than ``cohesion`` of their stems in common (in [0, 1]), is a change of topic. What weighs ``weight`` and more
    is protected as what is marked so, and what an answer has shown since ``used_since``. Macro-Events are
    consolidated again up to ``levels``, each after a further ``rest``. The weight of an Event halves in each
    ``half_life`` of disuse; None: it does not.
    """

    before: datetime
    size: int = 5
    least: int = 3
    open: int = 5
    pause: timedelta = timedelta(minutes=30)
    cohesion: float = 0.02
    weight: float = 0.7
    levels: int = 2
    rest: timedelta = timedelta(days=1)
    used_since: datetime | None = None
    half_life: timedelta | None = None


def batches(
    flow: Sequence[SourceEvent], rules: ConsolidationRules, *, ended: bool = True
) -> Iterator[list[SourceEvent]]:
    """Yield what goes together, in the order of the flow. ``ended``: nothing younger than ``before`` comes after it.

    Runs are as long as they can be without mixing what has to stay apart; a run is shared out evenly, so that its rest
    is no batch of one.
    """
    free = list(flow if ended else flow[: max(0, len(flow) - rules.open)])
    for run in _runs(free, rules):
        yield from _split_evenly(run, rules)


def may_consolidate(events: Sequence[Node], rules: ConsolidationRules) -> bool:
    """Tell whether neighbours may be consolidated, by what they themselves say: the rest costs reads."""
    ripe = 0
    for event in events:
        ripe = ripe + 1 if is_ripe(event, rules) else 0
        if ripe >= rules.least:
            return True
    return False


def is_ripe(event: Node, rules: ConsolidationRules) -> bool:
    """Tell whether an Event is old enough to be consolidated, and nobody wants it kept."""
    old = event.created_at < rules.before - level(event) * rules.rest
    wanted = event.protected or event.is_echo or is_weighty(event, None, rules)
    return old and level(event) < rules.levels and not wanted


def may_be_consolidated(one: SourceEvent, rules: ConsolidationRules) -> bool:
    """Tell whether an Event may be consolidated at all."""
    whole = bool(one.passages) and all(passage.indexed for passage in one.passages)
    asked_for = rules.used_since is not None and one.use is not None and one.use.last >= rules.used_since
    wanted = one.busy or asked_for or is_weighty(one.event, one.use, rules)
    return is_ripe(one.event, rules) and whole and not wanted


def is_weighty(event: Node, use: Use | None, rules: ConsolidationRules) -> bool:
    """Tell whether an Event is too important to be consolidated: more than half of its importance is left."""
    if event.importance is None or event.importance < rules.weight:
        return False
    return rules.half_life is None or weight(event, use, rules.before, rules.half_life) > rules.weight / 2


def may_join(left: SourceEvent, right: SourceEvent, rules: ConsolidationRules) -> bool:
    """Tell whether neighbours may be one: whoever may see the one may see the other, and both end together.

    Whose they are is not compared: a flow is of one tenant and context. Who speaks tells nothing of who may see it.
    """
    alike: Sequence[Callable[[SourceEvent], object]] = (
        lambda one: one.event.sensitivity,
        lambda one: one.event.portable,
        lambda one: one.about,
        lambda one: one.event.expires_at,
        lambda one: one.event.valid_to,
        lambda one: one.event.domain,
        lambda one: one.event.bucket,
        lambda one: level(one.event),
    )
    return all(of(left) == of(right) for of in alike) and right.at - left.at <= rules.pause


def _runs(flow: Sequence[SourceEvent], rules: ConsolidationRules) -> Iterator[list[SourceEvent]]:
    run: list[SourceEvent] = []
    stems = [_stems(one) for one in flow]
    for place, one in enumerate(flow):
        if not may_be_consolidated(one, rules):
            yield run
            run = []
            continue
        if run and (not may_join(run[-1], one, rules) or _is_topic_change(stems, place, rules)):
            yield run
            run = []
        run.append(one)
    yield run


def _is_topic_change(stems: Sequence[set[str]], place: int, rules: ConsolidationRules) -> bool:
    """Tell whether the topic changes before a place: what is said on either side has hardly a word in common.

    Lexical cohesion as in TextTiling (Hearst 1997), over a few turns: no vector tells more about so little text.
    """
    left: set[str] = set().union(*stems[max(0, place - _WINDOW) : place])
    right: set[str] = set().union(*stems[place : place + _WINDOW])
    if min(len(left), len(right)) < _FEW_WORDS:
        return False
    return len(left & right) / min(len(left), len(right)) < rules.cohesion


def _stems(event: SourceEvent) -> set[str]:
    return {stem for stem in sparse.stems(event.text) if len(stem) >= _STEM_CHARS}


def _split_evenly(run: Sequence[SourceEvent], rules: ConsolidationRules) -> Iterator[list[SourceEvent]]:
    if len(run) < rules.least:
        return
    parts = -(-len(run) // rules.size)
    small, longer = divmod(len(run), parts)
    start = 0
    for part in range(parts):
        end = start + small + (part < longer)
        if end - start >= rules.least:
            yield list(run[start:end])
        start = end
