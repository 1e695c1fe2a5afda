"""The answer as text, within the caller's budget (seed 003 §3.2; seed 000, the 70/30 split)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from vicw_retrieval.surroundings import Surroundings
from vicw_retrieval.synthesis.lines import lines_around
from vicw_retrieval.synthesis.meter import Meter
from vicw_retrieval.synthesis.page import Block, Page
from vicw_retrieval.synthesis.template import RESULT, write_result, write_whole
from vicw_retrieval.why.telling import tell
from vicw_shared.wire.retrieve import Result
from vicw_shared.wire.writing import Template

ANCHOR_SHARE = 0.7
_LAST = datetime.max.replace(tzinfo=UTC)


def write_text(
    results: Sequence[Result], around: Surroundings, meter: Meter, template: Template
) -> tuple[str, list[str]]:
    """Return text within the meter's limit, and the uids of results that it had no room for.

    Results get 70 % first, what stands around them 30 %; what one side leaves goes to the other. The best result is
    always in it, cut if it is alone too long. Those of one thread stand together, in order of time, where the best of
    them would stand.
    """
    page = Page(meter, meter.limit - meter.size(write_whole(template, "")))
    found = [result for result in results if result.kind == "anchor"]
    anchors = [Block(r.rank, 0, write_result(template.result or RESULT, r)) for r in found]
    for best in anchors[:1]:
        page.begin(best)
    page.fill(anchors[1:], ANCHOR_SHARE)
    ranks = page.ranks
    told = _tell_chains(page, around)
    foremost = {result.node: result.rank for result in reversed(results) if result.rank in ranks}
    page.fill(
        Block(result.rank, number, line)
        for result in results
        if result.rank in ranks
        for number, line in enumerate(
            lines_around(result, around, told, alone=foremost[result.node] != result.rank), start=1 + len(around.chains)
        )
    )
    page.fill(anchor for anchor in anchors if anchor.rank not in ranks)
    return write_whole(template, page.text(_places(found))), [r.uid for r in found if r.rank not in page.ranks]


def _tell_chains(page: Page, around: Surroundings) -> set[str]:
    """Tell chains of the page's results in order while they fit, without proofs if need be; return their edges."""
    told: set[str] = set()
    ranks = page.ranks
    for number, chain in enumerate((chain for chain in around.chains if chain.rank in ranks), start=1):
        line, block = tell(chain, around)
        if any(page.fill([Block(chain.rank, number, text)]) for text in (block, line)):
            told |= {step.edge.id for step in chain.steps}
    return told


def _places(found: Sequence[Result]) -> Mapping[int, tuple[int, int]]:
    """Return where each rank stands: at the best rank of its thread, and there by its step, else by time."""
    threads: dict[tuple[str, str], list[Result]] = {}
    for result in found:
        threads.setdefault((result.context, result.flow_id or result.uid), []).append(result)
    places = {}
    for thread in threads.values():
        first = min(result.rank for result in thread)
        for number, result in enumerate(_in_order(thread)):
            places[result.rank] = (first, number)
    return places


def _in_order(thread: Sequence[Result]) -> list[Result]:
    if all(result.flow_step is not None for result in thread):
        return sorted(thread, key=lambda result: result.flow_step or 0)
    return sorted(thread, key=lambda result: (result.timestamp or _LAST, result.rank))
