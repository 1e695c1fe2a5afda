"""Domain of a question: given, or inferred from the hits of the unfiltered search (docs/decisions/0005).

Each domain's best hits vote with their standardised scores; a share that a domain owes to its mere size is deducted.
Word rules settle an open vote, and any vote where a question names what it asks for: "Which function …?". What stays
open is ambiguous: the answer then has the results of each domain by themselves (docs/decisions/0063).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from vicw_retrieval.ranking.fusion import Candidate
from vicw_shared.domains import CODING, CREATIVE, GENERAL, canonical
from vicw_shared.settings import RetrievalSettings
from vicw_shared.wire.retrieve import Intent, RetrieveRequest

_SYMBOL = re.compile(
    # Each alternative may start at one place of a word only: else a long word costs the square of its length.
    r"(?<![a-z])[a-z]+[A-Z]\w*\b|\b\w+_\w+\b|\b\w+\(\)|\b\w+\.(?:py|js|ts|go|rs|java|c|h|cpp|toml|ya?ml|json)\b"
    r"|\bHTTP \d{3}\b|[{}<>]|=="
)
_READ_CHARS = 2000
_CODING_WORDS = frozenset(
    "api argument array async boolean bug build cli code commit compile compiler config cpu csv database dataframe "
    "debug dependency deploy dict dictionary docker endpoint enum exception function git html http integer iterable "
    "java javascript json linux method module nginx npm numpy object package pandas parameter parse pip pointer "
    "postgres programmatically python query react refactor regex repository runtime rust script sdk server sql stack "
    "string subclass syntax tensorflow timestamp tuple typescript unicode url variable xml yaml".split()
)
_CREATIVE_WORDS = frozenset(
    "betrayal castle chapter character cottage crown dragon dwarf emperor fairy fairytale giant heroine hut kingdom "
    "king knight maiden novel ogre palace plot prince princess protagonist queen scene sorcerer stepmother story tale "
    "throne troll villain witch wizard woodcutter".split()
)


_ASKED_FOR = {
    CODING: re.compile(
        r"\b(?:which|what|whose)\s+(?:\w+\s+){0,2}?(?:functions?(?!\s+(?:do|does|did|has|have|had)\b)|subroutines?"
        r"|source files?|modules?|scripts?|unit tests?|endpoints?|decorators?|regex(?:es)?|class(?:es)? or function"
        r"|variables?|coroutines?|commits?|pull requests?|stack ?traces?)\b"
        r"|\bin (?:the|our|my|which) (?:code|codebase|repository|source)\b"
    ),
    CREATIVE: re.compile(
        r"\b(?:which|what|whose)\s+(?:\w+\s+){0,2}?(?:chapters?|fairy ?tales?|tales?|novels?|short stor(?:y|ies)"
        r"|poems?|protagonists?|heroines?|villains?)\b"
        r"|\bin (?:the|our|my|which) (?:story|tale|novel|fairy ?tale|poem)\b"
    ),
}
"""Forms of questions that name what they ask for, without words that many domains have (class, method, character)."""


@dataclass(frozen=True, slots=True)
class WordEvidence:
    """The domain that the words point to. Confidence 0 says nothing, 1 is certain.

    ``asked_for``: they name a thing of this domain as what they ask for, whatever else they are about.
    """

    domain: str
    confidence: float
    asked_for: bool = False


def domain_cues(query: str) -> WordEvidence:
    """Weigh the words of a query: each cue halves the doubt, each cue of the other domain doubles it.

    >>> domain_cues("why does parse_url() throw?").domain
    'coding'
    >>> domain_cues("Which function casts the spell of a wizard?").domain
    'coding'
    >>> domain_cues("what did we eat?").confidence
    0.0
    """
    query = query[:_READ_CHARS]  # a longer one is a document, and its head says what it is
    asked = [domain for domain, form in _ASKED_FOR.items() if form.search(query.lower())]
    if len(asked) == 1:
        return WordEvidence(asked[0], _ASKED_CONFIDENCE, asked_for=True)
    words = re.findall(r"[a-z]+", query.lower())
    coding = sum(word in _CODING_WORDS for word in words) + 2 * len(_SYMBOL.findall(query))
    creative = sum(word in _CREATIVE_WORDS for word in words)
    lead = coding - creative
    if lead == 0:
        return WordEvidence(GENERAL, 0.0)
    return WordEvidence(CODING if lead > 0 else CREATIVE, 1 - 0.5 ** abs(lead))


_VOTERS = 10
_TEMPERATURE = 0.3
_SIZE_POWER = 0.7
_SMOOTHING = 0.01
_KEEP = 0.01
"""Minimum share of a domain that may be meant; the answer keeps several apart. At 99 to 1 the vote is decided."""
_NAMED = 0.65
"""Share from which the vote is decided for the domain of a speaker that the question names."""
_SURE_WORDS = 0.75
_ASKED_CONFIDENCE = 0.9


@dataclass(frozen=True, slots=True)
class DomainDecision:
    """The intent, and the canonical domains to which the answer is narrowed (None: all).

    ``apart``: the shares of the domains that fit alike, the best first; empty unless there are several.
    """

    intent: Intent
    domains: tuple[str, ...] | None
    apart: Mapping[str, float] = field(default_factory=dict)


def given(request: RetrieveRequest) -> DomainDecision:
    """Return the decision of a caller who names the domain: a strict filter."""
    assert request.domain is not None
    name = canonical(request.domain)
    return DomainDecision(Intent(domain=name, confidence=1.0, domain_source="given", filtered=True), (name,))


def by_words(words: WordEvidence) -> DomainDecision:
    """Return the decision if no hit points to a domain: by the question's own words, without a filter."""
    return DomainDecision(
        Intent(domain=words.domain, confidence=words.confidence, domain_source="query", filtered=False), None
    )


def infer(
    candidates: Sequence[Candidate],
    strengths: Mapping[str, float],
    sizes: Mapping[str, int],
    words: WordEvidence,
    settings: RetrievalSettings,
    *,
    named: str | None = None,
) -> DomainDecision:
    """Return the domains that the hits point to: several if unsure. They are a filter unless they are all domains.

    ``strengths`` are standardised scores of passages, ``sizes`` the points of each domain, ``named`` the domain of the
    speakers that the question names.
    """
    shares = vote(candidates, strengths, sizes)
    if not shares:
        return by_words(words)
    best = max(shares, key=lambda name: (shares[name], name))
    kept = {name for name, share in shares.items() if share >= _KEEP} | {best}
    source = "hits"
    is_settled = words.domain in kept and words.confidence >= _SURE_WORDS and len(kept) > 1
    if is_settled or (words.asked_for and shares.get(words.domain, 0.0) >= _KEEP):
        kept, best, source = {words.domain}, words.domain, "query"
    elif named is not None and shares.get(named, 0.0) >= _NAMED:
        kept = {named}
    filtered = settings.infer_domain and len(kept) < len(sizes.keys() | shares.keys())
    apart = {name: shares[name] for name in sorted(kept, key=lambda name: (-shares[name], name))}
    apart = apart if settings.infer_domain and len(apart) > 1 else {}
    intent = Intent(
        domain=best,
        confidence=round(shares[best], 4),
        domain_source=source,
        filtered=filtered,
        ambiguous=bool(apart),
        domains={name: round(share, 4) for name, share in apart.items()},
    )
    return DomainDecision(intent, tuple(sorted(kept)) if filtered else None, apart)


def vote(candidates: Sequence[Candidate], strengths: Mapping[str, float], sizes: Mapping[str, int]) -> dict[str, float]:
    """Return each domain's share of the vote; shares sum to 1, {} without candidates.

    A domain's weight is Σ exp((strength − best) ÷ temperature) over its best hits, divided by a power of its share of
    all points, smoothed so that a tiny domain is lifted 25-fold at most.
    """
    ranked = sorted(((max(strengths[p] for p, _ in c.passages), c.item.domain) for c in candidates), reverse=True)
    if not ranked:
        return {}
    best, total = ranked[0][0], max(1, sum(sizes.values()))
    voters: dict[str, list[float]] = {}
    for strength, domain in ranked:
        if len(voters.setdefault(domain, [])) < _VOTERS:
            voters[domain].append(math.exp((strength - best) / _TEMPERATURE))
    weights = {
        domain: sum(votes) / ((sizes.get(domain, 0) + _SMOOTHING * total) / total) ** _SIZE_POWER
        for domain, votes in voters.items()
    }
    return {domain: weight / sum(weights.values()) for domain, weight in weights.items()}
