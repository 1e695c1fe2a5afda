"""The form of a question: what kind of answer it wants, by the word that it asks with."""

from __future__ import annotations

import re

from vicw_retrieval.causal_chains.direction import ChainDirection, direction_of
from vicw_shared.wire.retrieve import Form

_READ_CHARS = 2000
_OPENS = (
    r"(?:^|[.?!,;:(]\s*|\b(?:tell me|know|show me|find out|remember|remind me|say|said|explain|list|figure out|see"
    r"|wonder|and|or|so|but|then|exactly|about|since|until|from|to|by|for|with|of|in|on|at)\s+)"
)
"""Where an asking word stands; elsewhere it joins clauses ("what did she do when the bell rang?")."""
_CODE_PLACE = (
    r"(?:source |config(?:uration)? |header |test )?"
    r"(?:files?|modules?|scripts?|director(?:y|ies)|folders?|packages?|class(?:es)?|functions?|methods?)"
)
_FORMS: tuple[tuple[Form, re.Pattern[str]], ...] = (
    (
        Form.WHICH_FILE,
        re.compile(
            rf"\b(?:which|what) (?:of the )?{_CODE_PLACE}\b(?! (?:of|(?:did|do|does) (?:you|we|he|she|they|i))\b)"
            r"|\bin (?:which|what) (?:file|module|script|folder)\b"
            r"|\bwhere (?:is|are|do we|does|did|can i find|do i find|in the (?:code|repo\w*|project))\b[^.?!]{0,80}"
            r"\b(?:defined|implemented|declared|configured|imported|called from|instantiated|code)\b"
        ),
    ),
    (
        Form.WHAT_NEXT,
        re.compile(
            r"\bwhat(?:'s| is| comes?| came| happen(?:s|ed)?| did \w+(?: \w+)? do| do (?:we|i|they) do"
            r"| should (?:we|i) do)?"
            r" (?:next|then|afterwards?|after (?:that|this))\b"
            r"|\bwhat (?:happen(?:s|ed)|came|comes|follow(?:s|ed)|did [\w' ]{1,40} do) (?:right |soon |just )?"
            r"(?:(?:in|at|on|to|with) [\w' ]{1,40} )?(?:after|once|next)\b"
            r"|\band then\?|\bnext steps?\b|\bwhat followed\b"
        ),
    ),
    (
        Form.HOW_MANY,
        re.compile(
            r"\bhow (?:many|much|often|long|old|far|tall|big|large)\b(?! (?:better|worse|more|less)\b)"
            r"|\b(?:what|which) (?:is|was|are|were) the (?:total )?(?:number|count|amount|size) of\b"
            r"|\b(?:number|count) of [\w ]{1,40}\?"
        ),
    ),
    (
        Form.WHEN,
        re.compile(
            _OPENS + r"when(?:'s)?\b(?! (?:i|we|you|he|she|it|they|the|a|an|my|our|his|her|their) [\w' ]{1,60},)"
            r"|\b(?:what|which) (?:date|day|year|month|time|century|decade|season)\b|\bhow long ago\b|\bsince when\b"
        ),
    ),
    (
        Form.WHO,
        re.compile(
            _OPENS + r"who(?:m|se|'s)?\b"
            r"|\bwh(?:at|ich) (?:person|man|woman|author|actor|actress|singer|developer|user|colleague|member"
            r"|character)\b"
        ),
    ),
)
_CLAUSE = re.compile(r"\b(?:the|a|an|those|one|someone|somebody|people|man|woman|person) who(?:m|se)?\b")


def form_of(query: str) -> Form | None:
    """Return the form of a question, None if it has none of them; of several the one that is asked first.

    >>> form_of("Who stole the amulet?")
    <Form.WHO: 'who'>
    >>> form_of("What did the boy who ran away eat?")
    """
    words = query[:_READ_CHARS].casefold().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    words = _CLAUSE.sub(lambda clause: " " * len(clause[0]), words)
    found = [(match.start(), order, form) for order, (form, rule) in enumerate(_FORMS) if (match := rule.search(words))]
    if direction_of(words) is ChainDirection.BACK:
        why = re.search(r"\bwhy\b", words)
        found.append((why.start() if why else 0, -1, Form.WHY))
    return min(found)[2] if found else None
