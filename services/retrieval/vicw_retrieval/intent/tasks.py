"""What a question is for: one of the six tasks of seed 002 §8.2, by words that tell."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from vicw_shared.wire.retrieve import Task

_READ_CHARS = 2000
_STRONG, _WEAK = 2.0, 1.0


@dataclass(frozen=True, slots=True)
class TaskEvidence:
    """A task and how sure it is, in [0, 1]; None and 0 where nothing tells."""

    task: Task | None = None
    confidence: float = 0.0


def _any(*alternatives: str) -> re.Pattern[str]:
    return re.compile(r"\b(?:" + "|".join(alternatives) + r")\b")


_TELLING: Mapping[Task, tuple[tuple[float, re.Pattern[str]], ...]] = {
    Task.FIX_BUG: (
        (
            _STRONG,
            _any(
                r"bugs?", r"tracebacks?", r"stack ?traces?", r"debug(?:ging)?", r"segfaults?", r"regressions?", r"crash\w*",
                r"(?:does|do|did|is|are|was)(?:n't| not) (?:working|work|load\w*|start\w*|compile|build|respond\w*)",
                r"(?:throw|rais)(?:s|es|ing|n) (?:an? |the )?(?:\w+ ){0,2}(?:\w*error|\w*exception)", r"root[- ]cause",
                r"fix(?:es|ed|ing)? (?:the|this|that|an?|our|my) (?:\w+ ){0,3}(?:error|issue|failure|test|build|leak|crash)",
                r"(?:error|exception|failure|leak)s? (?:in|when|while|on|after|at|from)",
            ),
        ),
        (
            _WEAK,
            _any(
                r"errors?", r"\w+error", r"\w+exception", r"exceptions?", r"fail(?:s|ed|ing|ures?)?", r"broken?", r"breaks?",
                r"wrong(?:ly)?", r"hangs?", r"leaks?", r"time(?:s|d)? ?outs?", r"[45]\d\d", r"null pointer", r"undefined",
                r"fix(?:es|ed|ing)?", r"issue", r"corrupt\w*", r"deadlocks?",
            ),
        ),
    ),
    Task.FIND_DECISION: (
        (
            _STRONG,
            _any(
                r"decisions?", r"(?:we|they|you|team|i|was it|it was) (?:\w+ )?(?:decided|agreed|settled|chose|opted)",
                r"(?:did|do|have|had) (?:we|they|you|i|the team) (?:\w+ )?(?:decided?|agreed?|settled?|choose|chosen|chose|pick(?:ed)?|opt(?:ed)?|reject(?:ed)?|drop(?:ped)?)",
                r"rationale", r"trade-?offs?", r"adrs?", r"reason(?:s|ing)? (?:for|behind) (?:choosing|using|picking|switching|moving|rejecting)",
                r"alternatives? (?:did we|were|we) (?:\w+ )?(?:consider\w*|reject\w*)",
                r"why (?:did|do|are|were) (?:we|they|you) (?:use|using|go(?:ing)? with|switch\w*|mov\w*|adopt\w*|abandon\w*)",
            ),
        ),
        (_WEAK, _any(r"decid\w+", r"agreed", r"chose[n]?", r"instead of", r"settled on", r"approved", r"rejected", r"opted")),
    ),
    Task.FIND_SPEC: (
        (
            _STRONG,
            _any(
                r"specs?", r"specifications?", r"requirements?", r"acceptance criteria", r"rfcs?", r"design docs?",
                r"api (?:reference|contract|docs?|documentation)", r"documented", r"according to the (?:docs?|documentation|standard|policy|contract)",
                r"(?:allowed|valid|accepted|permitted|supported|default) (?:values?|range|formats?|types?|fields?)",
                r"(?:required|mandatory|optional) (?:fields?|headers?|parameters?|columns?)", r"policy (?:on|for|about)",
            ),
        ),
        (_WEAK, _any(r"documentation", r"docs?", r"schema", r"contract", r"standard", r"must", r"limits?", r"sla", r"protocol", r"definition of")),
    ),
    Task.ADD_FEATURE: (
        (
            _STRONG,
            _any(
                r"new (?:feature|endpoint|command|page|button|option|field|setting|screen|channel|adapter|plugin)",
                r"(?:add|implement|introduce|build|support|integrate) (?:an? |the |new |support |another )",
                r"feature requests?", r"(?:should|could|can|want to|need to|let's|how (?:do|can|would|should) (?:i|we)) (?:add|implement|introduce|extend|integrate|support)",
            ),
        ),
        (_WEAK, _any(r"add(?:s|ing)?", r"implement(?:s|ing)?", r"extend(?:ing)?", r"features?", r"integrat(?:e|ing)", r"enable", r"introduc(?:e|ing)")),
    ),
    Task.REFACTOR: (
        (
            _STRONG,
            _any(
                r"refactor\w*", r"restructur\w+", r"clean(?:ing)? up (?:the|this|our|old)", r"tech(?:nical)? debt", r"dead code", r"dedup\w*",
                r"(?:split|extract|move|merge|inline|rename|simplify|decouple)(?:ing|ting)? (?:the |this |our |out |\w+ ){1,3}(?:class|function|module|method|file|service|code|logic|variable|package|component|interface|layer|helper|constant)s?",
            ),
        ),
        (_WEAK, _any(r"simplif\w+", r"renam(?:e|ing)", r"duplicated? (?:code|logic)", r"decoupl\w+", r"modular\w*", r"reorgani[sz]\w+", r"code smells?", r"rewrit(?:e|ing)")),
    ),
    Task.UNDERSTAND: (
        (
            _STRONG,
            _any(
                r"how (?:does|do|did|is|are) (?:\w+ ){1,6}(?:works?|working|built|organi[sz]ed|structured|connected|computed|stored|handled|related|called)",
                r"walk me through", r"overview", r"explain\w*", r"understand(?:ing)?", r"what does (?:\w+ ){1,5}(?:do|mean)",
                r"difference between", r"purpose of", r"describe", r"summari[sz]e", r"architecture of",
            ),
        ),
        (_WEAK, _any(r"how (?:does|do|is|are)", r"what(?:'s| is| are)", r"meaning of", r"works?")),
    ),
}


def strengths_of(query: str) -> dict[Task, float]:
    """Return how strongly the words point to each task, > 0; a task that nothing points to is left out."""
    words = query[:_READ_CHARS].casefold().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    found = {task: sum(w * len({m[0] for m in rule.finditer(words)}) for w, rule in rules) for task, rules in _TELLING.items()}
    return {task: strength for task, strength in found.items() if strength > 0}
