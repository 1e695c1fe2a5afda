"""Proof of a causal edge: the passage and its sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from vicw_retrieval.causal_chains.causes import CausalGraph
from vicw_shared.model import Edge, Node
from vicw_shared.model.edges import TOLD_BY
from vicw_shared.text import fold_case

QUOTE_CHARS = 400
_ELLIPSIS = "…"
_END = re.compile(r"[.!?…]+[\"'”’)\]]*\s+|\n+")


async def prove(causes: CausalGraph, edges: Sequence[Edge]) -> dict[str, str]:
    """Return the passages that prove causal edges, by edge id: those of the edge's source item, if there is one.

    A passage that proves both ends is better than one that proves one.
    """
    await causes.prove(edges)
    proofs = {}
    for edge in edges:
        ends = [set(causes.proofs(edge.target)), set(causes.proofs(edge.source))]
        passages = set().union(*(causes.proofs(uid) for uid in _source_item(edge))) or ends[0] | ends[1]
        ranked = sorted(passages, key=lambda passage: (-sum(passage in end for end in ends), passage))
        if ranked:
            proofs[edge.id] = ranked[0]
    return proofs


def quote(text: str, ends: Iterable[Node]) -> str:
    """Return the sentences of a text that mention these nodes, else its beginning; ``QUOTE_CHARS`` at most."""
    sentences = _sentences(text)
    phrases = [fold_case(node.text or node.name).rstrip(" .!?…") for node in ends if node.content_hash is None]
    mentioning = [
        at for at, sentence in enumerate(sentences) if any(words and words in fold_case(sentence) for words in phrases)
    ]
    both = [at for at in mentioning if all(words in fold_case(sentences[at]) for words in phrases)]
    first, last = (
        (both[0], both[0]) if both else (mentioning[0], mentioning[-1]) if mentioning else (0, len(sentences) - 1)
    )
    quoted = " ".join(" ".join(sentences[first : last + 1]).split())
    return quoted if len(quoted) <= QUOTE_CHARS else quoted[: QUOTE_CHARS - 1] + _ELLIPSIS


def _source_item(edge: Edge) -> list[str]:
    return [str(edge.properties[TOLD_BY])] if TOLD_BY in edge.properties else []


def _sentences(text: str) -> list[str]:
    ends = [0, *(match.end() for match in _END.finditer(text)), len(text)]
    return [text[start:end] for start, end in pairwise(ends) if text[start:end].strip()] or [text]
