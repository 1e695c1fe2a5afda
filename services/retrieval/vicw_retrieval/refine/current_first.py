"""Current statements first: they precede what they replaced.

A passage makes several statements and stays an answer while any of them holds. If the one that the question is about
was replaced, the item with the current statement takes the place before it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

from vicw_retrieval.access.scope import has_ended
from vicw_retrieval.access.visibility import Visibility, filter_results
from vicw_retrieval.channels.graph.item_nodes import items_of_statements
from vicw_retrieval.channels.graph.spread import SpreadContext
from vicw_retrieval.ranking.fusion import Candidate, in_order
from vicw_shared.ports import Direction, ItemRef

CURRENT = "current"
_CANDIDATES = 20
"""Candidates that are checked, the best."""
_STATEMENTS = 50
"""Maximum statements of one passage."""
_VERSIONS = 10
"""Maximum replacements from an outdated statement to the current one."""
_FANOUT = 5
_JUST_ABOVE = 1e-6
_PROVES = ("EVIDENCED_BY", Direction.IN)
_MIN_SIMILARITY = 0.2
"""Minimum similarity (cosine or share of words) of the statement that the question is about."""


async def prefer_current(question: SpreadContext, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates in their new order; unchanged if none of the best was found by a replaced statement.

    Raises the errors of the graph and the vectors; then nothing has changed.
    """
    first = {one.passages[0][0]: one for one in candidates[:_CANDIDATES] if one.passages}
    statements_by_passage, past = await _statements_of(question, list(first))
    replacements = await _replacements(question, sorted(past)) if past else {}
    compared = {
        passage: uids for passage, uids in statements_by_passage.items() if not replacements.keys().isdisjoint(uids)
    }
    similarities = await question.similarity.similarities(sorted(set().union(*compared.values()))) if compared else {}
    statement_of = {passage: asked_statement(uids, past, similarities) for passage, uids in compared.items()}
    newer = {passage: replacements[uid] for passage, uid in statement_of.items() if uid in replacements}
    items = await _items_of(question, sorted(set().union(*newer.values()))) if newer else {}
    current = {one.key: one for one in candidates}
    merged_into = {key: one.key for one in candidates for key in (one.key, *one.duplicates)}
    for passage, statements in newer.items():
        for item, proof in (items[uid] for uid in statements if uid in items):
            old, key = current[first[passage].key], merged_into.setdefault(item.key, item.key)
            candidate = current.setdefault(key, Candidate(item, old.score))
            if candidate is not old and candidate.score <= old.score:
                others = (one for one in candidate.passages if one[0] != proof)
                current[key] = replace(
                    candidate.raised(**{CURRENT: old.score + _JUST_ABOVE - candidate.score}),
                    passages=[(proof, old.passages[0][1]), *others],
                )
    return in_order(current.values()) if items else list(candidates)


def asked_statement(statements: Sequence[str], past: Set[str], similarities: Mapping[str, float]) -> str | None:
    """Return the statement that the question is about: the most similar, of equals one that holds; None: none is."""
    best = max(statements, key=lambda uid: (similarities.get(uid, -1.0), uid not in past, uid))
    return best if similarities.get(best, -1.0) >= _MIN_SIMILARITY else None


async def _statements_of(question: SpreadContext, passages: Sequence[str]) -> tuple[dict[str, list[str]], set[str]]:
    """Return the statements of each passage, and the outdated ones among them; nothing if all hold."""
    graph, scope = question.graph, question.scope
    proofs = await graph.expand(scope.tenant, passages, [_PROVES], _STATEMENTS) if passages else []
    proofs = [proof for proof in proofs if proof.node.is_statement]
    if all(proof.node.valid_to is None for proof in proofs):
        return {}, set()
    statements: dict[str, list[str]] = {}
    past: set[str] = set()
    for proof in await Visibility(graph, scope, ignore_validity=True).visible(proofs):
        if proof.node.retired_at is None:
            statements.setdefault(proof.origin, []).append(proof.node.uid)
            past |= {proof.node.uid} if has_ended(scope, proof.node) else set()
    return statements, past


async def _replacements(question: SpreadContext, past: Sequence[str]) -> dict[str, list[str]]:
    """Return the current statements that replaced each of these, in one step or several."""
    with_past = Visibility(question.graph, question.scope, ignore_validity=True, most_edges=question.hop_limit.edges)
    successors: dict[str, set[str]] = defaultdict(set)
    holding: set[str] = set()
    front, seen = list(past), set(past)
    for _ in range(_VERSIONS):
        if not front:
            break
        newer = await question.hop_limit.visible(CURRENT, with_past, front, [("SUPERSEDES", Direction.IN)], _FANOUT)
        visible = await question.visibility.nodes([one.node for one in newer])
        holding |= {node.uid for node in visible if not has_ended(question.scope, node)}
        for one in newer:
            successors[one.origin].add(one.node.uid)
        front = [uid for uid in dict.fromkeys(one.node.uid for one in newer) if uid not in holding | seen]
        seen |= set(front)
    return {uid: current for uid in past if (current := _current_successors(uid, successors, holding))}


def _current_successors(uid: str, after: Mapping[str, set[str]], holding: set[str]) -> list[str]:
    """Return the current statements among all that replaced a statement."""
    reached, front = {uid}, [uid]
    while front:
        front = [newer for old in front for newer in sorted(after.get(old, ())) if newer not in reached]
        reached |= set(front)
    return sorted(reached & holding)


async def _items_of(question: SpreadContext, statements: Sequence[str]) -> dict[str, tuple[ItemRef, str]]:
    """Return the items that contain these statements and may be results, each with the passage."""
    graph, tenant, items = question.graph, question.scope.tenant, await items_of_statements(question, statements)
    nodes = await graph.nodes(tenant, [item.uid for item, _ in items.values()]) if items else {}
    seen = {node.uid for node in await question.visibility.nodes(list(nodes.values()))}
    # Filtered by this passage: another one of the item may be outdated.
    saying = {p: replace(nodes[item.uid], qdrant_id=p) for item, p in items.values() if item.uid in seen}
    allowed = (
        {node.qdrant_id for node in await filter_results(graph, question.scope, list(saying.values()))}
        if saying
        else set()
    )
    return {uid: (item, passage) for uid, (item, passage) in items.items() if passage in allowed}
