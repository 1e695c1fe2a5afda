"""Whether a question asks for what held before, by its words. Rules, no model."""

from __future__ import annotations

import re

_PAST = re.compile(
    r"\b(?:before|used to|did (?:\w+ ){1,3}use to|previous(?:ly)?|former(?:ly)?|original(?:ly)?|initial(?:ly)?"
    r"|at first|(?:the|my|your|his|her|its|our|their|whose) (?:very )?(?:first|earliest|highest|lowest)"
    r"|back (?:then|when)|in the past|once (?:was|were|had|lived|worked)|no longer|any ?more|histor(?:y|ically)"
    r"|over time|so far|(?:develop|evolv|progress|fluctuat)(?:e[sd]?|ed|ing)?|since when|how (?:\w+ ){1,4}changed?"
    r"|(?<!how long )ago|the other day"
    r"|(?:(?<=['’]s )|(?<=s['’] )|(?:my|your|his|her|its|our|their|the) )old (?:e-?mail |phone )?"
    r"(?:address|number|phone|job|role|title|name|password|employer|boss|version|value|plan|position|setting)(?:es|s)?)\b",
    re.IGNORECASE,
)


def asks_for_past(query: str) -> bool:
    """Return whether a question asks for what was true before, or for how something changed.

    >>> asks_for_past("Where did Ingrid live before she moved?"), asks_for_past("Who lives at the old harbour?")
    (True, False)
    >>> asks_for_past("What was my highest weight?"), asks_for_past("How did my weight develop?")
    (True, True)
    """
    return _PAST.search(query) is not None


_PAST_TENSE = re.compile(
    r"\b(?:did|was|were|had|wasn['’]?t|weren['’]?t|didn['’]?t|hadn['’]?t|ever|happened|changed|came|went"
    r"|(?:has|have) (?:\w+ ){1,3}(?:been|\w+ed))\b"
    r"|^\W*(?:who|what|which \w+) (?:\w+ed|led|won|told|said|made|got|took|gave|bought|sold|left|began|met|wrote)\b",
    re.IGNORECASE,
)
_BEGINNING = re.compile(
    r"\b(?:(?:at|in|from|since) the (?:very )?(?:beginning|start|outset)|at first|original(?:ly)?|initial(?:ly)?"
    r"|before all (?:of )?(?:that|this))\b",
    re.IGNORECASE,
)


def is_in_past_tense(query: str) -> bool:
    """Return whether a verb of a question is in a past tense: then it does not ask for what holds now.

    >>> [is_in_past_tense(query) for query in ("Where did I work?", "Where do I work?", "Who led the team?")]
    [True, False, True]
    """
    return _PAST_TENSE.search(query) is not None


def asks_for_beginning(query: str) -> bool:
    """Return whether a question asks for what was so at first, so that of several answers the earliest is wanted.

    >>> asks_for_beginning("What did I weigh at the beginning?"), asks_for_beginning("What do I weigh?")
    (True, False)
    """
    return _BEGINNING.search(query) is not None
