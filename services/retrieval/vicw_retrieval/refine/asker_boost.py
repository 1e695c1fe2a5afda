"""Boost of the asker's own turns where a question is about the asker: "What can I not eat?"."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from vicw_retrieval.ranking.fusion import Candidate, in_order
from vicw_retrieval.refine.speaker_boost import SHARE
from vicw_shared.ports import GraphStore, Scope
from vicw_shared.text import fold_case
from vicw_shared.uids import is_uid

_ADDRESSED = re.compile(r"\b(?:tell|show|give|remind|help|let|send|find|get|excuse)\s+me\b", re.IGNORECASE)
"""Of these, "me" is only who wants the answer."""
_SELF = re.compile(
    r"\b(?:I|I['’](?:m|d|ve|ll))\b"
    r"|\b(?i:my|mine|me|myself"
    r"|ich|mir|mich|mein(?:e[mnrs]?)?"
    r"|je|moi|mon|mes"
    r"|yo|conmigo|eu|meu|minha|meus|minhas"
    r"|io|mio|mia|miei|mie)\b"
    r"|\bj['’](?=\w)|我|私|僕|俺"
)
"""The first person in the languages whose dates are read, without words that mean something else in another one."""


def is_about_asker(query: str) -> bool:
    """Return whether a question speaks of who asks it.

    >>> [is_about_asker(query) for query in ("What did I cook?", "Tell me about Ana", "Wo ist mein Rad?", "i.e. what?")]
    [True, False, True, False]
    """
    return _SELF.search(_ADDRESSED.sub(" ", query)) is not None


async def asker_names(graph: GraphStore, scope: Scope) -> frozenset[str]:
    """Return the folded names of the viewer, of the viewer's persons and of the entities merged with these; or none."""
    identities = scope.audience.identities if scope.audience is not None else ()
    uids = [identity for identity in identities if is_uid(identity)]
    known = await graph.nodes(scope.tenant, uids) if uids else {}
    names = (name for node in known.values() for name in (node.name, *node.aliases))
    return frozenset(map(fold_case, (*identities, *names)))


def prefer_asker(candidates: Sequence[Candidate], names: Collection[str]) -> list[Candidate]:
    """Return the candidates re-ordered: turns of the speaker with one of these folded names gain."""
    own = [one for one in candidates if fold_case(one.item.speaker or "") in names]
    if not own or len(own) == len(candidates):
        return list(candidates)
    bonus = SHARE * max(candidate.strength for candidate in candidates)
    return in_order(one.raised(asker=bonus) if one in own else one for one in candidates)
