"""Prices, counts, settings, versions, and whatever is an attribute in so many words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from vicw_ingest.extraction.rules.truth.grammar import (
    ABOUT,
    ACTOR,
    ADV,
    BE,
    BEEN,
    BEING,
    END,
    FROM,
    OBJECT,
    Groups,
    V,
    pattern,
)
from vicw_ingest.extraction.rules.truth.making import (
    changed,
    is_passing,
    is_person,
    measured,
    of_attribute,
    said,
    unit_of,
)
from vicw_ingest.extraction.rules.truth.model import Claim
from vicw_ingest.extraction.rules.truth.nouns import KIN, SEVERAL, UNCOUNTED
from vicw_ingest.extraction.rules.truth.subjects import CORE, NAME, SUBJECT, THING, attribute_of, singular, subject_of
from vicw_ingest.extraction.rules.truth.topics.states import STATES
from vicw_ingest.extraction.rules.truth.values import MONEY, NUMBER, TIME, quantities

_UNITS = (
    r"days?|hours?|minutes?|seconds?|weeks?|months?|years?|ms|[kmgt]i?b|%|percent|requests?|characters?|degrees?|"
    r"megabytes?|gigabytes?|km|kg|miles?|metres?|meters?"
)
_STEPS = (
    r"changed|increased|raised|reduced|lowered|bumped|upgraded|downgraded|switched|updated|extended|shortened|"
    r"set|cut|doubled|moved|dropped|turned|put|brought|pushed|adjusted|halved|slashed|decreased|scaled|took|hiked"
)
_PER = r"(?:(?:an?|per|each|every) (?:hour|day|night|week|month|quarter|year|lesson|session|page|person|head|seat|word|piece|kilo|litre|user|visit))"
_PRICE = rf"(?P<v>(?:{MONEY}|\d[\d,.]*\d(?=[ .,;!)]|$)|\d+)(?: {_PER})?)"
_GOODS = rf"(?P<s>(?:(?:[Mm]y|[Oo]ur|[Yy]our|[Tt]he|[Hh]is|[Hh]er|[Tt]heir|[Aa]n?) {CORE}|{NAME}(?: {CORE})?))"
_FREED = frozenset("delivery shipping entry admission parking entrance ticket wifi wi-fi access membership breakfast".split())
_SENTENCE = re.compile(r"\b(?:is|are|was|were|has|have|had|I|we|you|it|they|he|she)\b")
_COUNT = rf"{ABOUT}(?P<v>(?:(?:about|around|roughly|over|almost|nearly|more than) )?{NUMBER}) (?P<n>(?!(?:now|left|still|in|on|at|for|so|already|today|each|per|of|more|and|a|to|or|but|"
_COUNT += rf"again|as|if|until|by|with|when|yet|too)\b)[a-z][\w-]+(?: [a-z][\w-]+){{0,2}}?)"
_WHERE = r"(?: (?:in|on|at|for) (?P<w>(?:the|my|our) [^.,;:!]+?|[A-Z][\w-]+))?"


def _valued(subject: str, groups: Groups) -> Iterator[Claim]:
    """An attribute in so many words, or a number that its subject has: a price, an age, a size."""
    value = re.sub(r"^(?:a|an|at|to|set to|set at|called|named) ", "", groups["v"])
    part = attribute_of(subject)
    if part is not None and (part[0] or not value.islower() or quantities(value)):
        if value in STATES or (not part[1].startswith("favourite") and not _is_value(value)):
            return
        if part[1] == "name":
            yield Claim(part[0], "name", value)
            if (other := subject_of(value)) is not None and other != part[0] and part[0]:
                yield Claim(other, "name", value, also=True)
        else:
            yield of_attribute(*part, value, weak=part[1] in SEVERAL)
    elif re.match(MONEY, value, re.I):
        yield Claim(subject, "price", value)


def _is_value(value: str) -> bool:
    """Tell whether words are an attribute's value, and not what is said of it: *steeped in history*."""
    words = re.sub(r"^(?:the|my|our|his|her|their) ", "", value).split()
    if len(words) > 1 and re.match(r"[a-z]+(?:ed|ing)$", words[0]):
        return False
    return (
        not value.islower()
        or bool(quantities(value))
        or (len(words) <= _MOST_WORDS and _NO_VALUE.match(value) is None and " of " not in value)
    )


_MOST_WORDS = 3
_NO_VALUE = re.compile(
    r"(?:been|being|home|very|so|too|not|more|most|less|quite|really|pretty|rather|in|on|at|to|for|from|with|of|by|about|"
    r"under|over|up|down|out|off|a|an|what|that|how|where|still|good|bad|great|high|low|higher|lower|nice|fine|better|"
    r"worse|best|important|essential|crucial|key|amazing|awesome|incredible|beautiful|huge|big|small|full|\w+ed|\w+ing)\b"
)


def _is_one(subject: str, groups: Groups) -> Iterator[Claim]:
    """*The venue is Hall C now*: whatever is named, where it is told that this is another now."""
    head = subject.split()[-1]
    if attribute_of(subject) is None and head not in KIN and (not is_person(subject, groups.get("s", "")) or groups["s"].startswith("the ")):
        yield Claim(subject, "identity", groups["v"], weak=True)


def _priced(subject: str, groups: Groups) -> Iterator[Claim]:
    value = groups["v"]
    if "weak" in groups and "." not in value and not re.search(_PER, value) and not re.match(MONEY, value, re.I):
        return
    if is_passing(groups["text"]):
        return
    where = subject_of(groups["q"]) if "q" in groups else None
    subject = subject.removesuffix(" price")
    yield of_attribute(f"{where} {subject}" if where else subject, "price", value)


def _free(subject: str, groups: Groups) -> Iterator[Claim]:
    """*Delivery is free now*: its price is nothing."""
    if subject.split()[-1] in _FREED:
        yield Claim(subject, "price", "0")


def _paid_to(subject: str, groups: Groups) -> Iterator[Claim]:
    """*We pay Norvik Hosting 210 euros a month*, *I pay 60 a month for my gym*."""
    whom = subject_of(groups["o"])
    if whom is not None:
        part = attribute_of(whom)
        yield of_attribute(*part, groups["v"]) if part is not None else Claim(whom, "price", groups["v"])


def _paid_in(subject: str, groups: Groups) -> Iterator[Claim]:
    """*I pay 640 in rent*."""
    yield of_attribute(subject, groups["n"], groups["v"])


def _charges(subject: str, groups: Groups) -> Iterator[Claim]:
    """*Lena charges 45 an hour for piano lessons*: by what it is for."""
    what = subject_of(groups["o"]) if "o" in groups else None
    yield Claim(f"{subject} {what}" if what else subject, "price", groups["v"])


def _listed(subject: str, groups: Groups) -> Iterator[Claim]:
    """*Default model: minnow-small*, as in notes and settings."""
    value, part = groups["v"], attribute_of(subject)
    if _SENTENCE.search(value) or (part is not None and not part[0]):
        return
    if part is not None and part[1] == "name":
        yield Claim(part[0], "name", value)
    elif part is not None:
        yield of_attribute(*part, value)
    elif re.match(MONEY, value, re.I):
        yield Claim(subject, "price", value)
    elif re.match(rf"(?:on |at )?{TIME}", value, re.I):
        yield Claim(subject, "schedule", value)
    elif re.fullmatch(NUMBER, value) and groups["s"].endswith("s"):
        yield _count("", subject, value)


def _counted(subject: str, groups: Groups) -> Iterator[Claim]:
    """How many of something there are."""
    words = groups["n"].casefold().split()
    if words[-1] in UNCOUNTED or words[0] in UNCOUNTED:
        return
    where = subject_of(groups["w"]) if "w" in groups else None
    yield _count(where or subject, groups["n"], groups["v"])


def _count(subject: str, noun: str, value: str) -> Claim:
    return Claim(subject, "count of " + " ".join(singular(word) for word in noun.casefold().split()), value)


def _there(subject: str, groups: Groups) -> Iterator[Claim]:
    """*There are six tests in the suite*."""
    for claim in _counted("", groups):
        yield replace(claim, weak=not claim.subject)


def _number(subject: str, groups: Groups) -> Iterator[Claim]:
    """*The number of open issues is 87*."""
    yield _count("", groups["n"], groups["v"])


def _rated(subject: str, groups: Groups) -> Iterator[Claim]:
    """*I run 20 km a week*: by the verb, the unit and the time."""
    verb = re.sub(r"(?:n?ning|ing|s|e)$", "", groups["verb"])
    if not re.match(MONEY, f"{groups['v']} {groups['n']}", re.I):
        yield Claim(subject, f"{verb} {singular(groups['n'].casefold())} {groups['per']}", groups["v"])


def _amount(subject: str, groups: Groups) -> Iterator[Claim]:
    """What a number with a unit says of a thing: *the build takes 10 minutes*."""
    part = attribute_of(subject)
    if part is not None:
        yield of_attribute(*part, groups["v"])
    elif not is_person(subject, groups.get("s", "")) or not subject.startswith("$"):
        yield Claim(subject, unit_of(groups["v"]), groups["v"], weak="takes" in groups)


def _level(subject: str, groups: Groups) -> Iterator[Claim]:
    """*The suite is down to 4 minutes*, *Mr Adeyemi is down to 9 hens*: an amount of it, or a count of what it has."""
    value = f"{groups['v']} {groups.get('n', '')}".strip()
    if "n" in groups and unit_of(value) == "amount":
        yield from _counted(subject, groups)
    elif (found := measured(subject, value)) is not None:
        yield found


def _version(subject: str, groups: Groups) -> Iterator[Claim]:
    """*We run Postgres 15*, *We're on Python 3.12 now*: which version of it."""
    name = groups["n"].casefold()
    yield Claim("" if subject == "$speaker" else subject, f"version of {name}", groups["v"])


def _upgraded(subject: str, groups: Groups) -> Iterator[Claim]:
    yield from _version(subject, groups)


PATTERNS = (
    # What something was changed to.
    pattern(
        "changed increased raised reduced lowered bumped upgraded downgraded switched updated extended shortened set cut "
        "doubled moved dropped turned put brought pushed adjusted halved slashed decreased scaled took hiked",
        rf"^{THING}(?:{BEEN}|{BE}) (?:{_STEPS})(?: up| down| back)?(?: again)? {FROM}(?:to|at) {V}",
        changed,
    ),
    pattern(
        "went rose increased dropped fell jumped climbed gone changed grew shrank risen fallen grown go come came",
        rf"^{THING} {ADV}(?:went (?:up|down)|rose|increased|dropped|fell|jumped|climbed|gone (?:up|down)|"
        rf"changed|grew|shrank|risen|fallen|grown|came down|come down) {FROM}to {V}",
        changed,
    ),
    pattern(
        "price cost fee rent rate",
        rf"^{SUBJECT} {ADV}(?:put|raised|increased|lowered|cut|dropped|reduced|brought|set) (?:up |down )?the (?:\w+ )?"
        rf"(?P<p>price|cost|fee|rate)s? (?:of|for) (?P<o>[^.,;:!]+?)(?: up| down)? {FROM}(?:up to|down to|to|at) {V}",
        lambda subject, groups: _paid_to(subject, groups),
    ),
    pattern(
        "changed increased raised reduced lowered bumped upgraded downgraded switched updated extended shortened set cut "
        "doubled moved dropped turned put brought pushed adjusted halved slashed decreased scaled took hiked renamed",
        rf"^(?:{ACTOR} {ADV}|(?!(?i:set|put|cut)\b))(?i:{_STEPS}|renamed)(?: up| down)? {OBJECT}(?: up| down| back)? {FROM}(?:to|at) {V}",
        changed,
    ),
    pattern(
        "channel version port plan level tier",
        rf"^{THING}{BE} (?:on|at) (?P<n>channel|version|port|plan|level|tier) (?P<v>[\w.-]+){END}",
        lambda subject, groups: iter([Claim(subject, groups["n"], groups["v"])]),
    ),
    # Prices.
    pattern(
        "cost costs sells goes priced listed 's sell sold sale going selling",
        rf"^{_GOODS} {ADV}(?:costs?(?: us| me)?|sells for|goes for|is (?:now )?(?:priced at|listed at|on sale for|going for|selling for))"
        rf"(?: now)? {ABOUT}{_PRICE}(?: per [\w-]+)?(?: (?:in|at|for) (?P<q>(?:(?:the|our|my) )?[^.,;:!]+?){END})?",
        _priced,
    ),
    pattern(
        "costs charges charge",
        rf"^{SUBJECT} {ADV}charges?(?: now)? {_PRICE} for (?P<o>[^.,;:!]+?){END}",
        _charges,
    ),
    pattern(
        "charges charge takes take",
        rf"^{SUBJECT} {ADV}(?:charges?|takes?)(?: now)? (?P<v>(?:{MONEY}|{NUMBER}) {_PER})",
        _charges,
    ),
    pattern(
        "pay pays paying",
        rf"^{SUBJECT} {ADV}(?:am |is |are )?(?:pay|pays|paying)(?: now)? {_PRICE} for (?P<o>(?:my|our|the|his|her) [^.,;:!]+?){END}",
        _charges,
    ),
    pattern(
        "pay pays paying",
        rf"^{SUBJECT} {ADV}(?:am |is |are )?(?:pay|pays|paying)(?: now)? (?P<o>(?:my|our|the) [^.,;:!]+?|{NAME}) {_PRICE}",
        _paid_to,
    ),
    pattern(
        "pay pays paying",
        rf"^{SUBJECT} {ADV}(?:am |is |are )?(?:pay|pays|paying)(?: now)? {_PRICE} (?:in|of) (?P<n>rent){END}",
        _paid_in,
    ),
    pattern("selling", rf"^I am (?:now )?selling (?P<s>my [^.,;:!]+?) for {_PRICE}", _priced),
    pattern("free", rf"^{THING}{BE} free(?: of charge)?(?: on| for|{END})", _free),
    pattern(
        "runs uses listens answers on port run use listen",
        rf"^{THING} {ADV}(?:runs on|uses|is on port|is on(?= \d{{4}})|listens (?:on|at)|answers on|runs at)(?: now)? (?:port )?(?P<v>\d{{2,5}})\b(?! %|%)",
        said("port"),
    ),
    pattern(
        "version",
        rf"^{SUBJECT} {ADV}(?:runs?|uses?|(?:is |are |am )?(?:now )?(?:on|at|running)|requires?|ships? with)(?: now)? version (?P<v>[\w.]+)",
        said("version"),
    ),
    pattern(
        "run runs use uses on running upgraded moved updated",
        rf"^{SUBJECT} {ADV}(?:runs?|uses?|(?:is|are|am) (?:now )?(?:on|running)|(?:been )?upgraded (?:from [^.,;:!]+? )?to|"
        rf"moved to|updated to)(?: now)? (?P<n>[A-Z][\w+#-]*) (?P<v>v?\d+(?:\.\d+)*)\b",
        _upgraded,
    ),
    pattern(BEING, rf"^{_GOODS}{BE} (?P<v>{MONEY}(?: {_PER})?)", _valued),
    pattern(
        BEING,
        rf"^{_GOODS}{BE} {_PRICE}{END}",
        lambda subject, groups: _priced(subject, groups | {"weak": ""}) if attribute_of(subject) is None else iter(()),
    ),
    pattern(
        ": -",
        rf"^(?P<s>(?:[Tt]he |[Mm]y |[Oo]ur )?{NAME}(?: [\w-]+){{0,5}}|"
        rf"[A-Z][\w-]+(?: [\w-]+){{0,5}}): (?P<v>[^,;:!()]+?)(?=[,;:!()]|\.$|$)",
        _listed,
    ),
    # Counts.
    pattern("there", rf"^There (?:are|is|were)(?: now| only| just| currently| still)* {_COUNT}{_WHERE}{END}", _there),
    pattern(
        "there",
        rf"^There (?:are|is)(?: now| only| just| currently| still)* {_COUNT} (?:in|on|at|left in|of us (?:on|in)) (?P<s>(?:the|my|"
        rf"our) [^.,;:!]+?){END}",
        _counted,
    ),
    pattern(
        "have has own owns got employs employ keeps keep contains contain includes include holds hold at run runs "
        "teaches operates",
        rf"^{SUBJECT} {ADV}(?:ha(?:ve|s)(?: got)?|own|owns|got|employs?|keeps?|contains?|includes?|holds?|runs?|teaches|operates?|"
        rf"is (?:now )?at) {ADV}{_COUNT}{_WHERE}{END}",
        _counted,
    ),
    pattern("number", rf"^The (?:total )?number of (?P<n>[a-z][\w -]+?)(?:{BE}| (?:now )?stands) (?:at |now )*(?P<v>{NUMBER}){END}", _number),
    pattern("still", rf"^(?i:only |just )*(?P<v>{NUMBER}) (?P<n>(?:\w+ )?[a-z]+)(?: (?:are|is|remain)) (?:still )?(?P<a>open|left|missing|free){END}",
            lambda subject, groups: iter([_count("", f"{groups['a']} {groups['n']}", groups["v"])])),
    pattern(
        "down up",
        rf"^{SUBJECT}(?:{BE}| went| {ADV}gone| {ADV}dropped| {ADV}got)(?: back)? (?:down|up) to {ABOUT}(?P<v>{NUMBER})(?: (?P<n>[a-z%][\w-]*))?{END}",
        _level,
    ),
    pattern(
        "a per every each",
        rf"^{SUBJECT} {ADV}(?:am |is |are )?(?P<verb>[a-z]+?)(?: now)? {ABOUT}(?P<v>{NUMBER}) (?P<n>[a-z]+) (?:an?|per|every|each) "
        rf"(?P<per>day|week|month|year|night){END}",
        _rated,
    ),
    pattern(
        "takes take lasts last weighs weigh measures stands",
        rf"^{SUBJECT} {ADV}(?:(?P<takes>takes?|lasts?)|weighs?|measures?|stands at)(?: now)? {ABOUT}(?P<v>{NUMBER} ?(?:{_UNITS}))(?!\w)",
        _amount,
    ),
    pattern("at on", rf"^{THING}{BE} (?:at|on|set to|set at) {ABOUT}(?P<v>{NUMBER} ?(?:percent|per cent|%|degrees?)?)(?!\w|:)", lambda s, g: iter([c]) if (c := measured(s, g["v"])) is not None else iter(())),
    # Whatever is an attribute in so many words.
    pattern(BEING, rf"^{THING}{BE} {V}", _valued),
    pattern(
        BEING,
        rf"^{THING}{BE} {ABOUT}(?P<v>{NUMBER} ?(?:{_UNITS}){END})",
        _amount,
    ),
    pattern(BEING, rf"^{THING}{BE} (?:an? )?(?P<v>(?:Mr|Mrs|Ms|Dr) {NAME}|{NAME}|#[\w-]+|(?=\d*[A-Za-z])[\w-]*\d[\w.-]*){END}", _is_one),
)
