"""Patterns of plain cases: verbs of living, moving, naming, setting, owning …, each with the attribute that it tells.

English. ``s`` is the subject, ``v`` the value, ``u`` what it was before.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from vicw_ingest.extraction.rules.truth import making as make
from vicw_ingest.extraction.rules.truth.making import Made
from vicw_ingest.extraction.rules.truth.nouns import STATIVES
from vicw_ingest.extraction.rules.truth.subjects import NAME, SUBJECT, THING
from vicw_ingest.extraction.rules.truth.values import MONEY, NUMBER, TIME

_ADV = (
    r"(?:(?:now|currently|still|just|recently|already|finally|actually|officially|only|always|since|have|has|"
    r"['’]ve|['’]s) )*"
)
_BE = (
    r"(?:(?: is| are| am|['’]s|['’]re|['’]m| has been| have been|['’]s been|['’]ve been| has become|"
    r" became)(?: (?:now|currently|still|just|already|officially|actually|back|finally|exactly|only))*)"
)
_BEEN = (
    r"(?: (?:was|were|is|are|got|gets|has been|have been|had been|has|have)|['’]s been|['’]ve been)(?: (?:just|"
    r"now|recently|officially|finally))*"
)
_END = (
    r"(?=[.,:](?!\d)|[;!)]|$| (?:now|since|because|and|but|after|before|again|these|instead|with|as|so|while|"
    r"when|from now|by now|anymore|any more|for|until|where|who|which|this|last|again|any longer|at last|"
    r"these days|today|yesterday|on (?i:mon|tues|wednes|thurs|fri|satur|sun)day|in (?i:january|february|march|"
    r"april|may|june|july|august|september|october|november|december))\b)"
)
_ANY = r"(?:[^.,;:!()]|[.,:](?=\d))+?"
_V = rf"(?P<v>{_ANY}){_END}"
_FROM = r"(?:from (?P<u>[^.,;:!]+?) )?"
_UNITS = r"days?|hours?|minutes?|seconds?|weeks?|months?|years?|ms|[kmg]b|%|percent|requests?|characters?"
_STEPS = (
    r"changed|increased|raised|reduced|lowered|bumped|upgraded|downgraded|switched|updated|extended|shortened|"
    r"set|cut|doubled|moved"
)


def _pattern(pattern: str, made: Made, *, planned: bool = False) -> tuple[re.Pattern[str], Made, bool]:
    return re.compile(pattern), made, planned


_ARTICLE = r"(?:the |a |an )?"
_VERBS = "|".join(STATIVES)
PATTERNS: Sequence[tuple[re.Pattern[str], Made, bool]] = (
    # Where somebody lives, and where something is.
    _pattern(
        rf"^{SUBJECT}(?: no longer lives? in| (?:do|does) not live in|(?: have|['’]ve| has)? moved out of) {_V}",
        make.over("home"),
    ),
    _pattern(
        rf"^{SUBJECT} {_ADV}(?:lives?|resides?|(?:am |is |are )?living)(?: now)? (?:in|at|near|on|with) {_V}", make.home
    ),
    _pattern(rf"^{SUBJECT}['’]m (?:now |currently )?(?:living|based) in {_V}", make.home),
    _pattern(
        rf"^{SUBJECT} {_ADV}(?:moved|relocated|moving)(?: back| away| over| house|"
        rf" out)? {_FROM}(?:back )?(?:in)?to {_V}",
        make.home,
    ),
    _pattern(rf"^{SUBJECT} {_ADV}settled(?: down)? in {_V}", make.home),
    _pattern(
        rf"^{THING}{_BE} (?:located|situated|based|kept|stored|hosted|deployed|parked) (?:in|at|on|under|behind|"
        rf"near) {_V}",
        make.said("home"),
    ),
    _pattern(rf"^(?P<s>[Mm]y) (?:place|home|flat|house|apartment){_BE} (?:in|at|on) {_V}", make.my_home),
    # Dates of what is planned, and what is called off.
    _pattern(
        rf"^{THING}{_BEEN} (?:moved|postponed|pushed(?: back)?|rescheduled|brought forward|delayed|shifted|"
        rf"moved up|put off) {_FROM}(?:to|until|till|for) {_V}",
        make.changed,
        planned=True,
    ),
    _pattern(
        rf"^(?:[Ww]e|[Tt]hey|I|{NAME}) {_ADV}(?:moved|postponed|pushed(?: back)?|rescheduled|brought forward|"
        rf"delayed|shifted) {THING} {_FROM}(?:to|until|till) {_V}",
        make.changed,
        planned=True,
    ),
    _pattern(rf"^{THING}(?:{_BEEN}|{_BE}) (?:cancell?ed|called off|scrapped)\b", make.over("schedule")),
    _pattern(
        rf"^{THING}(?:{_BE}| will be| will now be|{_BE} (?:due|scheduled|set|"
        rf"planned)(?: for)?)(?: held)? (?:(?:on|for|in|by) )?(?P<v>{TIME}(?:[ ,]+(?:at |on |the )?{TIME})*)",
        make.scheduled,
        planned=True,
    ),
    _pattern(
        rf"^{THING} (?:will )?(?:now )?(?:starts?|begins?|meets?|takes? place|happens?|runs?|leaves?|departs?|"
        rf"arrives?)(?: now)? (?P<v>(?:(?:on|at|in|every) )?{_ANY}){_END}",
        make.scheduled,
        planned=True,
    ),
    _pattern(rf"^{THING} (?:now )?(?:closes?|ends?|shuts?)(?: now)?(?: (?:on|at|in))? (?P<v>{TIME})", make.said("end")),
    _pattern(rf"^{THING}{_BE} off\b(?! (?:the|to|at|limits))", make.called_off),
    # Work.
    _pattern(
        rf"^{SUBJECT} {_ADV}(?:left|quit|resigned from|retired from|(?:was|were|got|been) (?:fired|laid off|"
        rf"let go)(?: from| by)?|no longer works? (?:at|for)|stopped working (?:at|for)|(?:do|"
        rf"does) not work (?:at|for)) (?:my job(?: at| with)? ?)?(?P<v>[A-Z][^.,;:!]*?)?{_END}",
        make.over("employer"),
    ),
    _pattern(rf"^{SUBJECT} {_ADV}(?:works?|working)(?: now)? (?:at|for) {_V}", make.employed),
    _pattern(
        rf"^{SUBJECT} {_ADV}(?:joined|started (?:working )?(?:at|for)|got (?:a|the|a new) job (?:at|with)|"
        rf"(?:was |been )?hired by|signed with) (?P<v>[A-Z][^.,;:!]*?){_END}",
        make.said("employer"),
    ),
    _pattern(
        rf"^{SUBJECT} {_ADV}(?:works? as|became|become|(?:was |were |been |got )?promoted to|started as|"
        rf"working as) {_ARTICLE}{_V}",
        make.occupation,
    ),
    _pattern(rf"^{SUBJECT} {_ADV}(?:(?:was |been |got )?promoted to) {_ARTICLE}{_V}", make.said("occupation")),
    _pattern(rf"^{SUBJECT}{_BE} (?:a|an|the) (?:new )?{_V}", make.occupation),
    # Who holds a post, who owns what.
    _pattern(rf"^(?P<s>[Ii]|{NAME}){_BE} (?P<p>(?:(?:the|our|my) |(?=\w+ of ))[^.,;:!]+?){_END}", make.post),
    _pattern(
        rf"^(?P<s>[Ii]|{NAME}) {_ADV}(?:became|took over (?:from [^.,;:!]+? )?as|was (?:elected|appointed|named|made)|"
        rf"has been (?:elected|appointed|named|made)) (?P<p>(?:the |our )?[^.,;:!]+?){_END}",
        make.post,
    ),
    _pattern(
        rf"^(?P<s>[Ii]|{NAME}) {_ADV}(?:owns?|took over|takes over|is responsible for|is in charge of|inherited|"
        rf"bought) (?P<o>(?:the|our) [^.,;:!]+?){_END}",
        make.holder("owner"),
    ),
    _pattern(
        rf"^(?P<s>[Ii]|{NAME}) {_ADV}(?:leads?|heads?|runs?|manages?) (?P<o>(?:the|our) [^.,;:!]+?){_END}",
        make.holder("lead"),
    ),
    _pattern(
        rf"^{THING}(?: now)? (?:belongs? to|is (?:now )?owned by|was (?:handed over|sold|given|transferred) to|"
        rf"has been (?:handed over|sold|transferred) to) {_V}",
        make.said("owner"),
    ),
    _pattern(rf"^{THING}{_BE} (?:led|headed|managed|run) by {_V}", make.said("lead")),
    _pattern(rf"^{THING}(?:{_BE}|{_BEEN}) (?:re)?assigned to {_V}", make.said("assignee")),
    # Names.
    _pattern(rf"^{THING}{_BE} (?:called|named|known as) {_V}", make.named),
    _pattern(rf"^{THING} (?:goes|went) by (?:the name )?{_V}", make.named),
    _pattern(rf"^{THING}{_BEEN} (?:renamed|rebranded|retitled|rechristened) {_FROM}(?:to |as |into )?{_V}", make.named),
    _pattern(
        rf"^(?:[Ww]e|[Tt]hey|I|{NAME}) {_ADV}(?:renamed|rebranded|retitled) {THING} {_FROM}(?:to|as|into) {_V}",
        make.named,
    ),
    _pattern(rf"^{SUBJECT} {_ADV}changed (?:my|our|its|his|her|their|the) name {_FROM}to {_V}", make.named),
    # Settings, prices, counts.
    _pattern(rf"^{THING}(?:{_BEEN}|{_BE}) (?:{_STEPS}) {_FROM}to {_V}", make.changed),
    _pattern(
        rf"^{THING} {_ADV}(?:went up|rose|increased|dropped|fell|went down|jumped|climbed|gone up|gone down|"
        rf"changed|grew|shrank|risen|fallen) {_FROM}to {_V}",
        make.changed,
    ),
    _pattern(
        rf"^(?:(?:[Ww]e|[Tt]hey|I|{NAME}) {_ADV})?(?i:{_STEPS}|dropped|renamed) {THING} {_FROM}to {_V}", make.changed
    ),
    _pattern(
        rf"^{THING} {_ADV}(?:costs?|sells for|goes for|is priced at){_ADV[:0]}(?: now)? (?P<v>{MONEY})",
        make.said("price"),
    ),
    _pattern(
        rf"^{THING} {_ADV}(?:runs on|uses|is on|listens (?:on|at)|answers on)(?: now)? (?:port )?(?P<v>\d{{2,5}})\b",
        make.said("port"),
    ),
    _pattern(
        rf"^{THING} {_ADV}(?:runs|uses|(?:is )?(?:now )?(?:on|at)|requires|ships with) version (?P<v>[\w.]+)",
        make.said("version"),
    ),
    _pattern(rf"^{THING}{_BE} (?P<v>{MONEY})", make.valued),
    _pattern(rf"^{SUBJECT} {_ADV}(?:turned) (?P<v>{NUMBER})", make.said("age")),
    _pattern(rf"^{SUBJECT}{_BE} (?P<v>{NUMBER})(?: years old|(?=[.!]?$))", make.aged),
    _pattern(
        rf"^{SUBJECT} {_ADV}(?:charges?|takes?) (?P<v>(?:{MONEY}|{NUMBER}) (?:an?|per) (?:hour|day|lesson|"
        rf"session|page))",
        make.said("price"),
    ),
    _pattern(
        rf"^(?P<s>(?:[Tt]he |[Mm]y |[Oo]ur )?{NAME}(?: [\w-]+){{0,3}}|"
        rf"[A-Z][\w-]+(?: [\w-]+){{0,3}}): (?P<v>[^,;:!()]+?)(?=[,;:!()]|\.$|$)",
        make.listed,
    ),
    _pattern(rf"^(?P<v>{NAME}|[A-Z]\w+){_BE} my (?:new )?favou?rite(?: (?P<n>[\w]+))?", make.favourite),
    _pattern(
        rf"^{SUBJECT} {_ADV}(?:ha(?:ve|s)|own|owns|got|employs?|keeps?|contains?|includes?|holds?|"
        rf"is (?:now )?at) {_ADV}(?:only |"
        rf"now )?(?P<v>{NUMBER}) (?P<n>[a-z][\w-]+(?: [a-z][\w-]+)??){_END}",
        make.counted,
    ),
    _pattern(
        rf"^There (?:are|is)(?: now| only| just|"
        rf" currently)* (?P<v>{NUMBER}) (?P<n>[a-z][\w-]+(?: [a-z][\w-]+)?) (?:in|on|at) (?P<s>(?:the|my|"
        rf"our) [^.,;:!]+?){_END}",
        make.counted,
    ),
    _pattern(rf"^{SUBJECT}(?:{_BE}| went) (?:down|up) to (?P<v>{NUMBER}) (?P<n>[a-z][\w-]+){_END}", make.counted),
    # What is the favourite, or any attribute in so many words.
    _pattern(rf"^{THING}{_BE} {_V}", make.valued),
    _pattern(rf"^{THING}{_BE} (?:in|at|on) {_V}", make.placed),
    _pattern(
        rf"^{THING}{_BE} (?P<v>{NUMBER} (?:{_UNITS}){_END})",
        make.said("setting"),
    ),
    # States.
    _pattern(
        rf"^{SUBJECT}(?:{_BE}|['’]s| (?:has|have) been| got| became)(?P<not> not|"
        rf" no longer)? (?:a )?(?P<v>(?:in |on |out of |sold )?[a-z]+)(?: (?:in|for|on|to) (?P<q>(?!(?i:january|"
        rf"february|march|april|may|june|july|august|september|october|november|december|mon|tue|wed|thu|fri|sat|"
        rf"sun))[\w -]+?))?{_END}",
        make.state,
    ),
    _pattern(rf"^(?P<s>(?:[Tt]icket |[Ii]ssue |[Oo]rder )?[A-Z]+-\d+) (?P<v>[a-z]+ed){_END}", make.state),
    # What somebody does, prefers and owns.
    _pattern(
        rf"^{SUBJECT} {_ADV}(?:switched|changed|migrated|moved|gone) from (?P<u>[^.,;:!]+?) to {_V}", make.switched
    ),
    _pattern(rf"^{SUBJECT} {_ADV}replaced (?P<u>[^.,;:!]+?) (?:with|by) {_V}", make.switched),
    _pattern(
        rf"^{SUBJECT} {_ADV}(?:prefers?|likes?) (?P<v>[^.,;:!]+?) (?:to|over|more than|"
        rf"better than) (?P<u>[^.,;:!]+?){_END}",
        make.preferred,
    ),
    _pattern(rf"^{SUBJECT} (?:no longer (?P<verb>\w+)) {_V}", make.no_more),
    _pattern(
        rf"^{SUBJECT} (?:don['’]t|doesn['’]t|do not|does not) (?P<verb>\w+) (?P<v>[^.,;:!]+?) (?:anymore|"
        rf"any more|any longer)",
        make.no_more,
    ),
    _pattern(rf"^{SUBJECT} {_ADV}(?:stopped|quit|gave up|given up) (?P<verb>\w+ing) {_V}", make.no_more),
    _pattern(
        rf"^{SUBJECT} {_ADV}(?:sold|gave away|got rid of|scrapped|returned|traded in|donated|rehomed|"
        rf"had to (?:sell|rehome|give away)) (?P<v>(?:my|the|our|his|her|their) [^.,;:!]+?){_END}",
        make.parted,
    ),
    _pattern(rf"^{THING}{_BEEN} (?:stolen|sold|scrapped|totalled|given away)\b", make.lost),
    _pattern(rf"^{THING} {_ADV}(?:died|passed away|broke down for good)\b", make.lost),
    _pattern(
        rf"^{SUBJECT} {_ADV}(?:ha(?:ve|s)|owns?|drives?|bought|adopted) (?P<v>(?:a|an|my own|the) [^.,;:!]+?){_END}",
        make.owns,
    ),
    _pattern(rf"^{SUBJECT} {_ADV}(?P<verb>(?:{_VERBS})(?:s|es)?) {_V}", make.does),
)
