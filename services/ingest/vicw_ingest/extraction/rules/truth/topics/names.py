"""What something is called."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vicw_ingest.extraction.rules.truth.grammar import ACTOR, ADV, BE, BEEN, END, FROM, OBJECT, Groups, V, pattern
from vicw_ingest.extraction.rules.truth.making import of_attribute
from vicw_ingest.extraction.rules.truth.model import Claim
from vicw_ingest.extraction.rules.truth.nouns import POSTS
from vicw_ingest.extraction.rules.truth.subjects import SUBJECT, THING, attribute_of, subject_of

_RENAMED = r"(?:renamed|rebranded|retitled|rechristened)(?: from)?"
_GOES = (
    r"(?:(?:now )?(?:goes|went|go) by|(?:now )?trades as|has traded as|have traded as|(?:now )?performs? as|"
    r"(?:now )?operates? (?:as|under)|have performed as|has gone by)"
)


def _named(subject: str, groups: Groups) -> Iterator[Claim]:
    """What something is called; what goes by a name is found by that, too."""
    name = groups["v"]
    if name.islower() and " " in name and not name.startswith("the "):
        return
    part = attribute_of(subject)
    if part is not None and part[1] in POSTS:
        yield of_attribute(*part, name)
        return
    yield Claim(subject, "name", name)
    old = groups.get("u")
    for known in (old, None if old is not None else name):
        if known is not None and (other := subject_of(known)) is not None and other != subject:
            yield Claim(other, "name", name, also=True)


def _kind(subject: str, groups: Groups) -> Iterator[Claim]:
    """*We switched the default branch from master to trunk*: what is named by its old name is named anew."""
    if re.fullmatch(r"[\w#./-]+", groups["v"]):
        yield from _named(subject, groups)


PATTERNS = (
    pattern(
        "called named titled code-named codenamed registered published",
        rf"^{SUBJECT}{BE} (?:called|named|titled|code-named|codenamed|registered as|published as) {V}",
        _named,
    ),
    pattern(
        "goes go went gone trades traded trade performs perform performed operates operate",
        rf"^{SUBJECT} {ADV}{_GOES} (?:the name (?:of )?)?{V}",
        _named,
    ),
    pattern("call", rf"^[Ww]e (?:now |all )?call {OBJECT} (?P<v>[A-Z#\"“][^.,;:!]*?|[a-z0-9][\w.-]*){END}", _named),
    pattern(
        "renamed rebranded retitled rechristened",
        rf"^{THING}{BEEN} {_RENAMED} {FROM}(?:to |as |into )?{V}",
        _named,
    ),
    pattern(
        "renamed rebranded retitled",
        rf"^(?:{ACTOR} {ADV})?(?i:renamed|rebranded|retitled) (?P<s>(?:(?:my|our|the|his|her|their) )?[\w'’.#/+-]+"
        rf"(?: [\w'’.#/+-]+){{0,4}}?) {FROM}(?:to|as|into) "
        rf"(?:(?P<w>[\w#./-]*[_#./-][\w#./-]*\w)(?= (?:in|on|at|by|from)\b)|{V})",
        lambda subject, groups: _named(subject, groups | {"v": groups.get("w") or groups["v"]}),
    ),
    pattern("name", rf"^{SUBJECT} {ADV}changed (?:my|our|its|his|her|their|the) name {FROM}to {V}", _named),
    pattern(
        "name",
        rf"^(?:{ACTOR} {ADV})?(?i:changed|changing) (?:the name of {OBJECT}|(?P<t>(?:the|our|my) [\w -]+?)['’]s "
        rf"name) {FROM}to {V}",
        lambda subject, groups: _named(subject or subject_of(groups.get("t", "")) or "", groups),
    ),
    pattern(
        "switched changed",
        rf"^(?:{ACTOR} {ADV})?(?i:switched|changed) {OBJECT} from (?P<u>[a-z#][\w#./-]*) to {V}",
        _kind,
    ),
)
