"""Versions, ports, and whatever is an attribute in so many words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vicw_ingest.extraction.rules.truth.axes import STATES
from vicw_ingest.extraction.rules.truth.grammar import ADV, BE, BEING, END, Groups, V, pattern
from vicw_ingest.extraction.rules.truth.making import is_person, of_attribute, said
from vicw_ingest.extraction.rules.truth.model import Claim
from vicw_ingest.extraction.rules.truth.nouns import KIN, SEVERAL
from vicw_ingest.extraction.rules.truth.subjects import NAME, SUBJECT, THING, attribute_of, subject_of
from vicw_ingest.extraction.rules.truth.topics.counts import count_of
from vicw_ingest.extraction.rules.truth.values import MONEY, NUMBER, TIME, quantities

_SENTENCE = re.compile(r"\b(?:is|are|was|were|has|have|had|I|we|you|it|they|he|she)\b")


def _valued(subject: str, groups: Groups) -> Iterator[Claim]:
    """An attribute in so many words, or a number that its subject has: a price, an age, a size."""
    value = re.sub(r"^(?:a|an|at|to|set to|set at|called|named) ", "", groups["v"])
    part = attribute_of(subject)
    if part is not None and (part[0] or not value.islower() or quantities(value)):
        named = part[1].startswith("favourite") or part[1] in {"colour", "status"}
        if not named and (value in STATES or not _is_value(value)):
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
    r"(?:been|being|home|very|so|too|not|more|most|less|quite|really|pretty|rather|in|on|at|to|for|from|with|of|"
    r"by|about|"
    r"under|over|up|down|out|off|a|an|what|that|how|where|still|good|bad|great|high|low|higher|lower|nice|fine|better|"
    r"worse|best|important|essential|crucial|key|amazing|awesome|incredible|beautiful|huge|big|small|full|\w+ed|"
    r"\w+ing)\b"
)


def _is_one(subject: str, groups: Groups) -> Iterator[Claim]:
    """*The venue is Hall C now*: whatever is named, where it is told that this is another now."""
    head = subject.rsplit(maxsplit=1)[-1]
    if (
        attribute_of(subject) is None
        and head not in KIN
        and (not is_person(subject, groups.get("s", "")) or groups["s"].startswith("the "))
    ):
        yield Claim(subject, "identity", groups["v"], weak=True)


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
        yield count_of("", subject, value)


def _version(subject: str, groups: Groups) -> Iterator[Claim]:
    """*We run Postgres 15*, *We're on Python 3.12 now*: which version of it."""
    name = groups["n"].casefold()
    yield Claim("" if subject == "$speaker" else subject, f"version of {name}", groups["v"])


def _on(subject: str, groups: Groups) -> Iterator[Claim]:
    """*The router is on channel 6*: its channel."""
    yield Claim(subject, groups["n"], groups["v"])


def _limited(subject: str, groups: Groups) -> Iterator[Claim]:
    """*Attendance is capped at 40*: its limit."""
    yield Claim(subject, "limit", groups["v"])


PATTERNS = (
    pattern(
        "capped limited restricted",
        rf"^{SUBJECT}{BE} (?:capped at|limited to|restricted to) {V}",
        _limited,
    ),
    pattern(
        "channel version port plan level tier",
        rf"^{THING}{BE} (?:on|at) (?P<n>channel|version|port|plan|level|tier) (?P<v>[\w.-]+){END}",
        _on,
    ),
    pattern(
        "runs uses listens answers on port run use listen",
        rf"^{THING} {ADV}(?:runs on|uses|is on port|is on(?= \d{{4}})|listens (?:on|at)|answers on|runs at)(?: "
        rf"now)? (?:port )?(?P<v>\d{{2,5}})\b(?! %|%)",
        said("port"),
    ),
    pattern(
        "version",
        rf"^{SUBJECT} {ADV}(?:runs?|uses?|(?:is |are |am )?(?:now )?(?:on|at|running)|requires?|ships? with)(?: "
        rf"now)? version (?P<v>[\w.]+)",
        said("version"),
    ),
    pattern(
        "run runs use uses on running upgraded moved updated",
        rf"^{SUBJECT} {ADV}(?:runs?|uses?|(?:is|are|am) (?:now )?(?:on|running)|(?:been )?upgraded (?:from "
        rf"[^.,;:!]+? )?to|"
        rf"moved to|updated to)(?: now)? (?P<n>[A-Z][\w+#-]*) (?P<v>v?\d+(?:\.\d+)*)\b",
        _version,
    ),
    pattern(
        ": -",
        rf"^(?P<s>(?:[Tt]he |[Mm]y |[Oo]ur )?{NAME}(?: [\w-]+){{0,5}}|"
        rf"[A-Z][\w-]+(?: [\w-]+){{0,5}}): (?P<v>[^,;:!()]+?)(?=[,;:!()]|\.$|$)",
        _listed,
    ),
    pattern(BEING, rf"^{THING}{BE} {V}", _valued),
    pattern(
        BEING,
        rf"^{THING}{BE} (?:an? )?(?P<v>(?:Mr|Mrs|Ms|Dr) {NAME}|{NAME}|#[\w-]+|(?=\d*[A-Za-z])[\w-]*\d[\w.-]*){END}",
        _is_one,
    ),
)
