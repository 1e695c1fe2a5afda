"""What something costs, and what a number of it was changed to."""

from __future__ import annotations

import re
from collections.abc import Iterator

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
from vicw_ingest.extraction.rules.truth.making import changed, is_passing, of_attribute
from vicw_ingest.extraction.rules.truth.model import Claim
from vicw_ingest.extraction.rules.truth.subjects import CORE, NAME, SUBJECT, THING, attribute_of, subject_of
from vicw_ingest.extraction.rules.truth.values import MONEY, NUMBER

_STEPS = (
    r"changed|increased|raised|reduced|lowered|bumped|upgraded|downgraded|switched|updated|extended|shortened|"
    r"set|cut|doubled|moved|dropped|turned|put|brought|pushed|adjusted|halved|slashed|decreased|scaled|took|hiked"
)
_PER = (
    r"(?:(?:an?|per|each|every) (?:hour|day|night|week|month|quarter|year|lesson|session|page|person|head|seat|"
    r"word|piece|kilo|litre|user|visit))"
)
_PRICE = rf"(?P<v>(?:{MONEY}|\d[\d,.]*\d(?=[ .,;!)]|$)|\d+)(?: {_PER})?)"
_COSTS = rf"(?:{MONEY}|{NUMBER})(?: ?(?:%|[a-z]{{1,8}}\b))?"
"""A price or a number, with its unit."""
_GOODS = rf"(?P<s>(?:(?:[Mm]y|[Oo]ur|[Yy]our|[Tt]he|[Hh]is|[Hh]er|[Tt]heir|[Aa]n?) {CORE}|{NAME}(?: {CORE})?))"
_FREED = frozenset(
    "delivery shipping entry admission parking entrance ticket wifi wi-fi access membership breakfast".split()
)


def _priced(subject: str, groups: Groups) -> Iterator[Claim]:
    """*A haircut costs 18 euros*: where it is told, by where; not what it costs today only."""
    value = groups["v"]
    if is_passing(groups["text"]):
        return
    where = subject_of(groups["q"]) if "q" in groups else None
    subject = subject.removesuffix(" price")
    yield of_attribute(f"{where} {subject}" if where else subject, "price", value)


def _free(subject: str, groups: Groups) -> Iterator[Claim]:
    """*Delivery is free now*: its price is nothing."""
    if subject.rsplit(maxsplit=1)[-1] in _FREED:
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


def _went(subject: str, groups: Groups) -> Iterator[Claim]:
    """*The budget went from 900 to 1200 euros*: of attributes alone, since a train goes from one number to another."""
    if attribute_of(subject) is not None:
        yield from changed(subject, groups)


def _is_price(subject: str, groups: Groups) -> Iterator[Claim]:
    """*A coffee is 1.20*: of what is no attribute of another kind, and looks like a price."""
    looks = re.search(rf"\.|{_PER}", groups["v"]) or re.match(MONEY, groups["v"], re.I)
    if looks and attribute_of(subject) is None:
        yield from _priced(subject, groups)


PATTERNS = (
    # What something was changed to.
    pattern("went gone", rf"^{THING} {ADV}(?:went|gone) from (?P<u>{_COSTS}) to (?P<v>{_COSTS}){END}", _went),
    pattern("→ -> =>", rf"^{THING}:? (?:from )?(?P<u>{_COSTS}) ?(?:→|[-=]>) ?(?P<v>{_COSTS}){END}", changed),
    pattern(
        "changed increased raised reduced lowered bumped upgraded downgraded switched updated extended shortened "
        "set cut "
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
        _paid_to,
    ),
    pattern(
        "changed increased raised reduced lowered bumped upgraded downgraded switched updated extended shortened "
        "set cut "
        "doubled moved dropped turned put brought pushed adjusted halved slashed decreased scaled took hiked renamed",
        rf"^(?:{ACTOR} {ADV}|(?!(?i:set|put|cut)\b))(?i:{_STEPS}|renamed)(?: up| down)? {OBJECT}(?: up| down| "
        rf"back)? {FROM}(?:to|at) {V}",
        changed,
    ),
    pattern(
        "cost costs sells goes priced listed 's sell sold sale going selling",
        rf"^{_GOODS} {ADV}(?:costs?(?: us| me)?|sells for|goes for|is (?:now )?(?:priced at|listed at|on sale for|"
        rf"going for|selling for))"
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
        rf"^{SUBJECT} {ADV}(?:am |is |are )?(?:pay|pays|paying)(?: now)? {_PRICE} for (?P<o>(?:my|our|the|his|her) "
        rf"[^.,;:!]+?){END}",
        _charges,
    ),
    pattern(
        "pay pays paying",
        rf"^{SUBJECT} {ADV}(?:am |is |are )?(?:pay|pays|paying)(?: now)? (?P<o>(?:my|our|the) [^.,;:!]+?|{NAME}) "
        rf"{_PRICE}",
        _paid_to,
    ),
    pattern(
        "pay pays paying",
        rf"^{SUBJECT} {ADV}(?:am |is |are )?(?:pay|pays|paying)(?: now)? {_PRICE} (?:in|of) (?P<n>rent){END}",
        _paid_in,
    ),
    pattern("selling", rf"^I am (?:now )?selling (?P<s>my [^.,;:!]+?) for {_PRICE}", _priced),
    pattern("free", rf"^{THING}{BE} free(?: of charge)?(?: on| for|{END})", _free),
    pattern(BEING, rf"^{_GOODS}{BE} {_PRICE}{END}", _is_price),
)
