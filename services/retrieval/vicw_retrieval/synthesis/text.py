"""The answer as text, within the caller's budget."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from vicw_retrieval.causal_chains.render import render_chain
from vicw_retrieval.model.neighbourhood import Neighbourhood
from vicw_retrieval.synthesis.lines import associate_line, surrounding_lines
from vicw_retrieval.synthesis.meter import TextMeter
from vicw_retrieval.synthesis.page import TextBlock, TextPage
from vicw_retrieval.synthesis.template import RESULT, fill_text, write_result, writes_speaker
from vicw_shared.model import Node
from vicw_shared.model.chain import next_key
from vicw_shared.wire.answer_format import Template
from vicw_shared.wire.retrieve import Result

ANCHOR_SHARE = 0.7
_FIRST_ASSOCIATE_LINE = 1_000_000
"""Number of the first line of associates, below all other lines of a result."""
_LAST = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class WrittenText:
    """The text, and what did not fit the budget: results, by uid, whole or in part, and lines around results."""

    text: str
    cut: tuple[str, ...]
    shortened: tuple[str, ...]
    lines: Mapping[str, int]


def write_text(
    results: Sequence[Result], items: Mapping[str, Node], around: Neighbourhood, meter: TextMeter, template: Template
) -> WrittenText:
    """Return text within the meter's limit, and what did not fit.

    Results get 70 % first, their neighbourhood 30 %; each may use what the other leaves. The best result is always in
    it, cut if necessary. Results of one thread stand together, in its order, at the place of the best of them;
    ``items`` are the results' nodes, by uid.
    """
    page = TextPage(meter, meter.limit - meter.size(fill_text(template, "")))
    as_result = template.result or RESULT
    anchors = [TextBlock(r.rank, 0, write_result(as_result, r)) for r in results if r.kind == "anchor"]
    associates = {r.node: TextBlock(r.rank, 0, write_result(as_result, r)) for r in results if r.kind == "associative"}
    for best in anchors[:1]:
        page.begin(best)
    shown_edges: set[str] = set()
    shown_nodes: set[str] = set()
    before: frozenset[int] = frozenset()
    for share in (ANCHOR_SHARE, 1.0):
        ranks = page.ranks
        page.fill((anchor for anchor in anchors if anchor.rank not in ranks), share)
        new = page.ranks - before
        shown_edges |= _write_chains(page, around, new)
        shown = [result for result in results if result.rank in new]
        _write_surrounding_lines(
            page, shown, around, shown_edges, shown_nodes, associates, speaks=writes_speaker(as_result)
        )
        before = page.ranks
    ranks = page.ranks
    uids = {result.rank: result.uid for result in results}
    return WrittenText(
        text=fill_text(template, page.text(_places(results, items))),
        cut=tuple(uid for rank, uid in uids.items() if rank not in ranks),
        shortened=tuple(uids[rank] for rank in page.shortened),
        lines={uids[rank]: count for rank, count in sorted(page.lines.items())},
    )


def _write_chains(page: TextPage, around: Neighbourhood, ranks: Collection[int]) -> set[str]:
    """Add chains of results in order while they fit, without proofs if need be; return their edges."""
    shown_edges: set[str] = set()
    for number, chain in enumerate((chain for chain in around.chains if chain.rank in ranks), start=1):
        line, block = render_chain(chain, around)
        if any(page.fill([TextBlock(chain.rank, number, text)]) for text in (block, line)):
            shown_edges |= {step.edge.id for step in chain.steps}
        else:
            page.lines[chain.rank] += 1
    return shown_edges


def _write_surrounding_lines(
    page: TextPage,
    results: Sequence[Result],
    around: Neighbourhood,
    shown_edges: set[str],
    shown_nodes: set[str],
    associates: Mapping[str, TextBlock],
    *,
    speaks: bool,
) -> None:
    """Add the neighbourhood of results on the page, in order, while it fits.

    An associate that is a result, too (``associates``, by node), is written as one, or as a line if that is too long.
    ``shown_nodes`` are those whose neighbourhood an earlier result has shown; ``speaks``: results name their speaker.
    """
    for result in results:
        alone = result.node in shown_nodes
        shown_nodes.add(result.node)
        around_it = surrounding_lines(result, around, shown_edges, alone=alone, speaks=speaks)
        lines = enumerate(around_it, start=1 + len(around.chains))
        blocks = [TextBlock(result.rank, number, line) for number, line in lines]
        lacking = len(blocks) - len(page.fill(blocks))
        for number, (tag, item) in enumerate(
            () if alone else around.associates.get(result.node, ()), start=_FIRST_ASSOCIATE_LINE
        ):
            forms = [TextBlock(result.rank, number, associate_line(tag, item, around))]
            if block := associates.get(item.uid):
                shared = f"    shares {tag.name} with [{result.rank}]"
                forms = [replace(block, text=f"{block.text}\n{shared}"), *forms]
            if block is None or block.rank not in page.ranks:  # one result may be an associate of several
                lacking += not any(page.fill([form]) for form in forms)
        if lacking:
            page.lines[result.rank] += lacking


def _places(results: Sequence[Result], items: Mapping[str, Node]) -> Mapping[int, tuple[int, int]]:
    """Return the place of each rank: at the best rank of its thread, and there in the order of NEXT, else by time."""
    threads: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        threads.setdefault((result.context, result.flow_id or result.uid), []).append(result)
    places = {}
    for thread in threads.values():
        first = min(result.rank for result in thread)
        for number, result in enumerate(_in_order(thread, items)):
            places[result.rank] = (first, number)
    return places


def _in_order(thread: Sequence[Result], items: Mapping[str, Node]) -> list[Result]:
    if all(None not in (result.flow_step, result.timestamp) for result in thread):
        return sorted(thread, key=lambda result: next_key(items[result.uid]))
    return sorted(thread, key=lambda result: (result.timestamp or _LAST, result.rank))
