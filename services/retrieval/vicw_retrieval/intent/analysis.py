"""What a question asks for, by its words: its task, the current state, causes or consequences. Rules, no model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from vicw_retrieval.causal_chains.model import ChainDirection
from vicw_shared.wire.retrieve import Intent, Task

_READ_CHARS = 2000


_STRONG, _WEAK = 2.0, 1.0


@dataclass(frozen=True, slots=True)
class TaskEvidence:
    """A task and its confidence in [0, 1]; None and 0 without evidence."""

    task: Task | None = None
    confidence: float = 0.0


def _pattern(*alternatives: str) -> re.Pattern[str]:
    """Return one pattern for several groups of alternatives."""
    return re.compile(rf"\b(?:{'|'.join(alternatives)})\b")


_PARTS = (
    "class(?:es)?|functions?|modules?|methods?|files?|services?|code|logic|variables?|packages?|components?"
    "|interfaces?|layers?|helpers?|constants?"
)


_PEOPLE = "we|they|you|i|the team"


_CUES: Mapping[Task, tuple[re.Pattern[str], re.Pattern[str]]] = {
    Task.FIX_BUG: (
        _pattern(
            r"bugs?|tracebacks?|stack ?traces?|debug(?:ging)?|segfaults?|regressions?|crash\w*|root[- ]cause",
            r"(?:does|do|did|is|are|was)(?:n't| not) (?:working|work|load\w*|start\w*|compile|build|respond\w*)",
            r"(?:throw|rais)(?:s|es|ing|n) (?:an? |the )?(?:\w+ ){0,2}(?:\w*error|\w*exception)",
            r"fix(?:es|ed|ing)? (?:the|this|that|an?|our|my) (?:\w+ ){0,3}"
            r"(?:error|issue|failure|test|build|leak|crash)",
            r"(?:error|exception|failure|leak)s? (?:in|when|while|on|after|at|from)",
        ),
        _pattern(
            r"errors?|\w+error|\w+exception|exceptions?|fail(?:s|ed|ing|ures?)?|broken?|breaks?|wrong(?:ly)?|hangs?",
            r"leaks?|time(?:s|d)? ?outs?|[45]\d\d|null pointer|undefined|fix(?:es|ed|ing)?|issue|corrupt\w*",
            r"deadlocks?",
        ),
    ),
    Task.FIND_DECISION: (
        _pattern(
            r"decisions?|rationale|trade-?offs?|adrs?",
            rf"(?:{_PEOPLE}|was it|it was) (?:\w+ )?(?:decided|agreed|settled|chose|opted)",
            rf"(?:did|do|have|had) (?:{_PEOPLE}) (?:\w+ )?(?:decided?|agreed?|settled?|choose|chosen|chose|pick(?:ed)?"
            r"|opt(?:ed)?|reject(?:ed)?|drop(?:ped)?)",
            r"reason(?:s|ing)? (?:for|behind) (?:choosing|using|picking|switching|moving|rejecting)",
            r"alternatives? (?:did we|were|we) (?:\w+ )?(?:consider\w*|reject\w*)",
            r"why (?:did|do|are|were) (?:we|they|you) (?:use|using|go(?:ing)? with|switch\w*|mov\w*|adopt\w*"
            r"|abandon\w*)",
        ),
        _pattern(r"decid\w+|agreed|chosen?|instead of|settled on|approved|rejected|opted"),
    ),
    Task.FIND_SPEC: (
        _pattern(
            r"specs?|specifications?|requirements?|acceptance criteria|rfcs?|design docs?|documented",
            r"api (?:reference|contract|docs?|documentation)",
            r"according to the (?:docs?|documentation|standard|policy|contract)|policy (?:on|for|about)",
            r"(?:allowed|valid|accepted|permitted|supported|default) (?:values?|range|formats?|types?|fields?)",
            r"(?:required|mandatory|optional) (?:fields?|headers?|parameters?|columns?)",
        ),
        _pattern(r"documentation|docs?|schema|contract|standard|must|limits?|sla|protocol|definition of|mandatory"),
    ),
    Task.ADD_FEATURE: (
        _pattern(
            r"new (?:feature|endpoint|command|page|button|option|field|setting|screen|channel|adapter|plugin)",
            r"(?:add|implement|introduce|build|support|integrate) (?:an? |the |new |support |another )",
            r"feature requests?",
            r"(?:should|could|can|want to|need to|let's|how (?:do|can|would|should) (?:i|we)) "
            r"(?:add|implement|introduce|extend|integrate|support)",
        ),
        _pattern(
            r"add(?:s|ing)?|implement(?:s|ing)?|extend(?:ing)?|features?|integrat(?:e|ing)|enable|introduc(?:e|ing)",
        ),
    ),
    Task.REFACTOR: (
        _pattern(
            r"refactor\w*|restructur\w+|clean(?:ing)? up (?:the|this|our|old)|tech(?:nical)? debt|dead code|dedup\w*",
            r"(?:split|extract|move|merge|inline|rename|simplify|decouple)(?:ing|ting)? "
            rf"(?:the |this |our |out |\w+ ){{1,3}}(?:{_PARTS})",
        ),
        _pattern(
            r"simplif\w+|renam(?:e|ing)|duplicated? (?:code|logic)|decoupl\w+|modular\w*|reorgani[sz]\w+|code smells?",
            r"rewrit(?:e|ing)",
        ),
    ),
    Task.UNDERSTAND: (
        _pattern(
            r"how (?:does|do|did|is|are) (?:\w+ ){1,6}(?:works?|working|built|organi[sz]ed|structured|connected"
            r"|computed|stored|handled|related|called)",
            r"walk me through|overview|explain\w*|understand(?:ing)?|what does (?:\w+ ){1,5}(?:do|mean)",
            r"difference between|purpose of|describe|summari[sz]e|architecture of",
        ),
        _pattern(r"how (?:does|do|is|are)|what(?:'s| is| are)|meaning of|works?"),
    ),
}
"""Strong and weak cues of each task."""


def strengths_of(query: str) -> dict[Task, float]:
    """Return the strength of each task's cues, > 0; tasks without cues are left out.

    >>> strengths_of("Refactor the parser")
    {<Task.REFACTOR: 'refactor'>: 2.0}
    """
    words = query[:_READ_CHARS].casefold().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")

    def count(rule: re.Pattern[str]) -> int:
        return len({match[0] for match in rule.finditer(words)})

    strengths = {task: _STRONG * count(strong) + _WEAK * count(weak) for task, (strong, weak) in _CUES.items()}
    return {task: strength for task, strength in strengths.items() if strength > 0}


_FACTOR = 6.0


_NO_TASK = 4.0
"""Evidence for no task, where a single weak cue counts 6."""


_NOW = re.compile(
    r"\b(?:currently|right now|at the moment|at present|presently|these days|nowadays|latest|newest|most recent(?:ly)?"
    r"|as of (?:now|today)|up[- ]to[- ]date|to date"
    r"|(?:is|are|am|do|does|have|has|can) (?:\w+ ){1,4}still"
    r"|(?:my|our|your|his|her|their|the|whose|what) current(?! (?:through|in amp\w+|flow\w*|of air))"
    r"|(?:is|are|am|do|does|have|has) [^.?!]{1,60} now(?=\W*$))\b"
)


_DATED = re.compile(r"\b(?:(?:19|20)\d\d|did|was|were|had)\b")
"""Words of another time, or of past actions."""


@dataclass(frozen=True, slots=True)
class QuestionAnalysis:
    """The task of a question, its confidence in [0, 1], and whether the question asks for the current state."""

    task: Task | None = None
    confidence: float = 0.0
    now: bool = False

    def intent(self, domain: Intent) -> Intent:
        """Return a domain's intent with these values."""
        update = {"task": self.task, "task_confidence": round(self.confidence, 4), "now": self.now}
        return domain.model_copy(update=update)


def analyse_question(query: str) -> QuestionAnalysis:
    """Return the analysis of a question by its words."""
    task = task_of(query)
    return QuestionAnalysis(task.task, task.confidence, asks_for_now(query))


def task_of(query: str) -> TaskEvidence:
    """Return the likeliest task, with its share of all evidence in [0, 1]; none without evidence or on a tie.

    The evidence for a task is 6 to the strength of its words, that for none of them 4.

    >>> task_of("why did we decide to use Postgres?").task
    <Task.FIND_DECISION: 'find_decision'>
    >>> task_of("What did Ana eat on Friday?")
    TaskEvidence(task=None, confidence=0.0)
    """
    words = strengths_of(query)
    weights: dict[Task | None, float] = {None: _NO_TASK, **{task: _FACTOR ** words.get(task, 0.0) for task in Task}}
    best = max(weights, key=lambda task: weights[task])
    ties = sum(weight == weights[best] for weight in weights.values())
    if best is None or ties > 1:
        return TaskEvidence()
    return TaskEvidence(best, weights[best] / sum(weights.values()))


def asks_for_now(query: str) -> bool:
    """Return whether a question asks for the current state, so that the latest statement counts.

    >>> asks_for_now("Where does Ana currently live?"), asks_for_now("Where did Ana live in 2019?")
    (True, False)
    """
    words = query[:_READ_CHARS].casefold()
    return _NOW.search(words) is not None and _DATED.search(words) is None


_SOMETHING = r"[^.?!]{1,120}?"


_DO = r"(?:did|does|do|will|would|could|might|may|can|has|have|had)"


_BACK = re.compile(
    r"\bwhy\b|\bhow come\b|\bhow did (?:it|this|that) come\b|\broot[- ]causes?\b|\bbecause of what\b|\bdue to what\b"
    r"|\b(?:what|who|which \w+) (?:has |had |have )?"
    r"(?:caused|causes|led|leads|made|makes|triggered|triggers|brought|provoked|resulted in|prompted)\b"
    r"|\bwhat (?:is|was|were|are|lies|lay) behind\b|\bwhat(?:'s| is| was) to blame\b"
    r"|\b(?:cause|causes|reason|reasons|explanation) (?:of|for|why|that|behind)\b|\bfor (?:what|which) reason\b"
    r"|\bwhat (?:is|was|were|are) (?:the |its |his |her |their |your )?(?:\w+ ){0,2}(?:causes?|reasons?)\b"
)


_FORWARD = re.compile(
    r"\bwhat if\b|\bwhat (?:would|will|could|might|may) (?:\w+ )?(?:break|fail|happen|change|go wrong)\b"
    r"|\bwhat (?:happens|happened|follows|followed|came|comes|broke|breaks|changed|changes) "
    r"(?:\w+ ){0,3}?(?:because|as a result|due to|after|when|once|if|from|of)\b"
    rf"|\b(?:what|where|which \w+|who) {_DO} {_SOMETHING} "
    r"(?:lead to|led to|caused?|result in|resulted in|trigger|triggered|bring about|brought about|affect|affected)\b"
    r"|\b(?:consequences?|effects?|impact|implications?|aftermath|outcome|repercussions?) (?:of|for|did|does|would)\b"
)


_FORMS = {ChainDirection.BACK: _BACK, ChainDirection.FORWARD: _FORWARD}


def direction_of(query: str) -> ChainDirection | None:
    """Return the direction in which a question asks, None if it asks for no causes; of two the one that comes first.

    >>> direction_of("Why is the server throwing a 500 error?")
    <ChainDirection.BACK: 'back'>
    >>> direction_of("What did the outage lead to?")
    <ChainDirection.FORWARD: 'forward'>
    >>> direction_of("Where does Ana live?")
    """
    words = query[:_READ_CHARS].casefold().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    matches = [(match.start(), direction) for direction, pattern in _FORMS.items() if (match := pattern.search(words))]
    return min(matches)[1] if matches else None
