"""Correction of names that the tagger mistook for other words, using the whole text.

The tagger sees a word and its neighbours. At the start of a sentence every word has a capital letter, so an unknown
name may be tagged as a noun although the same word is clearly a name elsewhere in the text. It may also be tagged as a
function word (*Ingrid*, as an auxiliary, in *Ingrid moved*), although it is not in the complete list of these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vicw_english.tagging.tagger import TAGS

type Tagged = tuple[Sequence[str], Sequence[int]]
"""A sentence: its words and the indices of their tags in TAGS."""

_NOUN, _PROPN, _VERB, _X = (TAGS.index(tag) for tag in ("NOUN", "PROPN", "VERB", "X"))
_MISTAKEN_TAGS = frozenset({_NOUN, _X})
_CLOSED = frozenset(map(TAGS.index, ("AUX", "PRON", "DET", "ADP", "CCONJ", "SCONJ", "PART", "INTJ")))
_FUNCTION_WORDS = frozenset(
    "a about above across after again against ah aha albeit all along alongside alright although am amen amid among "
    "an and another any anybody anyone anything are around as aside at aw bah be because been before behind being "
    "below beneath beside besides between beyond both boy bravo but by bye ca can cause cheers congrats "
    "congratulations considering could damn dang dare dear despite did do does done down due during each either "
    "else enough every everybody everyone everything except few following for from gee get given go god goddamn "
    "goodbye gosh got gotta had haha hallelujah has have having he hell hello her here hers herself hey hi him "
    "himself his hmm hooray how hurrah i if in including inside instead into is it its itself lest let like lol "
    "lots man many may me mean might mine minus more most much must my myself nah neither never nice no nobody none "
    "nope nor not nothing notwithstanding of off oh okay on once one oneself onto oops opposite or other ouch our "
    "ours ourselves out outside over own past pending per phew please plus provided regarding right round same save "
    "shall she should since so some somebody someone something sorry such sure than thank thanks that the thee "
    "their theirs them themselves then there these they thine this those thou though three through throughout till "
    "to together top toward towards two ugh uh um under underneath unless unlike until up upon us used versus via "
    "wait was we welcome well were what whatever when whenever where whereas wherever whether which whichever while "
    "whilst who whoa whoever whom whose why will with within without worth would wow ya yay yea yeah yep yes yet "
    "you your yours yourself yourselves yup".split()
)
"""The function words (closed classes), including words that the treebank only occasionally tags as such."""
_VERBAL = frozenset({_VERB, TAGS.index("AUX")})
_AFTER_NAME = frozenset(map(TAGS.index, ("VERB", "AUX", "PROPN", "CCONJ", "PUNCT", "PART", "ADV")))
"""Tags that may follow a name at the start of a sentence; before a noun, the word would be part of a compound."""
_PAST_OR_NOUN = frozenset(map(TAGS.index, ("ADJ", "NOUN", "ADV", "X", "ADP")))
_PAST = frozenset(
    "became began bought broke brought built came caught chose drank drew drove ate fell fed felt fought forgot "
    "forgave found flew gave went grew hung heard hid held kept knew led left lent lost made met paid rang rode rose "
    "ran said sang sank sat saw sold sent shook shot slept slid spent spoke stole stood struck swam swore taught took "
    "told thought threw understood woke wept won wore wrote".split()
)
_MIN_LETTERS = 2


def corrections(sentences: Sequence[Tagged]) -> Iterator[tuple[int, int, int]]:
    """Yield the corrections of one text as indices (sentence, word, tag)."""
    names = {(number, 0) for number, (words, tags) in enumerate(sentences) if _begins_with_unknown_name(words, tags)}
    names |= set(_names(sentences)) if len(sentences) > 1 else set()
    yield from ((sentence, index, _PROPN) for sentence, index in names)


def _names(sentences: Sequence[Tagged]) -> Iterator[tuple[int, int]]:
    """Yield the words tagged as nouns that are names elsewhere in the text and never occur in lower case."""
    doubtful = [
        (number, index)
        for number, (words, tags) in enumerate(sentences)
        for index, tag in enumerate(tags)
        if tag in _MISTAKEN_TAGS and _is_capital(words[index]) and _may_be_name(words, tags, index)
    ]
    if not doubtful:
        return
    candidates = {sentences[number][0][index] for number, index in doubtful}
    named = {
        word for words, tags in sentences for word, tag in zip(words, tags, strict=True) if tag == _PROPN
    } & candidates
    if named:
        small = {word for words, _ in sentences for word in words}
        yield from (
            (number, index)
            for number, index in doubtful
            if (word := sentences[number][0][index]) in named and word.lower() not in small
        )


def _begins_with_unknown_name(words: Sequence[str], tags: Sequence[int]) -> bool:
    """Return whether a sentence begins with a name that is tagged as a function word, but is none."""
    if len(tags) < 2 or tags[0] not in _CLOSED or tags[1] not in _AFTER_NAME:
        return False
    return _is_capital(words[0]) and words[0].isalpha() and words[0].lower() not in _FUNCTION_WORDS


def _is_capital(word: str) -> bool:
    return len(word) >= _MIN_LETTERS and word[0].isupper() and word[1:].islower()


def _may_be_name(words: Sequence[str], tags: Sequence[int], place: int) -> bool:
    if place > 0 or len(tags) < 2:
        return place > 0
    return tags[1] in _AFTER_NAME or (_VERBAL.isdisjoint(tags) and _is_past(words[1], tags[1]))


def _is_past(word: str, tag: int) -> bool:
    return tag in _PAST_OR_NOUN and word.islower() and (word in _PAST or word.endswith("ed"))
