"""The message with recalled memory, within its own token budget."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo

from vicw_client.window.tokens import Message, TokenMeter
from vicw_shared.clock import format_minute
from vicw_shared.text import one_fact, quoted_below, trimmed
from vicw_shared.wire.retrieve import GraphEdge, Result, RetrieveResponse

RESULT_SHARE = 0.7
"""Share of the room that results fill first; then their neighbours, then the other results."""
_NEIGHBOUR_CHARS = 300
_MIN_CHARS = 60
"""Minimum length of a cut result: less says too little for its header."""
_ELLIPSIS = "…"
_WORDS = {
    ("NEXT", True): "after",
    ("NEXT", False): "before",
    ("CAUSED", True): "led to",
    ("CAUSED", False): "caused by",
}
"""Label of the node at the other end of an edge from a result (True) or to one."""
_MARK = re.compile(r"<(?=\s*/?\s*memory\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class MemoryForm:
    """Form of the message. Results of ``context`` do not name it; times are told in ``zone``."""

    template: str
    role: str
    context: str
    zone: tzinfo = UTC

    def write(self, text: str) -> Message:
        """Return the message. The text cannot close the ``<memory>`` quotation around it."""
        return {"role": self.role, "content": self.template.replace("{memory}", _MARK.sub("‹", text))}


@dataclass(frozen=True, slots=True)
class _MemoryLines:
    """``order`` is the result's rank, then 0 for the result itself and 1 and up for its neighbours."""

    order: tuple[int, int]
    text: str


def write_memory(
    answer: RetrieveResponse, known: Collection[str], room: int, meter: TokenMeter, form: MemoryForm
) -> Message | None:
    """Return a message of at most ``room`` tokens, or None without results or without room for one.

    Items whose ids are ``known`` are left out. The best result is cut if it alone is too long.
    """
    results = [result for result in answer.results if result.id not in known]
    if not results:
        return None
    heads = [_MemoryLines((result.rank, 0), _head(result, form)) for result in results]
    neighbours = [piece for result in results for piece in _neighbours(result, answer, known)]
    best, remaining = heads[0], room - meter.cost(form.write(""))
    if _cost(best, meter) > remaining:
        return _cut(best.text, room, meter, form)
    chosen = [best, *_fill(heads[1:], int(remaining * RESULT_SHARE) - _cost(best, meter), meter)]
    ranks = {piece.order[0] for piece in chosen}
    chosen += _fill(
        [piece for piece in neighbours if piece.order[0] in ranks], remaining - _total(chosen, meter), meter
    )
    chosen += _fill([head for head in heads if head not in chosen], remaining - _total(chosen, meter), meter)
    return _within(chosen, room, meter, form)


def _within(chosen: list[_MemoryLines], room: int, meter: TokenMeter, form: MemoryForm) -> Message | None:
    """Return the message of these pieces; fewer if the whole costs more than its pieces."""
    while chosen:
        message = form.write("\n".join(piece.text for piece in sorted(chosen, key=lambda piece: piece.order)))
        if meter.cost(message) <= room:
            return message
        chosen = chosen[:-1]
    return None


def _cut(text: str, room: int, meter: TokenMeter, form: MemoryForm) -> Message | None:
    def cut(length: int) -> Message:
        return form.write(text[:length] + _ELLIPSIS)

    # The search has tried the length that it returns, so it fits even if the counter finds longer texts cheaper.
    length = bisect_right(range(len(text)), room, key=lambda length: meter.cost(cut(length))) - 1
    return cut(length) if length >= _MIN_CHARS else None


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


def _head(result: Result, form: MemoryForm) -> str:
    elsewhere = result.context if result.context != form.context else None
    # A name that is the beginning of the text adds nothing.
    name = None if result.text.startswith(result.name.rstrip(_ELLIPSIS)) else result.name
    values = elsewhere, format_minute(result.timestamp, form.zone), name, result.speaker
    facts = dict.fromkeys(one_fact(value) for value in values if value)
    texts = [result.text, *(passage.text for passage in result.passages)]
    return f"[{' · '.join(facts) or 'undated'}] " + quoted_below(f" {_ELLIPSIS} ".join(map(_outdented, texts)))


def _outdented(text: str) -> str:
    """Return a text whose first line begins without its indentation, which its other lines lose, too."""
    text = trimmed(text)
    body = text.lstrip()
    return body.replace(f"\n{text[: len(text) - len(body)]}", "\n")


def _neighbours(result: Result, answer: RetrieveResponse, known: Collection[str]) -> Iterator[_MemoryLines]:
    seen = {result.uid for result in answer.results}
    nodes = {node.uid: node for node in answer.graph.nodes}
    number = 0
    for edge in answer.graph.edges:
        word = _WORDS.get((edge.type, edge.source == result.uid))
        node = nodes.get(_other_end(edge, result.uid) or "")
        if word is None or node is None or node.uid in seen or node.id in known:
            continue
        seen.add(node.uid)
        number += 1
        text = " ".join((node.text or node.name).split())
        short = text if len(text) <= _NEIGHBOUR_CHARS else text[:_NEIGHBOUR_CHARS] + _ELLIPSIS
        yield _MemoryLines((result.rank, number), f"    {word}: {short}")


def _other_end(edge: GraphEdge, uid: str) -> str | None:
    return {edge.source: edge.target, edge.target: edge.source}.get(uid)
