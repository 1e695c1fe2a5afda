"""The domain of a question: given, or inferred from its words and from what the unfiltered search found."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from vicw_retrieval.candidates import Candidate
from vicw_retrieval.intent import WordEvidence
from vicw_shared.domains import GENERAL, canonical
from vicw_shared.settings import RetrievalSettings
from vicw_shared.wire.retrieve import Intent, RetrieveRequest

_VOTERS = 10
_TEMPERATURE = 0.05
_SURE = 0.9


@dataclass(frozen=True, slots=True)
class Decision:
    """The intent, and the canonical domains that the answer was narrowed to (None: all)."""

    intent: Intent
    domains: tuple[str, ...] | None

    @property
    def filtered(self) -> bool:
        """Tell whether the search was narrowed."""
        return self.domains is not None


def decide(
    request: RetrieveRequest, words: WordEvidence, candidates: Sequence[Candidate], settings: RetrievalSettings
) -> Decision:
    """Return the domain to narrow to; when in doubt, none."""
    if request.domain is not None:
        name = canonical(request.domain)
        return Decision(Intent(domain=name, confidence=1.0, evidence="given", filtered=True), (name,))
    shares = vote(candidates)
    if not shares:
        intent = Intent(domain=words.domain, confidence=words.confidence, evidence="query", filtered=False)
        return Decision(intent, None)
    name = max(shares, key=lambda domain: (shares[domain], domain))
    sure = settings.infer_domain and len(shares) > 1 and shares[name] >= _SURE
    domains = ((name,) if name == GENERAL else (name, GENERAL)) if sure else None
    intent = Intent(domain=name, confidence=round(shares[name], 4), evidence="hits", filtered=sure)
    return Decision(intent, domains)


def vote(candidates: Sequence[Candidate]) -> dict[str, float]:
    """Return each domain's share of the top candidates' softmax-weighted votes; shares sum to 1."""
    top = candidates[:_VOTERS]
    if not top:
        return {}
    weights = [math.exp((candidate.score - top[0].score) / _TEMPERATURE) for candidate in top]
    shares: dict[str, float] = {}
    for candidate, weight in zip(top, weights, strict=True):
        shares[candidate.item.domain] = shares.get(candidate.item.domain, 0.0) + weight / sum(weights)
    return shares
