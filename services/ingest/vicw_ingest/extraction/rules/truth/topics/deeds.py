"""What somebody does all the time, uses and prefers, and what is so no longer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from vicw_ingest.extraction.rules.truth.grammar import ADV, BE, END, Groups, V, pattern
from vicw_ingest.extraction.rules.truth.making import bare
from vicw_ingest.extraction.rules.truth.model import Claim
from vicw_ingest.extraction.rules.truth.nouns import STATIVES
from vicw_ingest.extraction.rules.truth.subjects import NAME, SUBJECT

_VERBS = "|".join(STATIVES)
_PREPOSITIONAL = {"depends": "depend", "relies": "rely", "works": "work", "talks": "talk", "listens": "listen"}
_FORMS = " ".join(f"{verb} {verb}s {verb}es" for verb in STATIVES) + " depend depends rely relies"
_ANYMORE = r"(?:anymore|any more|any longer)"
_FELT = (
    r"(?:afraid of|scared of|allergic to|responsible for|in favour of|in favor of|addicted to|"
    r"subscribed to|dependent on|part of|a member of|a fan of|a partner of|a subsidiary of|a customer of|"
    r"compatible with|independent of|familiar with|a supporter of|a client of|a resident of|a citizen of)"
)
_CUT = re.compile(
    r" (?:for|in|on|at|with|to|from|every|each|most|all|when|while|pretty|quite|almost|about|daily|so|that|because)\b"
)
_LOOSE = re.compile(r" (?:for|with|as|since|when|because)\b")
_CUTTING = frozenset("use eat drink drive play smoke teach wear study own".split())


def _lemma(verb: str) -> str:
    """Return the form of a verb that the list of those has."""
    verb, _, with_what = verb.casefold().partition(" ")
    if with_what:
        return f"{_PREPOSITIONAL.get(verb, verb)} {with_what}"
    for ending, instead in (("ies", "y"), ("ing", ""), ("ing", "e"), ("s", ""), ("es", "")):
        if verb.endswith(ending) and (root := verb.removesuffix(ending) + instead) in STATIVES:
            return root
    doubled = re.fullmatch(r"(\w+)(\w)\2ing", verb)
    return doubled[1] + doubled[2] if doubled else verb


def _ended(subject: str, verb: str, value: str) -> Claim:
    """Return the claim that somebody does something no longer: all of what is said of it."""
    value = bare(_LOOSE.split(value)[0])
    return Claim(subject, f"use of {value}" if verb == "use" else f"{verb} {value}", value, ended=True)


def _deed(subject: str, verb: str, value: str) -> Claim:
    """Return the claim that somebody does something."""
    value = bare((_CUT if verb in _CUTTING else _LOOSE).split(value)[0])
    return Claim(subject, f"use of {value}" if verb == "use" else f"{verb} {value}", value)


def _does(subject: str, groups: Groups) -> Iterator[Claim]:
    """What somebody does all the time, and what not, if it is told what this takes the place of."""
    verb = _lemma(groups["verb"])
    if (verb in STATIVES or " " in verb) and _is_thing(groups["v"]):
        yield _deed(subject, verb, groups["v"])
        words = bare(groups["v"]).split()
        if len(words) == _KIND_AND_HEAD and verb in _CUTTING and groups["v"].islower():
            yield Claim(subject, f"{verb} {words[1]} kind", words[0], weak=True, also=True)
        if "instead" in groups:
            yield replace(_deed(subject, verb, groups["instead"]), ended=True)


def _is_thing(value: str) -> bool:
    """Tell whether what somebody likes or uses is said, and shortly."""
    return len(value.split()) <= _MOST_WORDS and _POINTING.match(value) is None


_MOST_WORDS, _KIND_AND_HEAD = 6, 2
_POINTING = re.compile(
    r"(?:it|this|that|these|those|you|them|him|her|me|us|one|how|when|what|where|why|who|being|and|to|my|your|"
    r"everything|"
    r"everyone|all|so|more|is|are|me)\b",
    re.IGNORECASE,
)


def _no_more(subject: str, groups: Groups) -> Iterator[Claim]:
    """What somebody does no longer."""
    verb = _lemma(groups["verb"])
    if verb in STATIVES or " " in verb:
        yield _ended(subject, verb, groups["v"])


def _gave_up(subject: str, groups: Groups) -> Iterator[Claim]:
    """*I gave up on Vim*: what somebody used."""
    yield replace(_deed(subject, "use", groups["v"]), ended=True)


def _used_for(subject: str, groups: Groups) -> Iterator[Claim]:
    """*We use Jenkins for CI*: what is used for it, and that it is used."""
    purpose = bare(groups["y"])
    if purpose in {"everything", "this", "that", "it", "work", "now", "me", "us"} or purpose[:1].isdigit():
        yield _deed(subject, "use", groups["v"])
        return
    yield Claim(subject, f"use for {purpose}", groups["v"], weak=True)
    yield replace(_deed(subject, "use", groups["v"]), also=True)


def _switched(subject: str, groups: Groups) -> Iterator[Claim]:
    """Using one thing has ended, using another has begun."""
    for verb in ("use", "drink", "prefer", "eat", "drive"):
        yield replace(_deed(subject, verb, groups["u"]), ended=True, also=verb != "use")
    yield _deed(subject, "use", groups["v"])


def _preferred(subject: str, groups: Groups) -> Iterator[Claim]:
    """Which of two is preferred."""
    both = sorted((bare(groups["v"]), bare(groups["u"])))
    yield Claim(subject, "preference " + " or ".join(both), groups["v"])


def _prefers(subject: str, groups: Groups) -> Iterator[Claim]:
    """*She prefers the aisle seat*: of seats; *spaces for indentation*: for that."""
    value = bare(groups["v"])
    head, _, purpose = value.partition(" for ")
    words = head.split()
    if purpose:
        yield Claim(subject, f"preference for {bare(purpose)}", head)
    elif len(words) == 2 and not words[0].endswith("ing"):
        yield Claim(subject, f"preference of {words[1].removesuffix('s')}", words[0])
        yield replace(_deed(subject, "prefer", groups["v"]), also=True)
    else:
        yield from _does(subject, groups | {"verb": "prefer"})


def _felt(subject: str, groups: Groups) -> Iterator[Claim]:
    """*He is afraid of dogs*, *he is not afraid of dogs anymore*: each by itself."""
    ended = "not" in groups
    value = bare(_CUT.split(groups["v"])[0])
    yield Claim(subject, f"is {groups['felt']} {value}", value, ended=ended)


def _favourite(subject: str, groups: Groups) -> Iterator[Claim]:
    """What the favourite of a kind is."""
    if "n" in groups:
        yield Claim("$speaker", f"favourite {groups['n'].casefold()}", groups["v"])


def _with(subject: str, groups: Groups) -> Iterator[Claim]:
    """*We deploy with Jenkins*, *I commute by bus*: by the verb; another way excludes it if that is so now."""
    yield Claim(subject, f"way to {groups['verb'].removesuffix('s')}", groups["v"], weak=True)


_WAYS = (
    "deploy|build|test|pay|commute|travel|communicate|code|develop|record|heat|cook|track|invoice|get to "
    "work|go to work"
)
PATTERNS = (
    pattern(
        "with by via using",
        rf"^{SUBJECT} {ADV}(?P<verb>(?:{_WAYS})s?|goes to work|gets to work)(?: now)? (?:with|by|via|using) {V}",
        _with,
    ),
    pattern("favourite favorite", rf"^(?P<v>{NAME}|[A-Z]\w+){BE} my (?:new )?favou?rite(?: (?P<n>[\w]+))?", _favourite),
    pattern("is are am 's not longer", rf"^{SUBJECT}{BE}(?P<not> not| no longer)? (?P<felt>{_FELT}) {V}", _felt),
    pattern(
        "from",
        rf"^{SUBJECT} {ADV}(?:switched|changed|migrated|moved|gone)(?: over)? from (?P<u>[^.,;:!]+?) to {V}",
        _switched,
    ),
    pattern("replaced", rf"^{SUBJECT} {ADV}replaced (?P<u>[^.,;:!]+?) (?:with|by) {V}", _switched),
    pattern(
        "prefers prefer likes like",
        rf"^{SUBJECT} {ADV}(?:prefers?|likes?) (?P<v>[^.,;:!]+?) (?:to|over|more than|better than) "
        rf"(?P<u>[^.,;:!]+?){END}",
        _preferred,
    ),
    pattern(
        "prefers prefer",
        rf"^{SUBJECT} {ADV}prefers? (?P<v>(?!to\b)[^.,;:!]+?)(?= (?:now|these|because|since|as|so)\b|[.,;:!]|$)",
        _prefers,
    ),
    pattern("longer", rf"^{SUBJECT} (?:no longer (?P<verb>\w+(?: (?:on|to))?)) {V}", _no_more),
    pattern(
        "anymore more longer",
        rf"^{SUBJECT} (?:do not|does not) (?P<verb>\w+(?: (?:on|to))?) (?P<v>[^.,;:!]+?) {_ANYMORE}",
        _no_more,
    ),
    pattern(
        "stopped quit gave given", rf"^{SUBJECT} {ADV}(?:stopped|quit|gave up|given up) (?P<verb>\w+ing) {V}", _no_more
    ),
    pattern("gave given", rf"^{SUBJECT} {ADV}(?:gave|given) up on {V}", _gave_up),
    pattern(
        "use uses using",
        rf"^{SUBJECT} {ADV}(?:uses?|(?:am |is |are )using)(?: now)? (?P<v>[^.,;:!]+?) (?:for|as) (?P<y>(?:my |our |"
        rf"the )?[^.,;:!]+?)"
        rf"{END}",
        _used_for,
    ),
    pattern(_FORMS, rf"^{SUBJECT} {ADV}(?P<verb>(?:{_VERBS})(?:s|es)?|(?:depends?|rely|relies) on) {V}", _does),
)
