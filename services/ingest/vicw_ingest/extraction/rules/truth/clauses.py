"""A sentence's clauses, each as if it stood alone: what is fronted, said in passing or meant by *it* is worked in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from vicw_ingest.extraction.rules.truth.grammar import Groups
from vicw_ingest.extraction.rules.truth.moods import is_future
from vicw_ingest.extraction.rules.truth.subjects import NAME
from vicw_shared.language.analysis import Sentence

_PARTS = re.compile(
    r"(?:[,;:–—.!]|\s-)\s+(?:so |and |but |as |then |which means )?(?:now )?|"
    r"\s(?:and|so|but|because|since)\s(?=(?:I|[Ww]e|[Mm]y|[Oo]ur|the|he|she|it|there)\b)"
)
_LEADING = re.compile(
    r"^(?:(?i:well|oh|so|and|but|actually|by the way|btw|fyi|update|quick update|news|also|yes|no|yeah|good news|"
    r"bad news|anyway|now|ok|okay|ugh|hey|heads up|note|please note|reminder|correction|announcement|guess what|"
    r"sad news|big news|hooray|yay|finally|"
    r"as of (?:today|now|this \w+|\d[\d.]*|\d+ \w+|version [\d.]+)|since (?:mon|tues|wednes|thurs|fri|satur|"
    r"sun)day|from now on|these days|nowadays|today|"
    r"yesterday|last \w+|this (?:morning|afternoon|evening|week|month|year)|effective \w+|after all|"
    r"with immediate effect)[,:!]? )+"
)
"""What may stand before a claim without being part of it."""
_TIMES = r"(?:January|February|March|April|May|June|July|August|September|October|November|December|\w+day)s?\b"
_FRONTED = re.compile(
    r"^(?:(?:[Aa]s of|[Ss]ince|[Ff]rom|[Aa]fter|[Ff]ollowing|[Ww]ith|[Bb]ecause of|[Dd]ue to|[Tt]hanks to|[Ee]ffective|"
    r"[Aa]t last|[Aa]ccording to (?:the|this|our|its|today['’]s)|[Aa]t the (?:[\w-]+ )?(?:meeting|election|conference|"
    r"assembly)|[Oo]ver the (?:weekend|summer|holidays)) [^,;:.]{1,70}?,? "
    rf"(?=(?:the|our|my|we|I|there|it|its|his|her|an?)\b|(?!{_TIMES})[A-Z][\w'’-]+(?: [\w'’-]+){{0,5}}? (?:is|are|"
    rf"has|have|was|were|moved)\b))"
)
_LIMITED = re.compile(
    r"^(?:(?:In|On) (?!(?:January|February|March|April|May|June|July|August|September|October|November|December|\w+day|"
    r"\d|the (?:meantime|end|morning|evening|afternoon|\d)|fact|addition|short|total|other news|top)\b)[^,;:.]{1,30},|"
    r"(?:Under|Within|Inside|Outside|Between|Among|To(?! (?:be|my|our) )|By(?! the way)) "
    r"[^,;:.]{1,30},|For (?:the|an?|my|our) [\w ]+,|(?:On "
    r"(?:\w+days|week\w+|holidays|request)|In (?:spring|summer|autumn|winter|staging|production|test\w*|dev\w*)|"
    r"At (?:night|weekends?|peak\b)|During|For (?:guests|members|students|children|\w+ (?:users|customers))|Until|"
    r"Before)\b)"
)
"""What holds at some times, or of some, only; the rest of the sentence says nothing of the others."""
_NOW = re.compile(
    r"(?<!right )(?<!for )(?<!until )(?<!up to )\bnow\b(?! and then)|\b(?:these days|nowadays|from (?:now|today) on|"
    r"from this \w+ on|no longer|anymore|any more|by now|instead|as of (?:today|now|this|version|\d)|new|"
    r"ha(?:s|ve) become|became|[Ee]ffective|(?:^|, )[Ss]ince|from today)\b",
    re.IGNORECASE,
)
_INSTEAD = re.compile(r",? (?:instead of|in place of) (?P<what>[^,;.!]+)|,? instead\b(?! of)")
_INSTEAD_FIRST = re.compile(r"^Instead of (?P<what>[^,;.!]+), ")
_ELIDED = re.compile(
    r"^(?:(?:Finally|Just|Recently|Already) )?(?:moved (?:out|to|back|from|into)|sold (?:my|the|our)|switched "
    r"(?:from|to)|"
    r"quit|joined|adopted|retired|handed|gave (?:my|the|up|away|our)|got (?:married|divorced|engaged|promoted|rid|"
    r"fired|"
    r"laid|a)|started (?:at|as|working)|stopped|bought (?:a|the|my)|broke up|left (?:my|[A-Z])|raised|settled|"
    r"still (?:renting|living|working|staying)|(?:living|working|renting|based|studying) (?:in|at|for|as))\b",
    re.IGNORECASE,
)
"""Who writes notes or in a hurry leaves out who did it: themselves."""
_ING = re.compile(r"^(?:[Ss]till )?(?:\w+ing|[Bb]ased)\b")
_ACTOR = re.compile(rf"(?:I|We|{NAME})(?= (?!and\b))")
_AND = re.compile(
    r" and (?=(?:now |just |then |have |has )?(?:joined|moved|started|became|switched|sold|bought|renamed|left|"
    r"work|works|live|lives|use|uses|prefer|prefers|is now|am now|are now)\b)"
)
_IT = re.compile(
    r"^(?:[Ii]t|[Tt]hat)(?= (?:is|has|was|now|runs|costs|works|takes|listens|lives|starts|belongs|goes)\b)"
)


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause.

    ``said``: its ``text``, the word that says that something has changed (``now``), and ``instead`` of what.
    ``no_subjects`` are words that begin no subject here, whatever their capital says: *Keep*, *Really*.
    """

    text: str
    future: bool
    said: Groups
    no_subjects: frozenset[str] = frozenset()


def clauses(text: str, sentence: Sentence) -> Iterator[Clause]:
    """Yield the clauses of a sentence that is asserted, the whole first."""
    if _LIMITED.match(text):
        return
    said: Groups = {}
    no_subjects = frozenset(word.lower for word in sentence.words if word.tag in _NO_NOUNS and word.lower not in _ALL)
    text = _without_instead(text, said)
    changing = _NOW.search(text[:_FRONT])
    bare = _LEADING.sub("", _capital(_FRONTED.sub("", text)))
    lead = text[: max(0, len(text) - len(bare))]
    text = _LEADING.sub("", text)
    first, *parts = [part for part in _PARTS.split(bare) if part] or [bare]
    if changing is None or bare == text:
        changing = _NOW.search(lead)
    for whole in dict.fromkeys((text, bare)):
        yield _clause(_with_actor(whole), is_future(f"{lead} {first}"), changing, said, no_subjects)
    for part in (*parts, *_deeds(bare)):
        meant = _with_thing(_LEADING.sub("", part), sentence)
        yield _clause(meant, is_future(meant), changing, said, no_subjects)


def _clause(
    text: str, future: bool, changing: re.Match[str] | None, said: Groups, no_subjects: frozenset[str]
) -> Clause:
    text = _capital(text)
    now = _NOW.search(text) or changing
    mark = {"now": now[0].casefold().strip(", ") or "now"} if now is not None else {}
    return Clause(text, future, {"text": text} | mark | said, no_subjects)


def _with_actor(text: str) -> str:
    """Return a clause with who did it, if that is left out."""
    if not _ELIDED.match(text):
        return text
    return f"I {'am ' if _ING.match(text) else ''}{text[:1].lower()}{text[1:]}"


def _deeds(text: str) -> list[str]:
    """Return what else somebody did: *I left Acme and joined Globex*."""
    who = _ACTOR.match(text)
    return [f"{who[0]} {rest}" for rest in _AND.split(text)[1:]] if who is not None else []


def _with_thing(text: str, sentence: Sentence) -> str:
    """Return a clause with what its *it* means, if that is plain."""
    thing = _only_thing(sentence) if _IT.match(text) else None
    return _IT.sub(lambda _: thing or "", text) if thing is not None else text


_NO_NOUNS = frozenset({"ADV", "INTJ", "ADP", "SCONJ", "CCONJ", "VERB", "AUX", "PART"})
_ALL = frozenset({"i", "we", "he", "she", "they", "the", "my", "our", "his", "her", "their", "your"})
_FRONT = 40
"""Characters in which a word like *these days* is of the whole sentence."""


def _without_instead(text: str, said: Groups) -> str:
    for form in (_INSTEAD_FIRST, _INSTEAD):
        if (found := form.search(text)) is not None:
            said["now"] = "instead"
            if found["what"] is not None:
                said["instead"] = found["what"].strip()
            text = (
                _capital(text[: found.start()] + text[found.end() :])
                if found.start()
                else _capital(text[found.end() :])
            )
            break
    return text


def _only_thing(sentence: Sentence) -> str | None:
    """Return the one thing that a sentence speaks of, as *it* may mean it; None if there are several."""
    things: dict[str, None] = {}
    words = sentence.words
    for at, word in enumerate(words):
        if word.lower not in {"my", "our", "the"}:
            continue
        end = at + 1
        while end < len(words) and words[end].tag in {"ADJ", "NOUN", "PROPN", "NUM"}:
            end += 1
        if end > at + 1:
            things[" ".join(each.text for each in words[at:end])] = None
    return next(iter(things)) if len(things) == 1 else None


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
