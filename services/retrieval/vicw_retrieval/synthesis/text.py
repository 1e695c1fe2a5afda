"""The answer as text, within the caller's budget: results, what surrounds them in the graph, and causal chains."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo

from vicw_retrieval.causal_chains.chain_search import certainty_of
from vicw_retrieval.causal_chains.model import CausalPath, CausalPathEdge, ChainDirection
from vicw_retrieval.model.neighbourhood import Neighbourhood
from vicw_retrieval.synthesis.changes import change_lines
from vicw_retrieval.synthesis.domain_headings import ambiguous_line, headings_of, place_headings
from vicw_retrieval.synthesis.page import (
    ELLIPSIS,
    RESULT,
    TextBlock,
    TextMeter,
    TextPage,
    fill_text,
    guard_of,
    write_result,
    writes_speaker,
)
from vicw_shared.clock import format_minute
from vicw_shared.model import Edge, Node
from vicw_shared.model.chain import next_key
from vicw_shared.model.supersession import decides
from vicw_shared.ports import Direction, Neighbour
from vicw_shared.text import fold_case, one_fact
from vicw_shared.wire.answer_format import Template
from vicw_shared.wire.retrieve import Result

_NAME_CHARS = 120


_ELLIPSIS = "…"


_HEADS = {ChainDirection.BACK: ("why", " ← "), ChainDirection.FORWARD: ("what it led to", " → ")}


def render_chain(chain: CausalPath, around: Neighbourhood, zone: tzinfo) -> tuple[str, str]:
    """Return a chain as one line, and as the line with the proof of each step below it, times in ``zone``."""
    word, arrow = _HEADS[chain.direction]
    end = "" if chain.complete else f"{arrow}{_ELLIPSIS}"
    line = f"    {word}: {arrow.join(_names(chain, around))}{end} (certainty {chain.certainty:.2g})"
    return line, "\n".join([line, *dict.fromkeys(_proof(step, zone) for step in chain.steps if step.quote)])


def _names(chain: CausalPath, around: Neighbourhood) -> Iterator[str]:
    """Yield the name of each event; between two steps the effect's: as a cause it is worded more widely."""
    edges = [around.edges[step.edge.id] for step in chain.steps]
    effects = [edge.target for edge in edges]
    uids = [*effects, edges[-1].source] if chain.direction is ChainDirection.BACK else [edges[0].source, *effects]
    return (_name(around.nodes[uid], around) for uid in uids)


def _name(node: Node, around: Neighbourhood) -> str:
    """Return the name of an event; of an item its text, since its name may be its speaker's."""
    text = " ".join((around.texts.get(node.uid, "") if node.content_hash is not None else "").split())
    text = text or one_fact(node.name)
    return text if len(text) <= _NAME_CHARS else text[: _NAME_CHARS - 1] + _ELLIPSIS


def _proof(step: CausalPathEdge, zone: tzinfo) -> str:
    source_item = step.source_item
    facts = [f"certainty {certainty_of(step.edge):.2g}"]
    if source_item is not None:
        source = source_item.source_id or source_item.source
        facts += [f"id {one_fact(source)}"] if source else []
        speaker, said_at = one_fact(source_item.speaker or ""), format_minute(source_item.timestamp, zone)
        facts += [fact for fact in (speaker, source_item.domain, said_at) if fact]
    return f'        "{" ".join((step.quote or "").split())}" ({" · ".join(facts)})'


_SHORT = TextMeter(400)


_WORDS = {
    ("NEXT", Direction.OUT): "after",
    ("NEXT", Direction.IN): "before",
    ("CAUSED", Direction.OUT): "led to",
    ("CAUSED", Direction.IN): "caused by",
    ("INITIATED", Direction.IN): "by",
    ("SUPERSEDES", Direction.OUT): "replaces",
    ("SUPERSEDES", Direction.IN): "replaced by",
    ("CONTRADICTS", Direction.OUT): "contradicts",
    ("CONTRADICTS", Direction.IN): "contradicted by",
}


_DATED = {Direction.OUT: "since {}; until then", Direction.IN: "until {}; since then"}
"""Of two statements of which the later only may have replaced the earlier: each holds for its own time."""


def _word(edge: Edge, direction: Direction, zone: tzinfo) -> str | None:
    """Return what an edge means, read in a direction, dates in ``zone``; None if it is not shown."""
    until = edge.properties.get("until")
    if edge.type == "SUPERSEDES" and until is not None and not decides(edge):
        return _DATED[direction].format(f"{datetime.fromisoformat(str(until)).astimezone(zone):%Y-%m-%d}")
    return _WORDS.get((edge.type, direction))


def surrounding_lines(
    result: Result,
    at: str,
    around: Neighbourhood,
    in_chains: Collection[str],
    zone: tzinfo,
    *,
    alone: bool = False,
    speaks: bool = False,
) -> Iterator[str]:
    """Yield the neighbourhood of a result, whose node is ``at``, a line each; edges ``in_chains`` are shown elsewhere.

    ``alone``: another result has shown the neighbours of the node, only this item's own in the flow remain; ``speaks``:
    the result itself names the speaker.
    """
    yield from change_lines(result, zone)
    shown: set[tuple[str, str, str]] = set()
    adjacent = around.adjacent.get(result.uid)
    for direction, node in adjacent or ():
        yield f"    {_WORDS['NEXT', direction]}: {_node_line(node, around)}"
    for neighbour in around.neighbours.get(at, ()) if not alone else ():
        edge = neighbour.edge
        direction = Direction.IN if edge.target == neighbour.origin else Direction.OUT
        word = _word(edge, direction, zone)
        relation = (edge.type, edge.source, edge.target)  # duplicates of a relation, and its two ends, share a line
        if (
            speaks
            and edge.type == "INITIATED"
            and (result.consolidated_into == neighbour.origin or _has_name(neighbour.node, result.speaker))
        ):
            continue
        if word is None or neighbour.node.uid == at or relation in shown or edge.id in in_chains:
            continue
        if adjacent is not None and edge.type == "NEXT" and neighbour.origin == at:
            continue  # shown above
        shown.add(relation)
        # An event of the result's text is the subject of its own line.
        subject = f"{one_fact(around.nodes[neighbour.origin].name)} " if neighbour.origin != at else ""
        yield f"    {subject}{word}: {_neighbour_line(neighbour, around)}"


def _has_name(node: Node, name: str | None) -> bool:
    return fold_case(name or "") in {fold_case(known) for known in (node.name, *node.aliases)}


def associate_line(tag: Node, item: Node, around: Neighbourhood) -> str:
    """Return the line of an associate below the result that it shares a tag with."""
    return f"    also {one_fact(tag.name)}: {_node_line(item, around)}"


def _neighbour_line(neighbour: Neighbour, around: Neighbourhood) -> str:
    certainty = neighbour.edge.properties.get("certainty")
    return _node_line(neighbour.node, around) + (f" (certainty {certainty:g})" if isinstance(certainty, float) else "")


def _node_line(node: Node, around: Neighbourhood) -> str:
    text = " ".join(around.texts.get(node.uid, "").split())
    name = one_fact(node.name)
    line = f"{name}: {text}" if text else name
    if text.startswith(name.rstrip(ELLIPSIS)) and text:
        line = text  # the name is the text's own beginning
    return _SHORT.cut(line, _SHORT.limit)


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
    results: Sequence[Result],
    items: Mapping[str, Node],
    around: Neighbourhood,
    meter: TextMeter,
    template: Template,
    zone: tzinfo,
    *,
    note: str = "",
    groups: Sequence[str] = (),
    by_rank: bool = False,
) -> WrittenText:
    """Return text within the meter's limit, and what did not fit; ``note`` comes first, if half of the room fits it.

    Results of ``groups``, domains, stand under a heading each, after a line that says that the question is ambiguous.

    Results get 70 % first, their neighbourhood 30 %; each may use what the other leaves. The best result is always in
    it, cut if necessary. Unless they stand ``by_rank``, results of one thread stand together, in its order, at the
    place of the best of them;
    ``items`` are the results' nodes, by uid. Times are told in ``zone``.
    """
    room, guard = meter.limit - meter.size(fill_text(template, "")), guard_of(template)
    headings = headings_of(groups, results, guard)
    note = "\n".join(filter(None, (guard(note), ambiguous_line(list(headings), guard))))
    note = note if 2 * meter.size(note) <= room else ""
    kept_free = sum(meter.size(heading) + 1 for heading in headings.values()) if note else 0
    page = TextPage(meter, room - meter.size(note) - bool(note) - kept_free, guard)
    as_result = template.result or RESULT
    anchors = [TextBlock(r.rank, 0, write_result(as_result, r, zone, guard)) for r in results if r.kind == "anchor"]
    associates = {
        r.node: TextBlock(r.rank, 0, write_result(as_result, r, zone, guard))
        for r in results
        if r.kind == "associative"
    }
    for best in anchors[:1]:
        page.begin(best)
    shown_edges: set[str] = set()
    shown_nodes: set[str] = set()
    before: frozenset[int] = frozenset()
    for share in (ANCHOR_SHARE, 1.0):
        ranks = page.ranks
        page.fill((anchor for anchor in anchors if anchor.rank not in ranks), share)
        new = page.ranks - before
        shown_edges |= _write_chains(page, around, new, zone)
        shown = [result for result in results if result.rank in new]
        _write_surrounding_lines(
            page, shown, around, shown_edges, shown_nodes, associates, zone, speaks=writes_speaker(as_result)
        )
        before = page.ranks
    ranks = page.ranks
    places = {result.rank: (result.rank, 0) for result in results} if by_rank else _places(results, items)
    if note:
        places |= place_headings(page, headings, results, places)
    uids = {result.rank: result.uid for result in results}
    return WrittenText(
        text=fill_text(template, "\n".join(filter(None, (note, page.text(places))))),
        cut=tuple(uid for rank, uid in uids.items() if rank not in ranks),
        shortened=tuple(uids[rank] for rank in page.shortened),
        lines={uids[rank]: count for rank, count in sorted(page.lines.items())},
    )


def _write_chains(page: TextPage, around: Neighbourhood, ranks: Collection[int], zone: tzinfo) -> set[str]:
    """Add chains of results in order while they fit, without proofs if need be; return their edges."""
    shown_edges: set[str] = set()
    for number, chain in enumerate((chain for chain in around.chains if chain.rank in ranks), start=1):
        line, block = render_chain(chain, around, zone)
        if any(page.fill([page.line(chain.rank, number, text)]) for text in (block, line)):
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
    zone: tzinfo,
    *,
    speaks: bool,
) -> None:
    """Add the neighbourhood of results on the page, in order, while it fits.

    An associate that is a result, too (``associates``, by node), is written as one, or as a line if that is too long.
    ``shown_nodes`` are those whose neighbourhood an earlier result has shown; ``speaks``: results name their speaker.
    """
    for result, at in zip(results, [result.node for result in results], strict=True):
        alone = at in shown_nodes
        shown_nodes.add(at)
        around_it = surrounding_lines(result, at, around, shown_edges, zone, alone=alone, speaks=speaks)
        lines = enumerate(around_it, start=1 + len(around.chains))
        blocks = [page.line(result.rank, number, line) for number, line in lines]
        lacking = len(blocks) - len(page.fill(blocks))
        for number, (tag, item) in enumerate(
            () if alone else around.associates.get(at, ()), start=_FIRST_ASSOCIATE_LINE
        ):
            forms = [page.line(result.rank, number, associate_line(tag, item, around))]
            if block := associates.get(item.uid):
                shared = page.guard(f"    shares {one_fact(tag.name)} with [{result.rank}]")
                forms = [replace(block, text=f"{block.text}\n{shared}"), *forms]
            if block is None or block.rank not in page.ranks:  # one result may be an associate of several
                lacking += not any(page.fill([form]) for form in forms)
        if lacking:
            page.lines[result.rank] += lacking


def _places(results: Sequence[Result], items: Mapping[str, Node]) -> dict[int, tuple[int, int]]:
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
