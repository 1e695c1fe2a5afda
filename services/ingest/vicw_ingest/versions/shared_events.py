"""Events with several sources: when its source is retired or erased, an event takes the text of a remaining one."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace

from vicw_core.language.sentences import sentences
from vicw_ingest.plan.drafts import headline
from vicw_ingest.plan.linking.events import words_of
from vicw_shared.model import Label, Node
from vicw_shared.ports import Direction, GraphTransaction

_WORD = re.compile(r"(?:\b(?:an?|the)\s+)?\w+", re.IGNORECASE)
"""A word with its article."""


async def reattributed_events(transaction: GraphTransaction, uids: Collection[str]) -> list[Node]:
    """Return the events that match no remaining source, with the text, speaker and time of their first remaining one.

    Live passages count; retired ones count only if none is live.
    """
    proofs = await transaction.edges(sorted(uids), ["EVIDENCED_BY"], Direction.OUT) if uids else []
    nodes = await transaction.nodes(sorted({*uids, *(proof.target for proof in proofs)}))
    passages: dict[str, list[Node]] = defaultdict(list)
    for proof in proofs:
        if (passage := nodes.get(proof.target)) is not None and passage.label is Label.CHUNK:
            passages[proof.source].append(passage)
    events = {uid: nodes[uid] for uid in passages if uid in nodes and _is_extracted_event(nodes[uid])}
    reattributed = {uid: _as_mentioned(event, _mentions_in_order(passages[uid])) for uid, event in events.items()}
    return [event for uid, event in reattributed.items() if event != events[uid]]


def _is_extracted_event(node: Node) -> bool:
    """Return whether a node is an event extracted from a text: entities have proofs, too."""
    return node.label is Label.EVENT and node.content_hash is None


def _mentions_in_order(passages: Sequence[Node]) -> list[Node]:
    live = [passage for passage in passages if passage.retired_at is None] or passages
    return sorted(live, key=lambda one: (one.created_at, one.timestamp or one.created_at, one.uid))


def _as_mentioned(event: Node, passages: Sequence[Node]) -> Node:
    """Return an event as the first of these passages states it, or unchanged if one of them states the same."""
    words = frozenset(words_of(event.text or ""))
    stating = [passage for passage in passages if words <= {*words_of(passage.text or "")}]
    if any(_matches_passage(event, passage) for passage in stating):
        return event
    first = (stating or passages)[0]
    text = event.text if stating else _nearest(first.text or "", words)
    return replace(
        event,
        name=headline(text or ""),
        text=text,
        speaker=first.speaker,
        timestamp=first.timestamp if event.timestamp_inferred else event.timestamp,
        metadata={},
    )


def _matches_passage(event: Node, passage: Node) -> bool:
    """Return whether an event has the speaker and, if inferred, the timestamp of a passage."""
    same = not event.timestamp_inferred or event.timestamp == passage.timestamp
    return same and event.speaker == passage.speaker


def _nearest(text: str, words: frozenset[str]) -> str:
    """Return the span from the first to the last of ``words`` in the sentence that has most of them."""
    parts = [text[span.start : span.end] for span in sentences(text)]
    best = max(parts, key=lambda part: len(words & {*words_of(part)}), default=text)
    matches = [match for match in _WORD.finditer(best) if not words.isdisjoint(words_of(match[0]))]
    return best[matches[0].start() : matches[-1].end()] if matches else best
