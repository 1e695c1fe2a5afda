"""The claims of a sentence: patterns of plain cases, the first that fits.

English. Patterns are of the language (verbs of moving, naming, setting, owning …), each with the attribute that it tells.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from vicw_ingest.extraction.rules.truth.model import Claim
from vicw_ingest.extraction.rules.truth.moods import hearsay, is_asserted, is_future
from vicw_ingest.extraction.rules.truth.nouns import OCCUPATIONS, OWNED, PLACED, POSTS, STATES, STATIVES, UNCOUNTED
from vicw_ingest.extraction.rules.truth.subjects import CORE as _CORE
from vicw_ingest.extraction.rules.truth.subjects import NAME, SUBJECT, THING, attribute_of, subject_of
from vicw_ingest.extraction.rules.truth.values import MONEY, NUMBER, TIME, quantities
from vicw_shared.language.analysis import Sentence

type Made = Callable[[str, dict[str, str]], Iterator[Claim]]

_ADV = r"(?:(?:now|currently|still|just|recently|already|finally|actually|officially|only|always|since|have|has|['’]ve|['’]s|had) )*"
_BE = r"(?:(?: is| are| am|['’]s|['’]re|['’]m| has been| have been|['’]s been|['’]ve been| has become| became)(?: (?:now|currently|still|just|already|officially|actually|back|finally|exactly|only))*)"
_BEEN = r"(?: (?:was|were|is|are|got|gets|has been|have been|had been|has|have)|['’]s been|['’]ve been)(?: (?:just|now|recently|officially|finally))*"
_END = r"(?=[.,:](?!\d)|[;!)]|$| (?:now|since|because|and|but|after|before|again|these|instead|with|as|so|while|when|from now|by now|anymore|any more|for|until|where|who|which|this|last|again|any longer|at last|these days|today|yesterday|on (?i:mon|tues|wednes|thurs|fri|satur|sun)day|in (?i:january|february|march|april|may|june|july|august|september|october|november|december))\b)"
_ANY = r"(?:[^.,;:!()]|[.,:](?=\d))+?"
_V = rf"(?P<v>{_ANY}){_END}"
_FROM = r"(?:from (?P<u>[^.,;:!]+?) )?"
_PARTS = re.compile(
    r"(?:[,;:–—.]|\s-)\s+(?:so |and |but |as |then )?(?:now )?|\s(?:and|so|but|because|since)\s(?=(?:I|[Ww]e|[Mm]y|[Oo]ur|the|he|she|it)\b)"
)
_ACTOR = re.compile(rf"(?:I|We|{NAME})(?= (?!and\b))")
_AND = re.compile(
    r" and (?=(?:now |just |then |have |has )?(?:joined|moved|started|became|switched|sold|bought|renamed|left|work|works|live|lives)\b)"
)
_STEPS = r"changed|increased|raised|reduced|lowered|bumped|upgraded|downgraded|switched|updated|extended|shortened|set|cut|doubled|moved"


def claims(sentence: Sentence) -> list[Claim]:
    """Return what a sentence claims of attributes; most claim nothing."""
    source, text = hearsay(_expanded(_written(sentence)))
    text = re.sub(r"^(?:(?i:Well|Oh|So|And|But|Actually|By the way|Btw|FYI|Update|News|Also|Yes|No|Yeah|Good news|Anyway|Now|Ok|Okay|"
                  r"As of (?:today|now|this \w+)|Since \w+|From now on|These days|Today|Yesterday|Last \w+|This \w+),? )+", "", text)  # fmt: skip
    if not is_asserted(text):
        return []
    parts = [part for part in _PARTS.split(text) if part]
    if (who := _ACTOR.match(text)) is not None:
        parts += [f"{who[0]} {rest}" for rest in _AND.split(text)[1:]]
    future = is_future(text)
    found = list(dict.fromkeys(claim for part in (text, *parts[1:]) for claim in _claims(_capital(part), future)))
    return [replace(claim, source=source) for claim in found]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _expanded(text: str) -> str:
    """Return a sentence without the contractions that hide a verb."""
    text = re.sub(r"\b([Ii])['’]m\b", r"\1 am", text)
    text = re.sub(r"\b(I|[Ww]e|[Tt]hey|[Yy]ou)['’]ve\b", r"\1 have", text)
    text = re.sub(r"\b([Ww]e|[Tt]hey|[Yy]ou)['’]re\b", r"\1 are", text)
    text = re.sub(r"\b([Hh]e|[Ss]he|[Ii]t)['’]s\b", r"\1 is", text)
    text = re.sub(r"\b(\w+)['’]s (?=(?:now|been|still|a|an|the|in|on|at|called|no longer|not)\b)", r"\1 is ", text)
    text = re.sub(r"(?<=\w)n['’]t\b", " not", text)
    return _capital(text.strip())


def _claims(text: str, future: bool) -> list[Claim]:
    for pattern, made, planned in _PATTERNS:
        if future and not planned:
            continue
        match = pattern.match(text)
        if match is None:
            continue
        groups = {name: value.strip(" .") for name, value in match.groupdict().items() if value is not None}
        subject = subject_of(groups["s"]) if "s" in groups else ""
        found = list(made(subject, groups)) if subject is not None else []
        if found:
            return found
    return []


def _written(sentence: Sentence) -> str:
    text, end = "", None
    for word in sentence.words:
        text += ("" if end is None or word.start == end else " ") + word.text
        end = word.end
    return text


def _is_time(value: str) -> bool:
    return (
        bool(quantities(value).keys() & {"clock", "day", "date"})
        or re.fullmatch(rf"(?:{TIME})", value, re.I) is not None
    )


def _said(attribute: str) -> Made:
    def made(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
        yield Claim(subject, attribute, groups["v"])

    return made


def _over(attribute: str) -> Made:
    def made(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
        yield Claim(subject, attribute, groups.get("v", ""), ended=True)

    return made


def _home(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
    if _is_time(groups["v"]):
        yield Claim(subject, "schedule", groups["v"])
    elif groups["v"][:1].isupper() or subject.startswith("$") or " " not in subject:
        yield Claim(subject, "home", groups["v"])


def _placed(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
    if subject.rsplit(maxsplit=1)[-1] in PLACED:
        yield Claim(subject, "schedule" if _is_time(groups["v"]) else "home", groups["v"])


def _employed(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
    if groups["v"][:1].isupper() or groups["v"].startswith(("a ", "the ", "an ")):
        yield Claim(subject, "employer", groups["v"])


def _occupation(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
    words = groups["v"].casefold().split()
    if words and words[-1] in OCCUPATIONS:
        yield Claim(subject, "occupation", groups["v"])


def _named(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
    yield Claim(subject, "name", groups["v"])
    if (old := groups.get("u")) is not None:
        yield Claim(old.casefold(), "name", groups["v"])


def _valued(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
    """An attribute in so many words, or a number that its subject has: a price, an age, a size."""
    value = re.sub(r"^(?:a|an|at|to|set to|called|named) ", "", groups["v"])
    part = attribute_of(subject)
    if part is not None:
        yield _of_attribute(*part, value)
    elif re.match(MONEY, value, re.I):
        yield Claim(subject, "price", value)


def _of_attribute(subject: str, attribute: str, value: str) -> Claim:
    attribute = {"cost": "price", "fee": "price", "color": "colour"}.get(attribute, attribute)
    return Claim(subject, attribute, value)


def _changed(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
    value = groups["v"]
    part = attribute_of(subject)
    if _is_time(value) and not (part and part[1] not in {"deadline"}):
        yield Claim(subject, "schedule", value)
    elif part is not None:
        yield _of_attribute(*part, value)
    elif re.match(MONEY, value, re.I):
        yield Claim(subject, "price", value)
    elif re.match(NUMBER, value, re.I) or "u" in groups:
        yield Claim(subject, "setting", value)


def _post(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
    """*Ana is the new captain of the team*: the captain of the team is Ana."""
    post = subject_of(groups["p"])
    part = attribute_of(post) if post is not None else None
    if part is not None and part[1] in POSTS:
        yield Claim(part[0], part[1], groups["s"])


def _holder(attribute: str) -> Made:
    def made(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
        what = subject_of(groups["o"])
        if what is not None:
            yield Claim(what, attribute, groups["s"])

    return made


def _held(attribute: str) -> Made:
    def made(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
        yield Claim(subject, attribute, groups["v"])

    return made


def _aged(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
    part = attribute_of(subject)
    if part is not None:
        yield _of_attribute(*part, groups["v"])
    elif subject.startswith("$") or groups["s"][:1].isupper():
        yield Claim(subject, "age", groups["v"])


def _listed(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
    """*Default model: minnow-small*, as in notes and settings."""
    value, part = groups["v"], attribute_of(subject)
    if part is not None:
        yield _of_attribute(*part, value)
    elif re.match(MONEY, value, re.I):
        yield Claim(subject, "price", value)
    elif re.match(rf"(?:on |at )?{TIME}", value, re.I):
        yield Claim(subject, "schedule", value)


def _favourite(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
    if "n" in groups:
        yield Claim("$speaker", f"favourite {groups['n'].casefold()}", groups["v"])


def _counted(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
    noun = groups["n"].casefold().split()[-1]
    if noun not in UNCOUNTED:
        yield Claim(subject, f"count of {noun.removesuffix('s')}", groups["v"])


def _scheduled(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
    if _is_time(groups["v"]) and not subject.startswith("$speaker $"):
        part = attribute_of(subject)
        yield _of_attribute(*part, groups["v"]) if part is not None else Claim(subject, "schedule", groups["v"])


def _state(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
    said = groups["v"].casefold()
    for axis in STATES:
        if said in axis:
            where = groups["q"].casefold() if "q" in groups and not subject.startswith("$") else ""
            yield Claim(subject, f"state {axis[0]} {where}".strip(), said, ended="not" in groups)


def _switched(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
    yield Claim(subject, f"use of {_bare(groups['u'])}", "", ended=True)
    yield Claim(subject, f"use of {_bare(groups['v'])}", groups["v"])


def _preferred(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
    both = sorted((_bare(groups["v"]), _bare(groups["u"])))
    yield Claim(subject, "preference " + " or ".join(both), groups["v"])


def _does(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
    verb = _lemma(groups["verb"])
    if verb in STATIVES:
        yield _deed(subject, verb, groups["v"])


def _no_more(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
    verb = _lemma(groups["verb"])
    if verb in STATIVES:
        yield replace(_deed(subject, verb, groups["v"]), ended=True)


def _deed(subject: str, verb: str, value: str) -> Claim:
    attribute = f"use of {_bare(value)}" if verb == "use" else f"{verb} {_bare(value)}"
    return Claim(subject, attribute, _bare(value))


def _owns(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
    noun = _bare(groups["v"]).split()[-1:]
    if noun and noun[0] in OWNED:
        yield Claim(subject, f"own {noun[0]}", noun[0])


def _parted(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
    noun = _bare(groups["v"]).split()[-1]
    for verb in ("own", "drive", "use"):
        yield Claim(subject, f"use of {noun}" if verb == "use" else f"{verb} {noun}", noun, ended=True)


def _lost(subject: str, groups: dict[str, str]) -> Iterator[Claim]:
    owner, _, thing = subject.rpartition(" ")
    if owner and thing in OWNED:
        yield Claim(owner, f"own {thing}", thing, ended=True)


def _bare(value: str) -> str:
    return re.sub(r"^(?:a|an|the|my|our|his|her|their|any|some|much|more) ", "", value.casefold().strip())


def _lemma(verb: str) -> str:
    verb = verb.casefold()
    for ending, instead in (("ies", "y"), ("ing", ""), ("ing", "e"), ("s", ""), ("es", "")):
        if verb.endswith(ending) and (root := verb.removesuffix(ending) + instead) in STATIVES:
            return root
    return verb


def _pattern(pattern: str, made: Made, *, planned: bool = False) -> tuple[re.Pattern[str], Made, bool]:
    return re.compile(pattern), made, planned


_ARTICLE = r"(?:the |a |an )?"
_VERBS = "|".join(STATIVES)
_PATTERNS: Sequence[tuple[re.Pattern[str], Made, bool]] = (
    # Where somebody lives, and where something is.
    _pattern(
        rf"^{SUBJECT}(?: no longer lives? in| (?:do|does) not live in|(?: have|['’]ve| has)? moved out of) {_V}",
        _over("home"),
    ),
    _pattern(
        rf"^{SUBJECT} {_ADV}(?:lives?|resides?|(?:am |is |are )?living)(?: now)? (?:in|at|near|on|with) {_V}", _home
    ),
    _pattern(rf"^{SUBJECT}['’]m (?:now |currently )?(?:living|based) in {_V}", _home),
    _pattern(
        rf"^{SUBJECT} {_ADV}(?:moved|relocated|moving)(?: back| away| over| house| out)? {_FROM}(?:back )?(?:in)?to {_V}",
        _home,
    ),
    _pattern(rf"^{SUBJECT} {_ADV}settled(?: down)? in {_V}", _home),
    _pattern(
        rf"^{THING}{_BE} (?:located|situated|based|kept|stored|hosted|deployed|parked) (?:in|at|on|under|behind|near) {_V}",
        _said("home"),
    ),
    # Dates of what is planned, and what is called off.
    _pattern(
        rf"^{THING}{_BEEN} (?:moved|postponed|pushed(?: back)?|rescheduled|brought forward|delayed|shifted|moved up|put off) {_FROM}(?:to|until|till|for) {_V}",
        _changed,
        planned=True,
    ),
    _pattern(
        rf"^(?:[Ww]e|[Tt]hey|I|{NAME}) {_ADV}(?:moved|postponed|pushed(?: back)?|rescheduled|brought forward|delayed|shifted) {THING} {_FROM}(?:to|until|till) {_V}",
        _changed,
        planned=True,
    ),
    _pattern(rf"^{THING}(?:{_BEEN}|{_BE}) (?:cancell?ed|called off|scrapped)\b", _over("schedule")),
    _pattern(
        rf"^{THING}(?:{_BE}| will be| will now be|{_BE} (?:due|scheduled|set|planned)(?: for)?)(?: held)? (?:(?:on|for|in|by) )?(?P<v>{TIME}(?:[ ,]+(?:at |on |the )?{TIME})*)",
        _scheduled,
        planned=True,
    ),
    _pattern(
        rf"^{THING} (?:will )?(?:now )?(?:starts?|begins?|takes? place|happens?|runs?|leaves?|departs?|arrives?)(?: now)? (?P<v>(?:(?:on|at|in|every) )?{_ANY}){_END}",
        _scheduled,
        planned=True,
    ),
    _pattern(rf"^{THING} (?:now )?(?:closes?|ends?|shuts?)(?: now)?(?: (?:on|at|in))? (?P<v>{TIME})", _said("end")),
    # Work.
    _pattern(
        rf"^{SUBJECT} {_ADV}(?:left|quit|resigned from|retired from|(?:was|were|got|been) (?:fired|laid off|let go)(?: from| by)?|no longer works? (?:at|for)|stopped working (?:at|for)|(?:do|does) not work (?:at|for)) (?:my job(?: at| with)? ?)?(?P<v>[A-Z][^.,;:!]*?)?{_END}",
        _over("employer"),
    ),
    _pattern(rf"^{SUBJECT} {_ADV}(?:works?|working)(?: now)? (?:at|for) {_V}", _employed),
    _pattern(
        rf"^{SUBJECT} {_ADV}(?:joined|started (?:working )?(?:at|for)|got (?:a|the|a new) job (?:at|with)|(?:was |been )?hired by|signed with) (?P<v>[A-Z][^.,;:!]*?){_END}",
        _said("employer"),
    ),
    _pattern(
        rf"^{SUBJECT} {_ADV}(?:works? as|became|become|(?:was |were |been |got )?promoted to|started as|working as) {_ARTICLE}{_V}",
        _occupation,
    ),
    _pattern(rf"^{SUBJECT} {_ADV}(?:(?:was |been |got )?promoted to) {_ARTICLE}{_V}", _said("occupation")),
    _pattern(rf"^{SUBJECT}{_BE} (?:a|an|the) (?:new )?{_V}", _occupation),
    # Who holds a post, who owns what.
    _pattern(rf"^(?P<s>[Ii]|{NAME}){_BE} (?P<p>(?:the|our|my) [^.,;:!]+?){_END}", _post),
    _pattern(
        rf"^(?P<s>[Ii]|{NAME}) {_ADV}(?:became|took over as|was (?:elected|appointed|named|made)|has been (?:elected|appointed|named|made)) (?P<p>(?:the |our )?[^.,;:!]+?){_END}",
        _post,
    ),
    _pattern(
        rf"^(?P<s>[Ii]|{NAME}) {_ADV}(?:owns?|took over|takes over|is responsible for|is in charge of|inherited|bought) (?P<o>(?:the|our) [^.,;:!]+?){_END}",
        _holder("owner"),
    ),
    _pattern(
        rf"^(?P<s>[Ii]|{NAME}) {_ADV}(?:leads?|heads?|runs?|manages?) (?P<o>(?:the|our) [^.,;:!]+?){_END}",
        _holder("lead"),
    ),
    _pattern(
        rf"^{THING}(?: now)? (?:belongs? to|is (?:now )?owned by|was (?:handed over|sold|given|transferred) to|has been (?:handed over|sold|transferred) to) {_V}",
        _held("owner"),
    ),
    _pattern(rf"^{THING}{_BE} (?:led|headed|managed|run) by {_V}", _held("lead")),
    _pattern(rf"^{THING}(?:{_BE}|{_BEEN}) (?:re)?assigned to {_V}", _held("assignee")),
    # Names.
    _pattern(rf"^{THING}{_BE} (?:called|named|known as) {_V}", _named),
    _pattern(rf"^{THING} (?:goes|went) by (?:the name )?{_V}", _named),
    _pattern(rf"^{THING}{_BEEN} (?:renamed|rebranded|retitled|rechristened) {_FROM}(?:to |as |into )?{_V}", _named),
    _pattern(
        rf"^(?:[Ww]e|[Tt]hey|I|{NAME}) {_ADV}(?:renamed|rebranded|retitled) {THING} {_FROM}(?:to|as|into) {_V}", _named
    ),
    _pattern(rf"^{SUBJECT} {_ADV}changed (?:my|our|its|his|her|their|the) name {_FROM}to {_V}", _named),
    # Settings, prices, counts.
    _pattern(rf"^{THING}(?:{_BEEN}|{_BE}) (?:{_STEPS}) {_FROM}to {_V}", _changed),
    _pattern(
        rf"^{THING} {_ADV}(?:went up|rose|increased|dropped|fell|went down|jumped|climbed|gone up|gone down|changed|grew|shrank|risen|fallen) {_FROM}to {_V}",
        _changed,
    ),
    _pattern(rf"^(?:[Ww]e|[Tt]hey|I|{NAME}) {_ADV}(?:{_STEPS}) {THING} {_FROM}to {_V}", _changed),
    _pattern(
        rf"^{THING} {_ADV}(?:costs?|sells for|goes for|is priced at){_ADV[:0]}(?: now)? (?P<v>{MONEY})", _said("price")
    ),
    _pattern(
        rf"^{THING} {_ADV}(?:runs on|uses|listens on|is on|listens at|answers on)(?: now)? port (?P<v>\d+)",
        _said("port"),
    ),
    _pattern(
        rf"^{THING} {_ADV}(?:runs|uses|(?:is )?(?:now )?(?:on|at)|requires|ships with) version (?P<v>[\w.]+)",
        _said("version"),
    ),
    _pattern(rf"^{THING}{_BE} (?P<v>{MONEY})", _valued),
    _pattern(rf"^{SUBJECT} {_ADV}(?:turned) (?P<v>{NUMBER})", _said("age")),
    _pattern(rf"^{SUBJECT}{_BE} (?P<v>{NUMBER})(?: years old|(?=[.!]?$))", _aged),
    _pattern(
        rf"^{SUBJECT} {_ADV}(?:charges?|takes?) (?P<v>(?:{MONEY}|{NUMBER}) (?:an?|per) (?:hour|day|lesson|session|page))",
        _said("price"),
    ),
    _pattern(
        rf"^(?P<s>(?:[Tt]he |[Mm]y |[Oo]ur )?{NAME}(?: [\w-]+){{0,3}}|[A-Z][\w-]+(?: [\w-]+){{0,3}}): (?P<v>[^,;:!()]+?)(?=[,;:!()]|\.$|$)",
        _listed,
    ),
    _pattern(rf"^(?P<v>{NAME}|[A-Z]\w+){_BE} my (?:new )?favou?rite(?: (?P<n>[\w]+))?", _favourite),
    _pattern(
        rf"^{SUBJECT} {_ADV}(?:ha(?:ve|s)|own|owns|got|employs?|keeps?) {_ADV}(?:only |now )?(?P<v>{NUMBER}) (?P<n>[a-z][\w-]+(?: [a-z][\w-]+)??){_END}",
        _counted,
    ),
    _pattern(
        rf"^There (?:are|is)(?: now| only| just| currently)* (?P<v>{NUMBER}) (?P<n>[a-z][\w-]+(?: [a-z][\w-]+)?) (?:in|on|at) (?P<s>(?:the|my|our) [^.,;:!]+?){_END}",
        _counted,
    ),
    _pattern(rf"^{SUBJECT}(?:{_BE}| went) (?:down|up) to (?P<v>{NUMBER}) (?P<n>[a-z][\w-]+){_END}", _counted),
    # What is the favourite, or any attribute in so many words.
    _pattern(rf"^{THING}{_BE} {_V}", _valued),
    _pattern(rf"^{THING}{_BE} (?:in|at|on) {_V}", _placed),
    # States.
    _pattern(
        rf"^{SUBJECT}(?:{_BE}|['’]s| (?:has|have) been| got| became)(?P<not> not| no longer)? (?:a )?(?P<v>(?:in |on |out of |sold )?[a-z]+)(?: (?:in|for|on|to) (?P<q>(?!(?i:january|february|march|april|may|june|july|august|september|october|november|december|mon|tue|wed|thu|fri|sat|sun))[\w -]+?))?{_END}",
        _state,
    ),
    # What somebody does, prefers and owns.
    _pattern(rf"^{SUBJECT} {_ADV}(?:switched|changed|migrated|moved|gone) from (?P<u>[^.,;:!]+?) to {_V}", _switched),
    _pattern(rf"^{SUBJECT} {_ADV}replaced (?P<u>[^.,;:!]+?) (?:with|by) {_V}", _switched),
    _pattern(
        rf"^{SUBJECT} {_ADV}(?:prefers?|likes?) (?P<v>[^.,;:!]+?) (?:to|over|more than|better than) (?P<u>[^.,;:!]+?){_END}",
        _preferred,
    ),
    _pattern(rf"^{SUBJECT} (?:no longer (?P<verb>\w+)) {_V}", _no_more),
    _pattern(
        rf"^{SUBJECT} (?:don['’]t|doesn['’]t|do not|does not) (?P<verb>\w+) (?P<v>[^.,;:!]+?) (?:anymore|any more|any longer)",
        _no_more,
    ),
    _pattern(rf"^{SUBJECT} {_ADV}(?:stopped|quit|gave up|given up) (?P<verb>\w+ing) {_V}", _no_more),
    _pattern(
        rf"^{SUBJECT} {_ADV}(?:sold|gave away|got rid of|scrapped|returned|traded in|donated|rehomed|had to (?:sell|rehome|give away)) (?P<v>(?:my|the|our|his|her|their) [^.,;:!]+?){_END}",
        _parted,
    ),
    _pattern(rf"^{THING}{_BEEN} (?:stolen|sold|scrapped|totalled|given away)\b", _lost),
    _pattern(rf"^{THING} {_ADV}(?:died|passed away|broke down for good)\b", _lost),
    _pattern(
        rf"^{SUBJECT} {_ADV}(?:ha(?:ve|s)|owns?|drives?|bought|adopted) (?P<v>(?:a|an|my own|the) [^.,;:!]+?){_END}",
        _owns,
    ),
    _pattern(rf"^{SUBJECT} {_ADV}(?P<verb>(?:{_VERBS})(?:s|es)?) {_V}", _does),
)
