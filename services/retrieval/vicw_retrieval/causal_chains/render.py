"""Rendering of a causal chain: as text for a language model, and as the wire format."""

from __future__ import annotations

from collections.abc import Iterator

from vicw_retrieval.causal_chains.direction import ChainDirection
from vicw_retrieval.causal_chains.model import CausalPath, CausalPathEdge, certainty_of
from vicw_retrieval.model.neighbourhood import Neighbourhood
from vicw_shared.clock import format_minute
from vicw_shared.model import Node
from vicw_shared.wire.retrieve import CausalChain as WireChain
from vicw_shared.wire.retrieve import ChainStep

_NAME_CHARS = 120
_ELLIPSIS = "…"
_HEADS = {ChainDirection.BACK: ("why", " ← "), ChainDirection.FORWARD: ("what it led to", " → ")}


def render_chain(chain: CausalPath, around: Neighbourhood) -> tuple[str, str]:
    """Return a chain as one line, and as the line with the proof of each step below it."""
    word, arrow = _HEADS[chain.direction]
    end = "" if chain.complete else f"{arrow}{_ELLIPSIS}"
    line = f"    {word}: {arrow.join(_names(chain, around))}{end} (certainty {chain.certainty:.2g})"
    return line, "\n".join([line, *dict.fromkeys(_proof(step) for step in chain.steps if step.quote)])


def to_wire(chain: CausalPath, around: Neighbourhood) -> WireChain:
    """Return a chain in the wire format."""
    return WireChain(
        direction=chain.direction.value,
        certainty=chain.certainty,
        complete=chain.complete,
        steps=tuple(_step(step, around) for step in chain.steps),
    )


def _step(step: CausalPathEdge, around: Neighbourhood) -> ChainStep:
    edge = around.edges[step.edge.id]
    return ChainStep(
        edge=edge.id,
        type=edge.type,
        cause=edge.source,
        effect=edge.target,
        certainty=certainty_of(edge),
        proof=step.passage,
        quote=step.quote,
        source_item=step.source_item.uid if step.source_item is not None else None,
    )


def _names(chain: CausalPath, around: Neighbourhood) -> Iterator[str]:
    """Yield the name of each event; between two steps the effect's: as a cause it is worded more widely."""
    edges = [around.edges[step.edge.id] for step in chain.steps]
    effects = [edge.target for edge in edges]
    uids = [*effects, edges[-1].source] if chain.direction is ChainDirection.BACK else [edges[0].source, *effects]
    return (_name(around.nodes[uid], around) for uid in uids)


def _name(node: Node, around: Neighbourhood) -> str:
    """Return the name of an event; of an item its text, since its name may be its speaker's."""
    text = " ".join((around.texts.get(node.uid, "") if node.content_hash is not None else "").split()) or node.name
    return text if len(text) <= _NAME_CHARS else text[: _NAME_CHARS - 1] + _ELLIPSIS


def _proof(step: CausalPathEdge) -> str:
    source_item = step.source_item
    facts = [f"certainty {certainty_of(step.edge):.2g}"]
    if source_item is not None:
        source = source_item.source_id or source_item.source
        facts += [f"id {source}"] if source else []
        facts += [
            fact for fact in (source_item.speaker, source_item.domain, format_minute(source_item.timestamp)) if fact
        ]
    return f'        "{step.quote}" ({" · ".join(facts)})'
