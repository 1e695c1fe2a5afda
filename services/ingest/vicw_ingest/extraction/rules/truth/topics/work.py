"""Whom somebody works for, as what, and who holds a post."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vicw_ingest.extraction.rules.truth.grammar import ACTOR, ADV, ANY, ARTICLE, BE, END, Groups, V, pattern
from vicw_ingest.extraction.rules.truth.making import holder, in_post, over, said
from vicw_ingest.extraction.rules.truth.model import Claim
from vicw_ingest.extraction.rules.truth.nouns import OCCUPATIONS
from vicw_ingest.extraction.rules.truth.subjects import NAME, SUBJECT, THING, subject_of

_WHO = rf"(?P<s>[Ii]|{NAME})"
_NO_EMPLOYER = re.compile(
    r"\b(?:choir|club|gym|team|band|group|society|party|union|church|league|forum|channel|call|meeting|class|course|"
    r"expedition|army of|protest|committee|board|me|us|them|forces)\b",
    re.IGNORECASE,
)
_DOES = {
    "supervises": "supervisor", "manages": "manager", "coaches": "coach", "mentors": "mentor", "tutors": "tutor",
    "represents": "lawyer", "employs": "employer", "teaches": "teacher", "leads": "lead",
}  # fmt: skip


def _employed(subject: str, groups: Groups) -> Iterator[Claim]:
    """Whom somebody works for."""
    if _NO_EMPLOYER.search(groups["v"]):
        return
    if groups["v"][:1].isupper() or groups["v"].startswith(("a ", "the ", "an ")):
        yield Claim(subject, "employer", groups["v"])
        yield Claim(subject, "state work", "employed", also=True)


def _occupation(subject: str, groups: Groups) -> Iterator[Claim]:
    """What somebody works as: a closed list."""
    value = re.split(r" (?:at|in|for|with|on|of) ", groups["v"])[0]
    words = value.casefold().split()
    if words and words[-1] in OCCUPATIONS:
        yield Claim(subject, "occupation", value, ended="not" in groups, weak="is" in groups)


def _post(subject: str, groups: Groups) -> Iterator[Claim]:
    """*Ana is the new captain of the team*: the captain of the team is Ana."""
    yield from in_post(groups["p"], groups["s"], ended="not" in groups, weak=True)


def _new_holder(subject: str, groups: Groups) -> Iterator[Claim]:
    """*The team has a new captain, Ruth Amsel*."""
    whose = {"i": "my", "we": "our"}.get(groups["s"].casefold())
    yield from in_post(
        f"{whose} {groups['p']}" if whose else f"{groups['p']} of {groups['s']}", groups["v"], weak=False
    )


def _does_it_for(subject: str, groups: Groups) -> Iterator[Claim]:
    """*Dr Banik supervises me*."""
    whose = subject_of(groups["o"])
    if whose is not None:
        yield Claim({"me": "$speaker", "us": ""}.get(groups["o"], whose), _DOES[groups["verb"]], groups["s"])


def _done_by(subject: str, groups: Groups) -> Iterator[Claim]:
    """*The newsletter is handled by Otto*: by him, maybe not alone."""
    yield Claim(subject, f"{_stem(groups['verb'])} by", groups["v"], weak=True)


def _does_by(subject: str, groups: Groups) -> Iterator[Claim]:
    """*Otto handles the newsletter*."""
    if (what := subject_of(groups["o"])) is not None:
        yield Claim(what, f"{_stem(groups['verb'])} by", groups["s"], weak=True)


def _stem(verb: str) -> str:
    """Return the form of a verb of those that say who sees to something."""
    if verb == "taught":
        return "teach"
    return next(form for form in _SEES_TO if verb.replace("z", "s").startswith(form.removesuffix("e")))


_SEES_TO = (
    "handle",
    "maintain",
    "coach",
    "teach",
    "represent",
    "supervise",
    "moderate",
    "edit",
    "organise",
    "look",
    "take",
)


def _out_of_work(subject: str, groups: Groups) -> Iterator[Claim]:
    """*I retired*: what somebody worked as, and for whom, is over."""
    yield Claim(subject, "employer", groups.get("v", ""), ended=True)
    if not groups.get("v"):
        yield Claim(subject, "occupation", "", ended=True)
        yield Claim(subject, "state work", "retired" if "retired" in groups["text"] else "unemployed")


def _handed(subject: str, groups: Groups) -> Iterator[Claim]:
    """*Ana handed the role of treasurer to Ben*."""
    yield from in_post(groups["p"], groups["v"])


PATTERNS = (
    pattern(
        "left quit resigned retired fired laid let works work working stopped",
        rf"^{SUBJECT} {ADV}(?:left|quit|resigned from|retired from|(?:was |were |got |been )?(?:fired|laid off|"
        rf"let go)(?: from| by)?|no longer works? (?:at|for)|stopped working (?:at|for)|(?:do|"
        rf"does) not work (?:at|for)) (?:my job(?: at| with)? ?)?(?P<v>[A-Z][^.,;:!]*?|(?:the|my) (?:\w+ ){{0,3}}"
        rf"(?:firm|company|bank|agency|hospital|newspaper|museum|bakery|shop|school|startup|practice|clinic|store|"
        rf"office|factory|university)){END}",
        over("employer"),
    ),
    pattern(
        "retired quit fired laid job",
        rf"^{SUBJECT} {ADV}(?:retired|(?:was |were |got |been )(?:fired|laid off|let go)|quit my job|lost my job|"
        rf"lost (?:his|her) job)(?: (?:in|on) \w+)?{END}",
        _out_of_work,
    ),
    pattern(
        "works work working", rf"^{SUBJECT} {ADV}(?:works?|(?:am |is )?working)(?: now)? (?:at|for) {V}", _employed
    ),
    pattern(
        "joined started hired job signed",
        rf"^{SUBJECT} {ADV}(?:joined|started (?:working )?(?:at|for)|(?:got|have) (?:a|the|a new) job (?:at|with)|"
        rf"(?:was |been )?hired by|signed with) (?P<v>[A-Z][^.,;:!]*?){END}",
        _employed,
    ),
    pattern(
        "work works working worked",
        rf"^{SUBJECT} (?P<not>(?:do|does) not work as|no longer works? as|(?:have |has )?stopped working as) "
        rf"{ARTICLE}{V}",
        _occupation,
    ),
    pattern(
        "work works became become promoted started working",
        rf"^{SUBJECT} {ADV}(?:works? as|became|become|(?:was |were |been |got )?promoted to|started as|"
        rf"(?:am |is )?working as) {ARTICLE}{V}",
        _occupation,
    ),
    pattern(
        "promoted",
        rf"^{SUBJECT} {ADV}(?:(?:was |been |got )?promoted to) {ARTICLE}{V}",
        said("occupation"),
    ),
    pattern(
        "not longer n't",
        rf"^{SUBJECT}(?: is| am| are)(?P<not> not| no longer) (?:a|an|the) {V}",
        _occupation,
    ),
    pattern("a an the", rf"^{SUBJECT}(?P<is>{BE}) (?:a|an|the) (?:new )?{V}", _occupation),
    # Who holds a post.
    pattern(
        "not longer",
        rf"^{_WHO}(?: is| am)(?P<not> not| no longer) (?P<p>(?:(?:the|our|my) |(?=\w+ of ))[^.,;:!]+?){END}",
        _post,
    ),
    pattern(
        "is am are 's been became",
        rf"^{_WHO}{BE} (?P<p>(?:(?:the|our|my) |{NAME}['’]s |(?=\w+ of ))[^.,;:!]+?){END}",
        _post,
    ),
    pattern(
        "became took elected appointed named made succeeded replaced promoted chosen picked voted",
        rf"^{_WHO} {ADV}(?:became|took over (?:from [^.,;:!]+? )?as|(?:was|has been|got|were|have been)(?: just| now)? "
        rf"(?:elected|appointed|named|made|chosen as|voted|picked as|promoted to)(?: as)?|(?:succeeded|replaced) "
        rf"[^.,;:!]+? as) (?P<p>(?:the |our |an? )?[^.,;:!]+?)(?: in place of [^.,;:!]+?)?{END}",
        _post,
    ),
    pattern(
        "elected appointed named made chose picked hired",
        rf"^(?:{ACTOR} {ADV})?(?i:elected|appointed|named|made|chose|picked|hired) (?P<s>{NAME}) (?:as )?"
        rf"(?P<p>(?:the |our |my |an? )?(?:new )?[a-z][^.,;:!]+?){END}",
        _post,
    ),
    pattern(
        "replaced succeeded",
        rf"^{NAME} (?:has been|was|is being) (?:replaced|succeeded) by (?P<s>{NAME}) as (?P<p>(?:the |our "
        rf")?[^.,;:!]+?){END}",
        _post,
    ),
    pattern(
        "new",
        rf"^{SUBJECT} {ADV}(?:ha(?:ve|s)|got|gets?) an? new (?P<p>[a-z][\w -]*?)(?:,|:| called| named| -|;) "
        rf"(?:(?:her|his|its) name is )?(?P<v>{NAME})",
        _new_holder,
    ),
    pattern(
        "stepped resigned quit stopped gave",
        rf"^{_WHO} {ADV}(?P<not>stepped down|resigned|quit|stood down) as (?P<p>(?:the |our |my )?[^.,;:!]+?){END}",
        _post,
    ),
    pattern(
        "handed passed gave",
        rf"^(?:{ACTOR} {ADV})?(?i:handed|passed|gave)(?: over| on)? (?:the )?(?:role|post|job|position|title) of "
        rf"(?P<p>{ANY})(?: over| on)? to {V}",
        _handed,
    ),
    pattern(
        " ".join(_DOES),
        rf"^{_WHO} (?:now )?(?P<verb>{'|'.join(_DOES)}) (?P<o>me|us|my [\w-]+)(?: now)?{END}",
        _does_it_for,
    ),
    pattern(
        "lead leads head heads run runs manage manages headed led",
        rf"^{_WHO} {ADV}(?:leads?|heads?(?: up)?|runs?|manages?|(?:have |has )(?:now )?(?:headed|led|run)) "
        rf"(?P<o>(?:the|our) [^.,;:!]+?){END}",
        holder("lead"),
    ),
    pattern("headed", rf"^{_WHO} (?:have|has) (?:now )?headed (?P<o>[a-z][^.,;:!]+?){END}", holder("lead")),
    pattern("led headed managed run", rf"^{THING}{BE} (?:led|headed|managed|run) by {V}", said("lead")),
    pattern(
        "by",
        rf"^{SUBJECT}{BE} (?P<verb>handled|maintained|coached|taught|represented|supervised|moderated|edited|"
        rf"organised|organized|"
        rf"looked after|taken care of) by {V}",
        _done_by,
    ),
    pattern(
        "handles maintains coaches teaches represents supervises moderates edits organises organizes after care",
        rf"^{_WHO} (?:now )?(?P<verb>handles|maintains|coaches|teaches|represents|supervises|moderates|edits|"
        rf"organises|organizes|"
        rf"looks after|takes care of) (?P<o>the [^.,;:!]+?|[A-Z][\w'’-]*){END}",
        _does_by,
    ),
    pattern("under", rf"^{SUBJECT} {ADV}works?(?: now)? under (?P<v>{NAME}){END}", said("manager")),
    pattern("reports report", rf"^{SUBJECT} {ADV}reports?(?: now)? to {V}", said("manager")),
)
