"""Whose something is, and what somebody has and has no longer."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vicw_ingest.extraction.rules.truth.grammar import ACTOR, ADV, ANY, BE, BEEN, END, WAS, Groups, V, pattern
from vicw_ingest.extraction.rules.truth.making import bare, holder, said
from vicw_ingest.extraction.rules.truth.model import Claim
from vicw_ingest.extraction.rules.truth.nouns import OWNED, POSTS
from vicw_ingest.extraction.rules.truth.subjects import NAME, SUBJECT, THING, subject_of

_WHO = rf"(?P<s>[Ii]|[Tt]he [\w-]+(?: [\w-]+)?|{NAME})"
_WHAT = r"(?P<o>(?:the|our|my|his|her|their|[A-Z]+-\d+)(?: [^.,;:!]+?)?)"
_OTHER = re.compile(r"\b(?:old|second|other|spare|first|previous|extra|half|part|share|some)\b")
"""Who sells the old one may have a new one."""
_GIVEN = (
    r"(?:handed(?: over| on)?|sold|given|transferred|passed(?: on| over| down)?|assigned|reassigned|left|signed over)"
)


def _holds(subject: str, groups: Groups) -> Iterator[Claim]:
    """*Ben has the key now*: where that has changed, or of what goes from hand to hand."""
    what = subject_of(groups["o"])
    if what is not None and ("now" in groups or what.split()[-1] in _HANDED):
        yield Claim(what, "owner", groups["s"], weak=True)


_HANDED = frozenset("key badge ball card laptop remote projector trophy baton password login".split())


def _had(noun: str) -> bool:
    return noun in OWNED or noun.removesuffix("s") in OWNED


def _owns(subject: str, groups: Groups) -> Iterator[Claim]:
    """What somebody has: a closed list."""
    noun = _head(groups["v"])
    if _had(noun):
        yield Claim(subject, f"own {noun}", noun)


def _head(phrase: str) -> str:
    """Return the noun that a phrase is about: *a small flat in Izmir*, *our cat Tom*."""
    words = re.split(r" (?:to|for|on|at|in|from|with|named|called|of|last|this|and|who|that)\b", phrase)[0].split()
    common = [word for word in words if word.islower()]
    return bare((common or words)[-1]) if words else ""


def _parted(subject: str, groups: Groups) -> Iterator[Claim]:
    """What somebody has, drives or uses no longer."""
    words = re.split(r" (?:to|for|on|at|in|last|this) ", groups["v"])[0].split()
    noun = words[-1].casefold()
    if _OTHER.search(groups["v"]):
        return
    if not _had(noun) and not words[-1][:1].isupper():
        return
    for verb in ("own", "drive", "use"):
        yield Claim(subject, f"use of {noun}" if verb == "use" else f"{verb} {noun}", noun, ended=True)


def _lost(subject: str, groups: Groups) -> Iterator[Claim]:
    """What somebody had, told of the thing itself."""
    owner, _, thing = subject.rpartition(" ")
    if _had(thing) and (owner or groups["s"].casefold().startswith("the ")):
        yield Claim(owner.removesuffix("'s") or "$speaker", f"own {thing}", thing, ended=True)
        if "sold" in groups["text"]:
            yield Claim(subject, "state for sale", "sold", also=True)


def _given(subject: str, groups: Groups) -> Iterator[Claim]:
    """*I gave the piano to my niece*: whose it is now; who gave it has it no longer."""
    what = subject_of(groups["o"])
    if what is None or re.match(
        r"(?:me|us|you|it|them|the (?:point|end|ground|side)|bed|sleep|work|school)\b", groups["v"]
    ):
        return
    thing = what.split()[-1]
    if _OTHER.search(groups["o"]):
        return
    if _had(thing):
        yield Claim(subject, f"own {thing}", thing, ended=True)
    yield Claim(what, "owner", groups["v"])


def _owned(subject: str, groups: Groups) -> Iterator[Claim]:
    """Whose a thing is; *mine* is the speaker's."""
    value = groups["v"]
    if subject.startswith("$") and " " not in subject:
        return
    if not re.match(r"(?:\w+ )?(?:[A-Z]|(?:my|our|the|his|her|their|your|an?|another|somebody|mine|ours|me)\b)", value):
        return
    if (subject := subject.removesuffix("ownership").strip()) and (subject.split()[-1] not in POSTS):
        yield Claim(subject, "owner", "I" if value.casefold() in {"mine", "me", "ours"} else value)


def _possessive(subject: str, groups: Groups) -> Iterator[Claim]:
    """*The bike is Ana's*."""
    yield from _owned(subject, groups | {"v": groups["v"].removesuffix("'s").removesuffix("’s")})


def _without(subject: str, groups: Groups) -> Iterator[Claim]:
    """*I don't have a car anymore*."""
    noun = _head(groups["v"])
    what = subject_of(groups["v"]) if groups["v"].startswith("the ") else None
    if what is not None:
        yield Claim(what, "owner", groups["s"], ended=True)
    if noun and noun not in {"yet", "clue", "idea", "name", "time", "choice"}:
        yield Claim(subject, f"own {noun}", noun, ended=True)


PATTERNS = (
    pattern(
        "took takes owns own responsible charge inherited bought has have got holds acquired 's",
        rf"^{_WHO} {ADV}(?:owns?|took over|takes over|taken over|(?:is|am|are) (?:now )?responsible for|"
        rf"(?:is|am|are) (?:now )?in charge of|"
        rf"inherited|bought|acquired|holds?) {_WHAT}(?: over)?(?: from [^.,;:!]+?)?{END}",
        holder("owner"),
    ),
    pattern(
        "has have",
        rf"^{_WHO} {ADV}(?:has|have) (?:now )?(?P<o>the [^.,;:!]+?){END}",
        _holds,
    ),
    pattern(
        "belong belongs belonged owned handed sold given transferred passed held assigned reassigned property "
        "left signed",
        rf"^{THING}(?: (?:now )?belongs?(?: now)? to|{BE} (?:owned|held|run and owned) by|{BE} the property of|"
        rf"{WAS} {_GIVEN}(?: [^.,;:!]+?)? to|{WAS} (?:bought|taken over|inherited) by) {V}",
        _owned,
    ),
    pattern("bought acquired taken inherited", rf"^{THING}{WAS} (?:bought|taken over|inherited) by {V}", _owned),
    pattern("registered licensed", rf"^{THING}{BE} (?:registered|licensed) (?:to|in the name of) {V}", _owned),
    pattern("mine ours", rf"^{THING}{BE} (?:all )?(?P<v>mine|ours)\b", _owned),
    pattern("is are 's", rf"^{THING}{BE} (?P<v>{NAME}['’]s){END}", _possessive),
    pattern("assigned reassigned", rf"^{THING}(?:{WAS}|{BE}) (?:re)?assigned(?: [^.,;:!]+?)?? to {V}", said("owner")),
    pattern(
        "assigned reassigned",
        rf"^(?:{ACTOR} {ADV})?(?i:re)?assigned (?P<s>(?:the |my |our )?[^.,;:!]+?) to {V}",
        said("owner"),
    ),
    pattern(
        "ownership",
        rf"^[Oo]wnership of (?P<s>{ANY})(?:{BEEN} (?:transferred|handed(?: over)?|passed|moved|given)| (?:has "
        rf")?(?:passed|"
        rf"moved|went|gone))(?: from [^.,;:!]+?)? to {V}",
        said("owner"),
    ),
    pattern(
        "handed sold gave given passed transferred left signed",
        rf"^(?P<s>[Ii]|[Ww]e|{NAME}|(?:[Mm]y|[Oo]ur|[Tt]he) [\w-]+(?: [\w-]+)?) {ADV}(?:handed(?: over| on)?|sold|"
        rf"gave|given|passed(?: on)?|transferred|left|signed over)"
        rf" {_WHAT}(?: over| on| off| back)? to (?P<v>(?:my |the |our |his |her |their )?[^.,;:!]+?){END}",
        _given,
    ),
    pattern(
        "sold gave got scrapped returned traded donated rehomed rehome sell",
        rf"^{SUBJECT} {ADV}(?:sold|gave away|got rid of|gotten rid of|scrapped|returned|traded in|donated|rehomed|"
        rf"had to (?:sell|rehome|give away)) (?P<v>(?:my|the|our|his|her|their) [^.,;:!]+?){END}",
        _parted,
    ),
    pattern(
        "stolen sold scrapped totalled given died passed broke",
        rf"^{THING}(?:(?:{BEEN}|{BE}) (?:stolen|sold|scrapped|totalled|given away)| {ADV}(?:died|passed away|broke "
        rf"down for good))\b",
        _lost,
    ),
    pattern(
        "not longer",
        rf"^{SUBJECT} (?:(?:do|does) not (?:have|own)|no longer (?:have|has|owns?)) (?P<v>(?:a|an|any|the|my|our) "
        rf"{ANY})"
        rf"(?: anymore| any more| any longer|{END})",
        _without,
    ),
    pattern(
        "have has own owns drive drives bought adopted got",
        rf"^{SUBJECT} {ADV}(?:ha(?:ve|s)|owns?|drives?|bought|adopted|got) (?P<v>(?:a|an|my own|the) [^.,;:!]+?){END}",
        _owns,
    ),
)
