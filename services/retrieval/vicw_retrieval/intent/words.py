"""Domain of a question by its words alone: rules, no model, a confidence in [0, 1]."""

from __future__ import annotations

import re
from dataclasses import dataclass

from vicw_shared.domains import CODING, CREATIVE, GENERAL

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


@dataclass(frozen=True, slots=True)
class WordEvidence:
    """The domain that the words point to. Confidence 0 says nothing, 1 is certain."""

    domain: str
    confidence: float


def read_words(query: str) -> WordEvidence:
    """Weigh the words of a query: each cue halves the doubt, each cue of the other domain doubles it.

    >>> read_words("why does parse_url() throw?").domain
    'coding'
    >>> read_words("what did we eat?").confidence
    0.0
    """
    query = query[:_READ_CHARS]  # a longer one is a document, and its head says what it is
    words = re.findall(r"[a-z]+", query.lower())
    coding = sum(word in _CODING_WORDS for word in words) + 2 * len(_SYMBOL.findall(query))
    creative = sum(word in _CREATIVE_WORDS for word in words)
    lead = coding - creative
    if lead == 0:
        return WordEvidence(GENERAL, 0.0)
    return WordEvidence(CODING if lead > 0 else CREATIVE, 1 - 0.5 ** abs(lead))
