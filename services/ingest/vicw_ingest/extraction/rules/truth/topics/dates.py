"""When something is, begins and ends, and what is called off."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vicw_ingest.extraction.rules.truth.grammar import (
    ACTOR,
    ADV,
    ANY,
    BE,
    BEEN,
    BEING,
    END,
    FROM,
    OBJECT,
    Groups,
    pattern,
)
from vicw_ingest.extraction.rules.truth.grammar import V as VALUE
from vicw_ingest.extraction.rules.truth.making import changed, is_passing, is_person, is_time, of_attribute, over
from vicw_ingest.extraction.rules.truth.model import Claim
from vicw_ingest.extraction.rules.truth.nouns import PLANNED
from vicw_ingest.extraction.rules.truth.subjects import SUBJECT, THING, attribute_of, subject_of
from vicw_ingest.extraction.rules.truth.values import HOUR, NUMBER, TIME

_TIMES = rf"(?P<v>(?:the (?:\w+ )?)?{TIME}(?:[ ,]+(?:at |on |the |of )*{TIME})*)"
_PUT_OFF = (
    r"(?:moved|postponed|pushed(?: back| out)?|rescheduled|brought forward|delayed|shifted|moved (?:up|back|forward)|"
    r"put (?:off|back)|extended|changed|bumped|deferred|pulled forward|set back)"
)
_BEGINS = (
    r"(?:starts?|begins?|meets?|takes? place|happens?|runs?|leaves?|departs?|arrives?|falls? on|kicks? off|lands?)"
)
_DAILY = (
    r"(?:opens?|(?:is|are)(?: now)? (?:collected|picked up|delivered|served|emptied|cleaned|watered|paid|released|"
    r"published|"
    r"updated|run|held|sent|backed up|restarted)|comes?(?: out)?|goes?(?: off| out)?|airs?|trains?|rehearses?|"
    r"practises?|"
    r"gets? (?:collected|delivered|paid)|rings?|flies|fly)"
)


def _scheduled(subject: str, groups: Groups) -> Iterator[Claim]:
    """When something is."""
    if is_time(groups["v"]) and not is_passing(groups["text"]) and not _of_somebody(subject):
        subject = re.sub(r"(?<=\w) (?:due date|start date|start time|date|time|start)$", "", subject)
        part = attribute_of(subject)
        yield of_attribute(*part, groups["v"]) if part is not None else Claim(subject, "schedule", groups["v"])


def _of_somebody(subject: str) -> bool:
    return subject in {"$speaker", "$addressee", "he", "she", "they"}


def _daily(subject: str, groups: Groups) -> Iterator[Claim]:
    """When something is done, by what is done: the shop opens at nine, the rubbish is collected on Mondays."""
    verb = re.sub(r"^(?:is|are) (?:now )?|s$", "", groups["verb"])
    if not is_passing(groups["text"]):
        yield Claim(subject, "schedule" if verb in {"run", "held"} else f"time of {verb}", groups["v"])


def _appointed(subject: str, groups: Groups) -> Iterator[Claim]:
    """*I have a dentist appointment on Monday*; there may be another."""
    what = subject_of(f"my {groups['o']}")
    if what is not None and what.split()[-1] in PLANNED:
        yield Claim(what, "schedule", groups["v"], weak=True)


def _ends(subject: str, groups: Groups) -> Iterator[Claim]:
    """*The library closes at six*."""
    if not is_passing(groups["text"]):
        yield Claim(subject, "end", groups["v"])


def _open_until(subject: str, groups: Groups) -> Iterator[Claim]:
    """*The pool is open until nine*."""
    yield from _ends(subject, groups | {"v": groups["v"] if is_time(groups["v"]) else f"at {groups['v']}"})


def _we_meet(subject: str, groups: Groups) -> Iterator[Claim]:
    if not is_passing(groups["text"]):
        yield Claim(subject, "time of meet", groups["v"])


def _every(subject: str, groups: Groups) -> Iterator[Claim]:
    """*Passwords expire after 90 days*, *backups run every hour*: by the verb."""
    verb = re.sub(r"^(?:is|are) (?:now )?|(?<=[^s])s$", "", groups["verb"])
    value = groups["v"] if re.match(NUMBER, groups["v"], re.I) else f"1 {groups['v']}"
    if not _of_somebody(subject):
        yield Claim(subject, f"time of {verb} {groups['how']}", value)


def _called_off(subject: str, groups: Groups) -> Iterator[Claim]:
    """*The match is off*."""
    if subject.rpartition(" ")[2] in PLANNED:
        yield Claim(subject, "schedule", "", ended=True)


def _put(subject: str, groups: Groups) -> Iterator[Claim]:
    """*We moved the call to Thursday*: only what is a time."""
    if re.fullmatch(HOUR, groups["v"]):
        groups = groups | {"v": f"at {groups['v']}"}
    if (is_time(groups["v"]) and not is_person(subject, groups.get("s", ""))) or (
        is_time(groups["v"]) and re.match(r"[a-z]", subject) and " " not in subject
    ):
        yield from changed(subject, groups)


PATTERNS = (
    pattern(
        "moved postponed pushed rescheduled brought delayed shifted put extended changed bumped deferred pulled set",
        rf"^{THING}{BEEN} {_PUT_OFF}(?: again| once more)?(?: by [^.,;:!]+?)? {FROM}(?:to|until|till|for) {VALUE}",
        _put,
        planned=True,
    ),
    pattern(
        "moved postponed pushed rescheduled brought delayed shifted put extended changed bumped deferred pulled "
        "reschedule move postpone push shift",
        rf"^(?:{ACTOR} {ADV}(?:had to )?)?(?i:moved|postponed|pushed(?: back)?|rescheduled|brought forward|delayed|"
        rf"shifted|put off|extended|changed|bumped|deferred|pulled forward|(?<=had to )(?:reschedule|move|postpone|"
        rf"push|shift)) "
        rf"{OBJECT}(?: back| forward| up| out)? {FROM}(?:to|until|till|for) {VALUE}",
        _put,
        planned=True,
    ),
    pattern(
        "moved slipped shifted changed",
        rf"^{THING}(?: has| have)?(?: now| just| recently)? (?:moved|slipped|shifted|changed) {FROM}(?:to|until) "
        rf"{VALUE}",
        _put,
        planned=True,
    ),
    pattern(
        "cancelled canceled off scrapped",
        rf"^{THING}(?:{BEEN}|{BE}) (?:cancell?ed|called off|scrapped)\b",
        over("schedule"),
    ),
    pattern(
        "cancelled canceled called",
        rf"^(?:{ACTOR} {ADV}(?:had to )?)?(?i:cancell?ed|called off) (?P<s>(?:the|my|our) [^.,;:!]+?){END}",
        over("schedule"),
    ),
    pattern(
        BEING + " be",
        rf"^{THING}(?:{BE}| will be| will now be|{BE} (?:due|scheduled|set|planned|booked|fixed)(?: for)?)"
        rf"(?: held)? (?:(?:on|for|in|by|at|every) )?{_TIMES}",
        _scheduled,
        planned=True,
    ),
    pattern(
        "start starts begin begins meet meets take takes happen happens run runs leave leaves depart departs arrive "
        "arrives fall falls kick kicks land lands",
        rf"^{SUBJECT} (?:will )?(?:now )?{_BEGINS}(?: now)? (?P<v>(?:(?:on|at|in|every) )?{ANY}){END}",
        _scheduled,
        planned=True,
    ),
    pattern(
        "close closes end ends shut shuts finish finishes",
        rf"^{THING} (?:now )?(?:closes?|ends?|shuts?|finish(?:es)?)(?: now)?(?: (?:on|at|in))? {_TIMES}",
        _ends,
    ),
    pattern("until till", rf"^{THING}{BE} open (?:until|till) (?P<v>{TIME}|{HOUR})", _open_until),
    pattern("meet meets", rf"^(?P<s>We) (?:now )?meet(?: now)? (?:on |every )?(?:the )?{_TIMES}", _we_meet),
    pattern(
        "on at every",
        rf"^{THING} (?:now )?(?P<verb>{_DAILY})(?: now)? (?:on |at |every )?(?:the )?{_TIMES}",
        _daily,
    ),
    pattern(
        "after every within",
        rf"^{SUBJECT} (?:now )?(?P<verb>(?:is |are )?(?:now )?[a-z]+)(?: now)? (?P<how>after|every|within) "
        rf"(?P<v>(?:{NUMBER} )?(?:seconds?|minutes?|hours?|days?|nights?|weeks?|months?|years?)){END}",
        _every,
    ),
    pattern(
        "have has",
        rf"^(?P<s>I|We) (?:have|have got) (?:a|an|my|our|the) (?P<o>[\w' -]+?) (?:on|at) (?:the )?{_TIMES}",
        _appointed,
    ),
    pattern("off", rf"^{THING}{BE} off\b(?! (?:the|to|at|limits))", _called_off),
)
