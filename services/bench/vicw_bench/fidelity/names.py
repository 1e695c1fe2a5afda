"""What names are worth for retrieval: the items that share a name with a question, looked up in the graph alone.

No text is searched and nothing embedded: what is found so is what reading the items has made of their names.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict

from vicw_bench.metrics import Answered
from vicw_bench.sets import FidelitySet, Question
from vicw_shared.model.triggers import phrases_in
from vicw_shared.ports import Direction, GraphStore, NameMatch, look_up
from vicw_shared.progress import Progress

BY_NAMES = "names"
_MOST_ITEMS = 1000
"""Items of one name that are read; a name of more hardly tells them apart."""


async def ask_by_names(graph: GraphStore, tenant: str, data: FidelitySet, progress: Progress) -> list[Answered]:
    """Answer each question with the items that mention what it names: those with the rarest names first."""
    answers = []
    for question in data.questions:
        started = time.perf_counter()
        found = await _mentioning(graph, tenant, question)
        ms = (time.perf_counter() - started) * 1000
        answers.append(Answered(question.category, tuple(found), question.relevant, ms, question.domain))
        progress(f"{data.name}: asking ({BY_NAMES})", len(answers), len(data.questions))
    return answers


async def _mentioning(graph: GraphStore, tenant: str, question: Question) -> list[str]:
    """Return the ids of the items that mention what is called by words of the question, the best first."""
    phrases = phrases_in(question.query)
    things: set[str] = set()
    for word in (False, True):
        named = await look_up(
            graph, tenant, phrases, contexts=[question.context], by=NameMatch.WORD if word else NameMatch.NAME
        )
        things |= {node.uid for nodes in named.values() for node in nodes}
    if not things:
        return []
    mentions = await graph.expand(tenant, sorted(things), [("MENTIONS", Direction.IN)], _MOST_ITEMS)
    by_thing: dict[str, set[str]] = defaultdict(set)
    for mention in mentions:
        if mention.node.source_id is not None and mention.node.retired_at is None:
            by_thing[mention.origin].add(mention.node.source_id)
    score: dict[str, float] = defaultdict(float)
    for items in by_thing.values():
        for item in items:
            score[item] += 1 / math.log(2 + len(items))
    return sorted(score, key=lambda item: (-score[item], item))
