"""What the words of a short statement tell of it: whether it is one fact, a guess, a correction, and what it is about.

Closed lists of English function words and of phrases that speak of what was said; no list of subjects. What they do not
know stays as it is.
"""

from __future__ import annotations

import re

from vicw_core.index import sparse
from vicw_core.language.sentences import sentences
from vicw_shared.text import fold_case

_MOST_CHARS = 300
"""A longer text tells of more than one thing, whatever its punctuation."""
_FUNCTION_WORDS = frozenset(
    sparse.question_terms(
        "a an the this that these those there here i you he she it we they me him her us them my your his its our "
        "their mine yours am is are was were be been being have has had having do does did done will would shall "
        "should can could may might must to of in on at by for from with into over out up off about and or but so "
        "if as than then just very really also too not no never now again still already any more some all one two "
        "who whom whose which what where when why how please don't doesn't didn't isn't aren't wasn't i'm i've "
        "i'll it's that's three four five six seven eight nine ten eleven twelve noon half past hundred thousand "
        "first second third"
    )
)
_UNSURE = re.compile(
    r"\bmay\b|(?i:\b(?:if|unless|whether|might|maybe|perhaps|possibly|probably|would|could|should|hop(?:e[sd]?|ing)"
    r"|wish(?:es|ed)?|plan(?:s|ned|ning)? (?:to|on)|think(?:s|ing)?|thought|believe[sd]?|guess(?:es|ed)?|suppose[sd]?"
    r"|claim(?:s|ed)?|heard|rumou?rs?|apparently|allegedly|quotes?)\b)"
)
"""A condition, a guess, a wish, or hearsay."""
_CORRECTS = re.compile(
    r"\W*(?:(?:no|nope|wait|sorry|oops|well|hm+|actually|ok(?:ay)?|please|can you|could you)\b[\s,.:;!–—-]*){0,3}"
    r"(?:(?:that|this|it|what i (?:said|wrote|told you))(?: (?:is|was)|['’]s) "
    r"(?:wrong|incorrect|false|not (?:right|true|correct)|a mistake|an error)"
    r"|i (?:was (?:wrong|mistaken)|misspoke|made a mistake|take (?:that|it) back)"
    r"|correction\b|(?:scrap|strike|cancel|scratch|ignore|disregard)"
    r" (?:that\b|it\b|this\b|everything\b|(?:what|all) i\b|my (?:last|previous)\b))",
    re.IGNORECASE,
)
_SAID = r"i(?:['’]ve| have)? (?:just )?(?:said|told you|wrote|mentioned|shared)"
_WISH = re.compile(
    r"\W*(?:(?:no|sorry|actually|ok(?:ay)?|please|can you|could you|would you|i want you to|i['’]d like you to|just)\b"
    rf"[\s,.:;!–—-]*){{0,3}}(?:forget (?:about )?(?=(?:that|this|it|everything|what|all|my)\b)"
    rf"|(?:delete|erase|remove) (?=(?:what|everything|all) {_SAID}\b))",
    re.IGNORECASE,
)
_SAID_OF = re.compile(
    rf"(?:(?:that|this|it|what|everything|all)\b ?)?(?:(?:that )?{_SAID})?(?: to you)?"
    r"(?: (?:about|on|regarding)\b)?\s*",
    re.IGNORECASE,
)
_ASKS = frozenset(
    "who whom whose which what where when why how am is are do does can could will would shall should may must have "
    "has tell show give list remind".split()
)
"""First words of a question that may lack its mark."""
_WORD = re.compile(r"\w+(?:[-.'’_/:]\w+)*")
_NUMBER = re.compile(r"\S*\d\S*")
_SELF = re.compile(r"\b(?:I|[Mm]y|[Mm]e|[Mm]ine|[Mm]yself)\b")


def is_plain(text: str, most: int) -> bool:
    """Return whether a text states at most so many sentences, asks nothing, and is short.

    >>> is_plain("My dentist is Dr. Lund.", 1), is_plain("I moved. How are you?", 2)
    (True, False)
    """
    return 0 < len(text) <= _MOST_CHARS and "?" not in text and len(sentences(text)) <= most


def is_unsure(text: str) -> bool:
    """Return whether a text is conditional, a guess, a plan or hearsay: it does not say what is so.

    >>> is_unsure("I might study physics."), is_unsure("I study physics.")
    (True, False)
    """
    return _UNSURE.search(text) is not None


def is_correction(text: str) -> bool:
    """Return whether a text begins by taking back what was said before.

    >>> is_correction("No, that was wrong: it is my son."), is_correction("Scrap that, we meet at two.")
    (True, True)
    >>> is_correction("Please forget what I said."), is_correction("No, I live in Ghent.")
    (True, False)
    """
    return _CORRECTS.match(text) is not None or wish_to_forget(text) is not None


def wish_to_forget(text: str) -> str | None:
    """Return what a text asks to forget, in its words, which may be none; None if it asks for nothing of the kind.

    >>> wish_to_forget("Please forget what I said about the PIN hint."), wish_to_forget("Forget that!")
    ('the PIN hint.', '!')
    >>> wish_to_forget("I forget what it was."), wish_to_forget("Delete the file.")
    (None, None)
    """
    wish = _WISH.match(text[:_MOST_CHARS])
    if wish is None:
        return None
    said = text[wish.end() : _MOST_CHARS]
    named = _SAID_OF.match(said)
    return said[named.end() :] if named is not None else said


def speaks_of_self(text: str) -> bool:
    """Return whether a text speaks of its own speaker, so that another's statement is about another person."""
    return _SELF.search(text) is not None


def named_things(question: str) -> frozenset[str]:
    """Return the words of a question that name one thing: with a digit, or written with a capital inside a sentence.

    All words do where nothing is asked: who sends a text or keywords looks for these.

    >>> sorted(named_things("Who has ticket T-102 of Lena's list?")), sorted(named_things("Am I a vegetarian?"))
    (['lena', 't-102'], [])
    >>> sorted(named_things("dinner near the harbour"))
    ['dinner', 'harbour', 'near', 'the']
    """
    first, *others = _WORD.findall(question[:_MOST_CHARS]) or [""]
    if "?" not in question and fold_case(first) not in _ASKS:
        return words_of(question)
    named = [word for word in others if word[0].isupper() and word != "I"]
    return frozenset(_plain(word) for word in (first, *others) if word in named or any(map(str.isdigit, word)))


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text as ``named_things`` has them."""
    return frozenset(map(_plain, _WORD.findall(text[:_MOST_CHARS])))


def _plain(word: str) -> str:
    return fold_case(word).removesuffix("'s").removesuffix("’s")


def subject_terms(text: str) -> frozenset[int]:
    """Return the terms of a text, without function words and numbers: what it is about."""
    return frozenset(sparse.question_terms(_NUMBER.sub(" ", text))) - _FUNCTION_WORDS
