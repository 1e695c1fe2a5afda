"""Sentences that instruct or describe, as handbooks do, and tell of nothing that happened.

The model of causes has learnt from news. What it takes for a cause and its effect in reference prose mostly is none:
*you need nightly to build this*, *shall be dual licensed as above*.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from vicw_shared.language.analysis import Word

_HEADING = re.compile(r"(?m)^#{1,6}[ \t]+\S")
_CODE = re.compile(r"[`\[\]{}<>=|#_\\*]|://")
_TO_THE_READER = frozenset({"you", "your", "shall"})
_SUPPOSING = frozenset({"if", "unless", "whether"})
_PAST_AUX = frozenset({"was", "were", "had", "did"})
_PAST = frozenset(
    "was were had did went came took made said told began fell rose broke lost won left led met sent shot ran fled "
    "held kept got gave found felt saw knew thought brought bought caught fought taught sought struck stood sat slept "
    "spoke spent drove wrote ate drank threw grew blew flew drew woke chose froze stole wore tore swore bore became "
    "sank rang sang swam shook overtook built burnt dealt meant paid laid lay sold swept wept crept bled fed sped "
    "bound wound hung stuck dug spun swung".split()
)
_BETWEEN = frozenset({"ADV", "PART"})


def is_reference(text: str) -> bool:
    """Tell whether a text is a page with headings, in Markdown."""
    return _HEADING.search(text) is not None


def instructs(words: Sequence[Word]) -> bool:
    """Tell whether a sentence speaks to its reader, or has code or markup in it."""
    return any(word.lower in _TO_THE_READER or _CODE.search(word.text) is not None for word in words)


def tells_of_past(words: Sequence[Word]) -> bool:
    """Tell whether a sentence supposes nothing and has a verb in the past tense, no participle (*files removed*)."""
    return not any(word.lower in _SUPPOSING for word in words) and any(
        (word.tag == "AUX" and word.lower in _PAST_AUX) or (word.tag == "VERB" and _is_past(words, at))
        for at, word in enumerate(words)
    )


def _is_past(words: Sequence[Word], at: int) -> bool:
    word = words[at]
    if word.relation in {"amod", "acl"} or not (word.lower in _PAST or word.lower.endswith("ed")):
        return False
    before = next((words[back] for back in range(at - 1, -1, -1) if words[back].tag not in _BETWEEN), None)
    return before is None or before.tag != "AUX"
