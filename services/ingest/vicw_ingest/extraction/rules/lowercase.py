"""Names in small letters, as in chats, where a relationship says that they are names: ``my sister ana called``.

By themselves small letters make no name. Behind a word for somebody of the family a noun is one where no other noun
follows, and where the two are no common compound.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from vicw_ingest.extraction.rules.names import Kind, Name
from vicw_ingest.extraction.rules.relationships import RELATIONSHIPS, kind_of
from vicw_shared.language.analysis import Word
from vicw_shared.language.tokens import Span

_OWNERS = frozenset({"my", "your", "his", "her", "our", "their", "'s", "’s"})
_NAMING = frozenset({"called", "named"})
_BEFORE = RELATIONSHIPS | _NAMING
_NOUNS = frozenset({"NOUN", "PROPN", "X"})
_COMPOUNDS = frozenset(
    "tongue board ship land figure company city country organisation organization school care seat support law time "
    "stuff thing things side home house today yesterday tomorrow tonight monday tuesday wednesday thursday friday "
    "saturday sunday morning evening night weekend week month year noon lunch dinner breakfast back bear nature duo "
    "team group pair member members reunion visit visits relationship bond love issues problems name names age in "
    "i u me us he she it they we you lol btw tho though thanks please ok okay yeah one and or proud "
    "happy sad mad sick ill".split()
)
_VERBS_TOO = frozenset(
    "lives works moves visits calls loves hates hopes plans plays runs studies turns starts stops walks talks drives "
    "cooks dances wants needs likes looks leaves left".split()
)
"""Taken for nouns behind what is taken for one."""
_ENDINGS_OF_VERBS = ("s", "ed", "ing")
"""*My sister works at Acme* has a verb there, whatever it is taken for."""
_FEWEST_LETTERS = 2


def names_in_small_letters(words: Sequence[Word], names: Iterable[Name]) -> Iterator[Name]:
    """Yield the names of one word that stand right behind a relationship, besides the ``names`` that are known."""
    places = [at for at, word in enumerate(words) if at > 0 and words[at - 1].lower in _BEFORE and word.text.isalpha()]
    taken = [name.span for name in names] if places else []
    for place in places:
        word = words[place]
        if not word.text.islower() or len(word.text) < _FEWEST_LETTERS:
            continue
        if any(word.start < span.end and span.start < word.end for span in taken):
            continue
        if _is_called(words, place) or _is_beside(words, place):
            yield Name(word.text, Kind.NAME, Span(word.start, word.end), place)


def _is_called(words: Sequence[Word], place: int) -> bool:
    """``my sister is called ana``, ``a brother named max``."""
    if words[place].tag not in _NOUNS | {"ADJ"} or words[place].lower in RELATIONSHIPS | _COMPOUNDS or place < 2:
        return False
    start = place - 2 - (words[place - 2].tag == "AUX" and place > 2)
    return words[place - 1].lower in _NAMING and words[start].lower in RELATIONSHIPS


def _is_beside(words: Sequence[Word], place: int) -> bool:
    """``my sister ana called``, ``with my sister ana``."""
    word, before = words[place], words[place - 1] if place > 0 else None
    if before is None or word.tag not in _NOUNS or word.lower in RELATIONSHIPS | _COMPOUNDS:
        return False
    if kind_of(before.lower) in {"", "pet"} or before.lower not in RELATIONSHIPS:
        return False  # a dog food, a boss fight, a friend group
    if not any(one.lower in _OWNERS for one in words[max(place - 4, 0) : place - 1]):
        return False
    return _goes_on(words, place)


def _goes_on(words: Sequence[Word], place: int) -> bool:
    """Tell whether what follows a noun lets it be a name: no other noun does."""
    if place + 1 == len(words):
        return not words[place].lower.endswith(_ENDINGS_OF_VERBS)
    following = words[place + 1]
    if following.tag == "VERB":
        return words[place].relation.startswith(("nsubj", "appos"))
    if following.tag == "AUX" or following.lower in _VERBS_TOO:
        return True
    ends = following.tag in {"PUNCT", "CCONJ"} or (following.tag == "ADP" and following.lower != "to")
    return ends and not words[place].lower.endswith(_ENDINGS_OF_VERBS)
