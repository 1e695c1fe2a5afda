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
        told = set().union(*(causes.proofs(uid) for uid in _source_item(edge))) or ends[0] | ends[1]
        among = sorted(told, key=lambda passage: (-sum(passage in end for end in ends), passage))
        if among:
            proofs[edge.id] = among[0]
    return proofs


def quote(text: str, ends: Iterable[Node]) -> str:
    """Return the sentences of a text that mention these nodes, else its beginning; ``QUOTE_CHARS`` at most."""
    sentences = _sentences(text)
    wanted = [fold_case(node.text or node.name).rstrip(" .!?…") for node in ends if node.content_hash is None]
    telling = [
        at for at, sentence in enumerate(sentences) if any(words and words in fold_case(sentence) for words in wanted)
    ]
    both = [at for at in telling if all(words in fold_case(sentences[at]) for words in wanted)]
    first, last = (both[0], both[0]) if both else (telling[0], telling[-1]) if telling else (0, len(sentences) - 1)
    said = " ".join(" ".join(sentences[first : last + 1]).split())
    return said if len(said) <= QUOTE_CHARS else said[: QUOTE_CHARS - 1] + _ELLIPSIS


def _source_item(edge: Edge) -> list[str]:
    return [str(edge.properties[TOLD_BY])] if TOLD_BY in edge.properties else []


def _sentences(text: str) -> list[str]:
    ends = [0, *(match.end() for match in _END.finditer(text)), len(text)]
    return [text[start:end] for start, end in pairwise(ends) if text[start:end].strip()] or [text]
