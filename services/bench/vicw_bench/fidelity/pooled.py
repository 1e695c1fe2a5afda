"""Domain separation: sets share one store and are asked without context and domain.

A result of another domain than the question's is a leak; what a given domain would have found more is the price.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from vicw_bench.fidelity.measure import LIMIT, Variant, ask_all, ensure_filled
from vicw_bench.metrics import Answered, foreign_slots, narrowings, score
from vicw_bench.sets import FidelitySet, pool
from vicw_bench.targets import Target
from vicw_shared.progress import Progress
from vicw_shared.wire.ingest import Extract


@dataclass(frozen=True, slots=True)
class Separation:
    """The questions of one set, or of all, in a shared store.

    ``foreign`` of ``slots`` result slots hold another domain and are not set apart: ``ambiguous`` answers keep their
    domains apart. ``narrowed`` questions were narrowed to a domain,
    ``wrongly`` of them to another than their own. ``recall_open`` is R@10 asked without a domain, ``recall_given``
    with it; both without a context. ``categories`` holds the same of each category.
    """

    name: str
    questions: int
    foreign: int
    slots: int
    narrowed: int
    wrongly: int
    recall_open: float
    recall_given: float
    ambiguous: int = 0
    categories: dict[str, Separation] = field(default_factory=dict)

    @property
    def foreign_share(self) -> float:
        """Share of foreign slots, in [0, 1], lower is better; 0 without slots."""
        return self.foreign / self.slots if self.slots else 0.0

    @property
    def lost(self) -> float:
        """R@10 that is lost where no domain is given, in [-1, 1], lower is better."""
        return self.recall_given - self.recall_open


async def separate(
    target: Target,
    sets: Sequence[FidelitySet],
    store: Path | None,
    progress: Progress,
    extract: Extract = Extract.AUTO,
) -> list[Separation]:
    """Return the separation of each of ``sets`` and, last, of all together (every slot counts once)."""
    data = pool(sets)
    await ensure_filled(target, data, store, progress, extract)
    free = await ask_all(target, data, Variant("no domain"), progress, pooled=True, strict=False)
    given = await ask_all(target, data, Variant("domain given"), progress, pooled=True)
    rows, start = [], 0
    for part in sets:
        end = start + len(part.questions)
        rows.append(compare(part.name, free[start:end], given[start:end]))
        start = end
    return [*rows, compare("all", free, given)]


def compare(name: str, free: Sequence[Answered], given: Sequence[Answered]) -> Separation:
    """Return the separation of the same questions asked without and with their domain."""
    pairs = list(zip(free, given, strict=True))
    names = sorted({answer.category for answer in free})
    categories = {
        category: _row(category, [pair for pair in pairs if pair[0].category == category]) for category in names
    }
    return replace(_row(name, pairs), categories=categories)


def _row(name: str, pairs: Sequence[tuple[Answered, Answered]]) -> Separation:
    free, given = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    recalls = (score(free).recall_at_10, score(given).recall_at_10)
    ambiguous = sum(answer.apart for answer in free)
    return Separation(name, len(pairs), *foreign_slots(free, LIMIT), *narrowings(free), *recalls, ambiguous)
