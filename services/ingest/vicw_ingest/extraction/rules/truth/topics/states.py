"""In which of several states that exclude each other something or somebody is."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vicw_ingest.extraction.rules.truth.axes import AXES, STATE, Axis
from vicw_ingest.extraction.rules.truth.grammar import ACTOR, ADV, BE, BEEN, BEING, END, Groups, pattern
from vicw_ingest.extraction.rules.truth.making import is_passing, is_person, is_work
from vicw_ingest.extraction.rules.truth.model import Claim
from vicw_ingest.extraction.rules.truth.subjects import SUBJECT, THING, subject_of

_MONTHS = (
    "january|february|march|april|may|june|july|august|september|october|november|december|mon|tue|wed|thu|fri|sat|sun"
)
_Q = (
    rf"(?: (?:in|for|on|to|at|into|by|from|between|out of|under|through|of) (?P<q>(?!(?i:{_MONTHS}|(?:19|"
    rf"20)\d\d))[\w '’./-]+?))?"
)
_DONE = (
    "opened|reopened|closed|merged|approved|rejected|accepted|fixed|repaired|resolved|solved|shipped|delivered|"
    "deployed|"
    "released|cancelled|canceled|finished|completed|paid|unblocked|archived|disabled|enabled|locked|unlocked|"
    "deprecated|"
    "published|signed|submitted|expired|arrived|activated|deactivated|suspended|paused|mended|recovered|withdrawn|"
    "reverted|granted|dispatched|refunded|verified|finalised|finalized|discontinued"
)
_CHANGES = frozenset(
    "merged fixed repaired mended cancelled canceled disabled enabled activated deactivated reopened deprecated "
    "discontinued archived".split()
)
"""What was done to something is so from then on; what *was closed* may have been so for a day."""
_PAST = re.compile(
    r"\b(?:last (?:year|summer|winter|spring|autumn)|years? ago|months? ago|before|earlier|once|twice|times|every|"
    r"briefly)\b"
)
_NO_WHERE = frozenset({None, "the moment", "present", "last", "home"})
_FOR_A_DAY = frozenset("open closed shut on off free taken occupied available unavailable full".split())
_ANEW = re.compile(r"\b(?:again|back|now)\b")
_ACTS = {"opened": "open"}
_ALL_OF_THEM = frozenset({"everyone", "everybody", "all", "all users", "everything", "good", "real", "sure"})


def _fits(axis: Axis, subject: str, said: str) -> bool:
    if axis.of == "any":
        return True
    if axis.of == "work":
        return is_work(subject)
    may_be = is_person(subject, said)
    is_one = may_be and (" " in subject or subject.startswith("$") or subject in {"he", "she", "they"})
    return (axis.of == "thing" and not is_one) or (axis.of == "person" and may_be)


def _claims(subject: str, word: str, said: str, *, where: str = "", ended: bool = False) -> Iterator[Claim]:
    word = _ACTS.get(word, word)
    for axis in AXES:
        state = axis.words.get(word)
        if state is None or not _fits(axis, subject, said):
            continue
        place = "" if is_person(subject, said) or axis.of == "work" or where in _ALL_OF_THEM else where.casefold()
        states = list(dict.fromkeys(axis.words.values()))
        if ended and len(states) == 2:
            state, ended = states[1 - states.index(state)], False
        yield Claim(subject, f"{axis.name} {place}".strip(), state, ended=ended)
        return


def _state(subject: str, groups: Groups) -> Iterator[Claim]:
    if groups["v"] in {"found", "lost", "missing"} and "q" in groups:
        return
    if _is_for_a_day(groups) or (groups.get("q") not in _NO_WHERE and is_person(subject, groups["s"])):
        return
    yield from _claims(subject, groups["v"].casefold(), groups["s"], where=groups.get("q", ""), ended="not" in groups)


def _done(subject: str, groups: Groups) -> Iterator[Claim]:
    """*The ticket was merged*: what was done to it is how it is; only of what is worked on, and of what it ends."""
    if _PAST.search(groups["text"]) or (_is_for_a_day(groups) and not is_work(subject)):
        return
    happened = f" was {groups['v']}" not in groups["text"] and f" were {groups['v']}" not in groups["text"]
    if groups["v"] in _CHANGES or is_work(subject) or (happened and ("q" not in groups or "aux" in groups)):
        yield from _claims(subject, groups["v"].casefold(), groups["s"])


def _broke(subject: str, groups: Groups) -> Iterator[Claim]:
    """*The printer broke down*; what went down for an hour, or yesterday, may be up since."""
    if _FOR_A_WHILE.search(groups["text"]) is None:
        yield from _claims(subject, "broken", groups["s"])


_FOR_A_WHILE = re.compile(
    r"\b(?:for (?:an?|one|two|three|five|ten|some|\d+|about|almost)|briefly|last|yesterday|twice|once|during|when|"
    r"while|ago|overnight|until|but|before)\b"
)


def _is_for_a_day(groups: Groups) -> bool:
    """Tell whether something is so today or this week only: *the pool is closed this weekend*."""
    text = groups["text"]
    return groups["v"] in _FOR_A_DAY and is_passing(text) and _ANEW.search(text) is None


def _works(subject: str, groups: Groups) -> Iterator[Claim]:
    """*My laptop works again*, *the lift doesn't work*."""
    if "not" in groups or groups["verb"] == "works" or subject != groups["s"].casefold():
        yield from _claims(subject, "working", groups["s"], ended="not" in groups)


def _acted(subject: str, groups: Groups) -> Iterator[Claim]:
    """*We merged the patch*: it is merged."""
    what = subject_of(groups["o"])
    if what is not None:
        yield from _done(what, groups | {"v": groups["v"].casefold(), "s": groups["o"]})


def _turned(subject: str, groups: Groups) -> Iterator[Claim]:
    """*We turned the flag off in staging*."""
    what = subject_of(groups["o"])
    if what is not None:
        yield from _claims(what, groups["v"], groups["o"], where=groups.get("q", ""))


PATTERNS = (
    pattern(
        BEING + " has have got gone stays not longer",
        rf"^{SUBJECT}(?:{BE}| (?:has|have)(?: now| just| finally)*| got| stays)(?P<not> not| no longer)?"
        rf"(?: (?:now|fully|completely|still|finally))? (?P<v>{STATE})(?: again)?{_Q}{END}",
        _state,
    ),
    pattern(
        _DONE.replace("|", " "),
        rf"^{THING}(?P<aux>{BEEN}|{BE}| (?:just|finally|has|have))?(?: now)? (?P<v>{_DONE}){_Q}{END}",
        _done,
    ),
    pattern(
        "works work",
        rf"^{THING} (?:(?P<not>(?:do|does) not|no longer) )?(?:now |finally )?(?P<verb>works?)(?: again| fine| "
        rf"properly| now| well| perfectly)*{END}",
        _works,
    ),
    pattern(
        "pass passes fail fails",
        rf"^{THING} (?:now |still |all )*(?P<verb>pass|passes|fail|fails)(?: now| again)?{END}",
        lambda subject, groups: _claims(
            subject, "passing" if groups["verb"].startswith("pass") else "failing", groups["s"]
        ),
    ),
    pattern(
        "job",
        rf"^{SUBJECT} {ADV}(?:have|has|got|found|landed|started) (?:a|my|the|an?) (?:\w+ )?job{END}",
        lambda subject, groups: _claims(subject, "employed", groups["s"]),
    ),
    pattern(
        "back",
        rf"^{SUBJECT}(?: is| are| am| has been| have been)(?: now| finally| just)* back (?:at work|in the office|"
        rf"from (?:my |his |her )?"
        rf"(?:holiday|vacation|leave|maternity leave|parental leave|paternity leave|sick leave))\b",
        lambda subject, groups: _claims(subject, "back", groups["s"]),
    ),
    pattern(
        "girlfriend boyfriend partner fiance",
        rf"^{SUBJECT} {ADV}(?:have|has|got) a (?:new )?(?:girlfriend|boyfriend|partner){END}",
        lambda subject, groups: _claims(subject, "dating", groups["s"]),
    ),
    pattern(
        "seeing dating",
        rf"^{SUBJECT}{BE} (?:seeing|dating) (?:someone|somebody)",
        lambda subject, groups: _claims(subject, "dating", groups["s"]),
    ),
    pattern(
        "flu cold covid fever",
        rf"^{SUBJECT} {ADV}(?:have|has|got|caught) (?:the |a )?(?:bad )?(?:flu|cold|covid|fever)\b",
        lambda subject, groups: _claims(subject, "sick", groups["s"]),
    ),
    pattern(
        "died dead",
        rf"^{THING} {ADV}(?:died|passed away){END}",
        lambda subject, groups: _claims(subject, "dead", groups["s"]),
    ),
    pattern(
        "got had",
        rf"^{ACTOR} {ADV}(?:got|had) (?P<o>(?:the|my|our) [^.,;:!]+?) (?P<v>fixed|repaired|mended|renewed){END}",
        _acted,
    ),
    pattern(
        "found lost",
        rf"^(?:I|We) {ADV}(?P<v>found|lost) (?P<o>(?:my|our) [^.,;:!]+?){END}",
        _acted,
    ),
    pattern(
        "broke crashed died stopped went",
        rf"^{THING} {ADV}(?:broke(?: down)?|crashed|went down|stopped working|gave up the ghost)\b",
        _broke,
    ),
    pattern(
        "came went back",
        rf"^{SUBJECT} {ADV}(?:came back(?: up| online)?|went (?:back )?(?:online|live))\b",
        lambda subject, groups: _claims(
            subject, "live" if "live" in groups["text"] and is_work(subject) else "working", groups["s"]
        ),
    ),
    pattern(
        _DONE.replace("|", " "),
        rf"^(?:{ACTOR} {ADV})?(?P<v>(?i:{_DONE})) (?P<o>(?:the|my|our|your|his|her) [^.,;:!]+?|[A-Z]+-\d+|PR #?\d+|"
        rf"[a-z][\w-]*_\w+){_Q}{END}",
        _acted,
    ),
    pattern(
        "on off",
        rf"^(?:{ACTOR} {ADV}(?:had to )?)?(?i:turned|switched|(?<=to )switch|(?<=to )turn) (?P<o>(?:the |my |our "
        rf")?[^.,;:!]+?) (?P<v>on|off)"
        rf"(?: (?:in|for|on) (?P<q>[\w -]+?)| globally| everywhere)?{END}",
        _turned,
    ),
    pattern(
        "on off",
        rf"^(?:{ACTOR} {ADV}(?:had to )?)?(?i:turned|switched|(?<=to )switch|(?<=to )turn) (?P<v>on|off) "
        rf"(?P<o>(?:the |my |our )?[^.,;:!]+?)"
        rf"(?: (?:in|for|on) (?P<q>[\w -]+?)| globally| everywhere)?{END}",
        _turned,
    ),
)
