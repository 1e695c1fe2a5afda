"""The message that holds what was remembered, within tokens of its own."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from vicw_client.window.tokens import Message, TokenMeter
from vicw_shared.clock import format_minute
from vicw_shared.wire.retrieve import GraphEdge, Result, RetrieveResponse

RESULT_SHARE = 0.7
"""Results come first into this share, then what stands around them, then the other results (seed 000, 70/30)."""
_NEIGHBOUR_CHARS = 300
_LEAST_CHARS = 60
"""What is cut to less says too little for its header."""
_ELLIPSIS = "…"
_WORDS = {
    ("NEXT", True): "after",
    ("NEXT", False): "before",
    ("CAUSED", True): "led to",
    ("CAUSED", False): "caused by",
}
"""What an edge from a result (True) or to one says of its other end."""
_MARK = re.compile(r"<(?=\s*/?\s*memory\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class MemoryForm:
    """How the message is written. ``context`` goes without saying."""

    template: str
    role: str
    context: str

    def write(self, text: str) -> Message:
        """Return the message. The text cannot end the quotation that it stands in."""
        return {"role": self.role, "content": self.template.replace("{memory}", _MARK.sub("‹", text))}


@dataclass(frozen=True, slots=True)
class _MemoryLines:
    """``order`` is the result's rank, then 0 for itself and 1 up for what stands around it."""

    order: tuple[int, int]
    text: str


def write_memory(
    answer: RetrieveResponse, known: Collection[str], room: int, meter: TokenMeter, form: MemoryForm
) -> Message | None:
    """Return a message of at most ``room`` tokens, or None if there is nothing to say or no room to say it.

    Items whose ids are ``known`` are left out. The best result is cut where it is alone too long.
    """
    results = [result for result in answer.results if result.id not in known]
    if not results:
        return None
    heads = [_MemoryLines((result.rank, 0), _head(result, form.context)) for result in results]
    around = [piece for result in results for piece in _around(result, answer, known)]
    best, left = heads[0], room - meter.cost(form.write(""))
    if _cost(best, meter) > left:
        return _cut(best.text, room, meter, form)
    chosen = [best, *_fill(heads[1:], int(left * RESULT_SHARE) - _cost(best, meter), meter)]
    ranks = {piece.order[0] for piece in chosen}
    chosen += _fill([piece for piece in around if piece.order[0] in ranks], left - _total(chosen, meter), meter)
    chosen += _fill([head for head in heads if head not in chosen], left - _total(chosen, meter), meter)
    return _within(chosen, room, meter, form)


def _within(chosen: list[_MemoryLines], room: int, meter: TokenMeter, form: MemoryForm) -> Message | None:
    """Return the message of these pieces; fewer where the whole costs more than its pieces do."""
    while chosen:
        message = form.write("\n".join(piece.text for piece in sorted(chosen, key=lambda piece: piece.order)))
        if meter.cost(message) <= room:
            return message
        chosen = chosen[:-1]
    return None


def _cut(text: str, room: int, meter: TokenMeter, form: MemoryForm) -> Message | None:
    def cut(length: int) -> Message:
        return form.write(text[:length] + _ELLIPSIS)

    # The search has tried what it returns, so that it fits even by a counter that finds longer texts cheaper.
    length = bisect_right(range(len(text)), room, key=lambda length: meter.cost(cut(length))) - 1
    return cut(length) if length >= _LEAST_CHARS else None


def _fill(pieces: Sequence[_MemoryLines], room: int, meter: TokenMeter) -> list[_MemoryLines]:
    taken = []
    for piece in pieces:
        cost = _cost(piece, meter)
        if cost <= room:
            taken.append(piece)
            room -= cost
    return taken


def _total(pieces: Sequence[_MemoryLines], meter: TokenMeter) -> int:
    return sum(_cost(piece, meter) for piece in pieces)


def _cost(piece: _MemoryLines, meter: TokenMeter) -> int:
    return meter.count(piece.text + "\n")


def _head(result: Result, context: str) -> str:
    elsewhere = result.context if result.context != context else None
    # A name that is the text's own beginning says nothing.
    name = None if result.text.startswith(result.name.rstrip(_ELLIPSIS)) else result.name
    facts = dict.fromkeys(fact for fact in (elsewhere, format_minute(result.timestamp), name, result.speaker) if fact)
    texts = [result.text, *(passage.text for passage in result.passages)]
    return f"[{' · '.join(facts) or 'undated'}] " + f" {_ELLIPSIS} ".join(text.strip() for text in texts)


def _around(result: Result, answer: RetrieveResponse, known: Collection[str]) -> Iterator[_MemoryLines]:
    told = {found.uid for found in answer.results}
    nodes = {node.uid: node for node in answer.graph.nodes}
    number = 0
    for edge in answer.graph.edges:
        word = _WORDS.get((edge.type, edge.source == result.uid))
        node = nodes.get(_other_end(edge, result.uid) or "")
        if word is None or node is None or node.uid in told or node.id in known:
            continue
        told.add(node.uid)
        number += 1
        text = " ".join((node.text or node.name).split())
        short = text if len(text) <= _NEIGHBOUR_CHARS else text[:_NEIGHBOUR_CHARS] + _ELLIPSIS
        yield _MemoryLines((result.rank, number), f"    {word}: {short}")


def _other_end(edge: GraphEdge, uid: str) -> str | None:
    return {edge.source: edge.target, edge.target: edge.source}.get(uid)
