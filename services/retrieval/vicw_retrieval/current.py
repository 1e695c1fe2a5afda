"""What is true now comes before what it replaced (design section "Read path": current statements first).

A passage says several things, and stays an answer while any of them holds. Where the one that the question is about
was replaced, the item that says what is true now takes the place before it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from vicw_retrieval.candidates import Candidate, in_order
from vicw_retrieval.channels.graph.question import Question
from vicw_retrieval.sight import Sight
from vicw_retrieval.wanted import wanted
from vicw_shared.model import Node
from vicw_shared.ports import Direction, ItemRef

CURRENT = "current"
_CANDIDATES = 20
"""Candidates that are looked at, the best."""
_STATEMENTS = 50
"""Of one passage."""
_VERSIONS = 10
"""Steps from what was replaced to what is true now: each is a value that was true for a while."""
_FANOUT = 5
_JUST_ABOVE = 1e-6
_PROVES = ("EVIDENCED_BY", Direction.IN)
_PAST = re.compile(
    r"\b(?:before|used to|previous(?:ly)?|former(?:ly)?|original(?:ly)?|initial(?:ly)?|earlier|prior|at first|first"
    r"|back (?:then|when)|in the past|once|old|no longer|any ?more|histor(?:y|ically)|ever)\b",
    re.IGNORECASE,
)


async def prefer_current(question: Question, found: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates in their new order: as it was where none of the best was found by what was replaced.

    Raises what the graph and the vectors raise; then nothing has changed.
    """
    first = {one.passages[0][0]: one for one in found[:_CANDIDATES] if one.passages}
    told, past = await _told(question, list(first))
    now = await _now(question, sorted(past)) if past else {}
    compared = {passage: uids for passage, uids in told.items() if not now.keys().isdisjoint(uids)}
    alike = await question.likeness.alike(sorted(set().union(*compared.values()))) if compared else {}
    asked = {passage: max(uids, key=lambda uid: (alike.get(uid, -1.0), uid)) for passage, uids in compared.items()}
    newer = {passage: now[uid] for passage, uid in asked.items() if uid in now and uid in alike}
    items = await _items(question, sorted(set().union(*newer.values()))) if newer else {}
    everything = {one.item.uid: one for one in found}
    for passage, statements in newer.items():
        for item in (items[uid] for uid in statements if uid in items):
            candidate = everything.setdefault(item.uid, Candidate(ItemRef.of(item), 0.0, [(item.qdrant_id or "", 0.0)]))
            short = first[passage].score + _JUST_ABOVE - candidate.score
            if candidate is not first[passage] and short > 0:
                candidate.boost(CURRENT, short)
    return in_order(everything.values()) if items else list(found)


def asks_for_past(query: str) -> bool:
    """Tell whether a question wants what was true before.

    >>> asks_for_past("Where did Ingrid live before she moved?"), asks_for_past("Where does Ingrid live?")
    (True, False)
    """
    return _PAST.search(query) is not None


async def _told(question: Question, passages: Sequence[str]) -> tuple[dict[str, list[str]], set[str]]:
    """Return the statements of each passage, and which of them are true no more; nothing where all are true."""
    graph, scope = question.graph, question.scope
    proofs = await graph.expand(scope.tenant, passages, [_PROVES], _STATEMENTS) if passages else []
    proofs = [proof for proof in proofs if proof.node.is_statement]
    if all(proof.node.valid_to is None for proof in proofs):
        return {}, set()
    holding = {proof.node.uid for proof in await question.sight.visible(proofs)}
    told: dict[str, list[str]] = {}
    past: set[str] = set()
    for proof in await Sight(graph, scope, ever=True).visible(proofs):
        if proof.node.retired_at is None:
            told.setdefault(proof.origin, []).append(proof.node.uid)
            past |= {proof.node.uid} - holding
    return told, past


async def _now(question: Question, past: Sequence[str]) -> dict[str, list[str]]:
    """Return by what that is true now each of these statements was replaced, in one step or several."""
    graph, scope, ever = question.graph, question.scope, Sight(question.graph, question.scope, ever=True)
    after: dict[str, set[str]] = defaultdict(set)
    holding: set[str] = set()
    front, seen = list(past), set(past)
    for _ in range(_VERSIONS):
        newer = await graph.expand(scope.tenant, front, [("SUPERSEDES", Direction.IN)], _FANOUT) if front else []
        newer = await ever.visible(newer)
        holding |= {node.uid for node in await question.sight.nodes([one.node for one in newer])}
        for one in newer:
            after[one.origin].add(one.node.uid)
        front = [uid for uid in dict.fromkeys(one.node.uid for one in newer) if uid not in holding | seen]
        seen |= set(front)
    return {uid: found for uid in past if (found := _ends(uid, after, holding))}


def _ends(uid: str, after: Mapping[str, set[str]], holding: set[str]) -> list[str]:
    """Return what holds among all that came after a statement."""
    reached, front = {uid}, [uid]
    while front:
        front = [newer for old in front for newer in sorted(after.get(old, ())) if newer not in reached]
        reached |= set(front)
    return sorted(reached & holding)


async def _items(question: Question, statements: Sequence[str]) -> dict[str, Node]:
    """Return the items that say these statements, as far as they may be results."""
    graph, tenant = question.graph, question.scope.tenant
    proofs = await graph.leads(tenant, statements, ("EVIDENCED_BY", Direction.OUT), 1) if statements else []
    owners = await graph.owners(tenant, [lead.uid for lead in proofs]) if proofs else {}
    said_by = {lead.origin: owners[lead.uid].uid for lead in proofs if lead.uid in owners}
    nodes = await graph.nodes(tenant, sorted(set(said_by.values()))) if said_by else {}
    seen = await question.sight.nodes(list(nodes.values()))
    kept = {node.uid: node for node in await wanted(graph, question.scope, seen)} if seen else {}
    return {uid: kept[item] for uid, item in said_by.items() if item in kept}
