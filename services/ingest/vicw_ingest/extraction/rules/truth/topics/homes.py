"""Where somebody lives, and where something is."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vicw_ingest.extraction.rules.truth.grammar import (
    ACTOR,
    ADV,
    ANY,
    BE,
    BEEN,
    END,
    FROM,
    OBJECT,
    Groups,
    V,
    pattern,
)
from vicw_ingest.extraction.rules.truth.making import is_person, is_time, over, said
from vicw_ingest.extraction.rules.truth.model import Claim
from vicw_ingest.extraction.rules.truth.nouns import PLACED
from vicw_ingest.extraction.rules.truth.subjects import SUBJECT, THING, attribute_of
from vicw_ingest.extraction.rules.truth.tools import is_technical, is_tool
from vicw_ingest.extraction.rules.truth.values import HOUR, quantities

_PASSING = re.compile(
    r"\b(?:this (?:week|weekend|month)|tonight|on (?:a )?(?:business|holiday|trip|leave|tour)|until|till|trip|"
    r"for (?:a|an|the|some|two|three|four|my|our|his|her|work)\b|visit\w*|with (?:a|my|some) friends?)"
)
"""Who is there for a while does not live there."""
_IDIOMS = re.compile(
    r"(?:the (?:same|way|works|middle of|process|mood|air|dark|lead|red|future|past|end|market|mend|rise|edge|verge|"
    r"spot|road|run|go|job|phone|case|list|top of|right|wrong|hook|fence|brink|table|making|meantime|line)|"
    r"(?:a |an |good |bad |great |perfect )?(?:progress|hold|use|love|place|charge|danger|trouble|risk|time|fire|sale|"
    r"order|need|stock|line|touch|shape|mood|pain|bloom|effect|demand|hurry|mess|state|review|production|beta|alpha|"
    r"draft|testing|full swing|general|fact|particular|theory|control|fashion|force|peace|least|last|first|once|"
    r"work|school|home|all|best|top|track|board|schedule|point|stake|odds|ease|war|sea|my way|our way|his way|her way|"
    r"average|duty|call|leave|backlog|the backlog|the queue|queue|hospital|the hospital|strike|display|loan|offer|"
    r"english|german|french|spanish|python|java|rust|me|us|you|it)\b)",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"[A-Z]|\b(?:city|town|village|country|flat|house|apartment|place|room|countryside|coast|suburbs?|cent(?:re|"
    r"er)|street|"
    r"farm|island|abroad|district|floor|state)\b"
)
_NO_PLACE = re.compile(
    r"\b(?:team|department|group|role|position|squad|project|class|grade|seat|desk|chair|row|table|slot|plan|tier|"
    r"version|"
    r"branch|channel|folder|wiki|drive|topic|question|level|stage|phase|chapter|next)\b",
    re.IGNORECASE,
)
_TOGETHER = frozenset({"team", "company", "group", "department", "squad"})
"""Who works together: what they move to need be no place."""
_WHERE = (
    r"(?:(?:down|up|over|out|back|upstairs|downstairs) )?(?:in|at|on|by|next to|near|behind|under|above|opposite|"
    r"beside|"
    r"inside|outside|across from)"
)
_KEPT = (
    r"(?:located|situated|based|kept|stored|hosted|housed|parked|pitched|published|saved|archived|"
    r"found|stationed|installed|placed|running|held)"
)


def _home(subject: str, groups: Groups) -> Iterator[Claim]:
    """Where somebody lives or something is; of a meeting, when it is."""
    value = groups["v"]
    if is_time(value):
        if not subject.startswith("$"):
            yield Claim(subject, "schedule", value)
    elif (
        value[:1].isupper()
        or subject.startswith("$")
        or " " not in subject
        or not is_person(subject, groups.get("s", ""))
    ):
        yield Claim(subject, "home", value)


def _went(subject: str, groups: Groups) -> Iterator[Claim]:
    """*The office has moved to Unit 12*; of what is priced, dated or set, that is another thing's to tell."""
    if is_time(groups["v"]) or re.fullmatch(HOUR, groups["v"]) or _is_no_place(subject, groups):
        return
    if is_person(subject, groups.get("s", "")) and (not _PLACE.search(groups["v"]) or _NO_PLACE.search(groups["v"])):
        return
    if is_person(subject, groups.get("s", "")) or (
        not quantities(groups["v"]).keys() <= {"code"} and not groups["v"][:1].isupper()
    ):
        yield from _home(subject, groups) if groups["v"][:1].isupper() or subject.startswith("$") else ()
    elif attribute_of(subject) is None or groups["v"][:1].isupper():
        yield Claim(subject, "home", groups["v"])


def _is_no_place(subject: str, groups: Groups) -> bool:
    """Tell whether somebody took up a tool: *we moved to Kubernetes*; of a thing, that is where it is."""
    said = groups.get("s", "")
    if not is_person(subject, said):
        return False
    together = said.casefold() == "we" or subject.rpartition(" ")[2] in _TOGETHER
    return is_tool(groups["v"]) or (together and is_technical(groups["text"]))


def _stays(subject: str, groups: Groups) -> Iterator[Claim]:
    """*We're staying at my aunt's*: where somebody lives, as far as nobody says otherwise."""
    if not is_time(groups["v"]) and not _PASSING.search(groups["text"]):
        yield Claim(subject, "home", groups["v"], weak=True)


def _is_there(subject: str, groups: Groups) -> Iterator[Claim]:
    """*We're in Nara these days*: where somebody lives if it is so now, and where a thing is."""
    value = groups["v"]
    if (
        _is_no_place(subject, groups)
        or re.fullmatch(r"\d{1,2}|\d[\d,.]* ?(?:[a-z]+|%).*", value)
        or is_time(value)
        or _IDIOMS.match(value)
        or _PASSING.search(groups["text"])
    ):
        return
    placed = subject.rsplit(maxsplit=1)[-1] in PLACED
    if is_person(subject, groups.get("s", "")) and not placed:
        if value[:1].isupper() or re.search(r"\b(?:place|flat|house|apartment|room|studio)\b|['’]s$", value):
            lasting = groups.get("now") in {"these days", "nowadays"}
            if lasting or "now" not in groups:  # "We are in Rome now" may be a trip
                yield Claim(subject, "home", value, weak=not lasting)
    elif attribute_of(subject) is None and re.match(
        r"(?:the|my|our|your|a|an|his|her|their|room|unit|floor|level)\b|[A-Z#/~\d]|\w+[-/]\w*\d", value
    ):
        yield Claim(subject, "home", value, weak=not placed)


def _mine(subject: str, groups: Groups) -> Iterator[Claim]:
    """*My place is in Accra*: where the speaker lives."""
    if not is_time(groups["v"]):
        yield Claim("$speaker", "home", groups["v"])


PATTERNS = (
    pattern(
        "live lives out",
        rf"^{SUBJECT}(?: no longer lives? (?:in|at|with)| (?:do|does) not live (?:in|at|with)|"
        rf"(?: have| has)?(?: finally| just| recently| already)? moved out of) {V}",
        over("home"),
    ),
    pattern(
        "live lives living reside resides lived",
        rf"^{SUBJECT} {ADV}(?:lives?|resides?|(?:am |is |are )?living|(?:have |has )(?:now )?lived)(?: now)?"
        rf"(?: (?:up|down|over|out))? (?:in|at|near|on|with) {V}",
        _home,
    ),
    pattern("moving settled settle", rf"^{SUBJECT} {ADV}settled(?: down)? in {V}", _home),
    pattern(
        "moved relocated moving migrated",
        rf"^{SUBJECT} {ADV}(?:(?:been |was |were )?moved|relocated|migrated|moving)(?: back| away| over| house|"
        rf" out| in)? {FROM}(?:back |over |down |up )?(?:in)?to {V}",
        _went,
    ),
    pattern(
        "moved relocated migrated",
        rf"^{THING}{BEEN} (?:moved|relocated|migrated)(?: over)? {FROM}(?:in)?to {V}",
        _went,
    ),
    pattern(
        "moved relocated migrated",
        rf"^{ACTOR} {ADV}(?:moved|relocated|migrated) {OBJECT} {FROM}(?:over |back |up |down |out )?(?:in)?to {V}",
        _went,
    ),
    pattern(
        "staying stay renting rent",
        rf"^{SUBJECT}(?:{BE}|) (?:staying|stay|renting|rent)(?: now)? (?:in|at) {V}",
        _stays,
    ),
    pattern(
        "based located situated kept stored hosted housed parked pitched published saved archived stationed found "
        "installed placed running held",
        rf"^{SUBJECT}{BE} {_KEPT}(?: now)? (?:in|at|on|under|behind|near|by|next to|outside) {V}",
        _home,
    ),
    pattern(
        "in at on",
        rf"^(?P<s>[Mm]y) (?:new )?(?:place|home|flat|house|apartment){BE} (?:in|at|on) {V}",
        _mine,
    ),
    pattern(
        "in at on by near behind under above opposite beside inside outside next from",
        rf"^{SUBJECT}{BE} {_WHERE} (?P<v>{ANY}){END}",
        _is_there,
    ),
    pattern("find", rf"^You can (?:now )?find {OBJECT} (?:in|at|on) {V}", said("home")),
)
