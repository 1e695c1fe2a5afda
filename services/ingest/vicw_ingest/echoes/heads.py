"""What may stand before, after and around a result that an application writes in its own way.

A head is one only if it says nothing but what is known of the very result (who said it, when, its id, …), its rank, and
words for such things: ``Wrong: …`` before a memory is news, ``Ana: …`` before what Ana said is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from vicw_shared.clock import written
from vicw_shared.model import Node
from vicw_shared.text import fold

_TOKEN = re.compile(r"[^\W\d_]+|\d+")
_SCORE = re.compile(r"\b[01]\.\d+\b|\b\d{1,3} ?%")
_WORDS = frozenset(
    "answer assistant agent ai background bot chat chunk content context conversation date document documents domain "
    "evidence excerpt excerpts fact facts flow history human id info information item kind knowledge known match "
    "memories memory message messages name note notes passage passages quote rank recall recalled remember remembered "
    "result results retrieved role score snippet snippets source sources speaker subtype system tag text thread time "
    "timestamp title tool turn type uid user "
    "erinnerung erinnerungen kontext wissen ergebnis ergebnisse quelle quellen notizen".split()
)
"""What applications call memories, and what they tell of them."""
_BETWEEN = frozenset(
    "a about according and are at based been by earlier end following for found from have here i in is long me my of "
    "on past previous previously relevant said said start stored term that the these this to use user us we what "
    "where which with wrote you your know t z utc und die der das aus von".split()
)
_PARTS = re.compile(r"[\s\-=_*~#·•|+<>/\[\](){}`\"'—–…:.,;]*")
_RANK_DIGITS = 3
_OPENS = re.compile(r"[ \t>]*(?:#|<|\[|\*\*|==|--)")
_MOST_HEADS = 8
_HEAD_CHARS = 160
_HEAD_END = re.compile(
    r"(?:[:\])}|·–—-]|[*_]{2}|^[ \t>]*[(#]?\d{1,4}[.):]?|^[ \t>]*[*+•])[ \t]+|(?<=[\w\"'])>[ \t]*", re.MULTILINE
)
_TAIL = re.compile(
    r"[ \t]*(?:[ \t][(\[][^()\[\]\n]{1,160}[)\]]|[ \t](?:[·|–—]|--?)[ \t][^\n]{1,120}|</[\w-]{1,30}>)[ \t]*$"
)


def after_heads(text: str, start: int, end: int) -> Iterator[int]:
    """Yield where the words of a line may begin behind a head, and first where they begin without one."""
    body = text[start:end].lstrip()
    yield (start := end - len(body))
    near = min(end, start + _HEAD_CHARS)
    for count, match in enumerate(_HEAD_END.finditer(text, start, near), start=1):
        if match.end() >= end or count > _MOST_HEADS:
            return
        yield match.end()


def before_tail(text: str, start: int, end: int) -> int | None:
    """Return where the words of a line end before what an application tells behind them; None if it tells nothing."""
    match = _TAIL.search(text, max(start, end - 2 * _HEAD_CHARS), end)
    return match.start() if match is not None and match.start() > start else None


def is_bare(head: str) -> bool:
    """Tell whether a head has no word: it is a mark of a list or of a quotation, and anybody's."""
    return _TOKEN.search(head) is None


def fits(head: str, source: Node) -> bool:
    """Tell whether a head says nothing that is not known of what stands behind it."""
    tokens = _TOKEN.findall(_SCORE.sub(" ", fold(head)))
    if not tokens:
        return True
    number = next((n for n, token in enumerate(tokens) if token.isdigit()), None)
    if number is not None and len(tokens[number]) <= _RANK_DIGITS:
        del tokens[number]  # its rank
    known = _known(source) | _WORDS
    return all(token in known or token in _BETWEEN for token in tokens) and (
        not tokens or any(token in known for token in tokens)
    )


def is_frame(line: str) -> bool:
    """Tell whether a line announces memories or parts them, no more: ``Context:``, ``</memory>``, ---."""
    tokens = _TOKEN.findall(fold(line))
    if not tokens:
        return _PARTS.fullmatch(line) is not None
    announces = line.rstrip().endswith(":") or _OPENS.match(line) is not None
    return announces and all(t in _WORDS or t in _BETWEEN for t in tokens) and any(t in _WORDS for t in tokens)


def _known(source: Node) -> frozenset[str]:
    name = source.name if source.title is not None or source.name == source.speaker else None
    at = source.timestamp
    values = (
        *(source.speaker, source.title, name, source.source_id, source.source, source.uid, source.context),
        *(source.domain, source.flow_id, source.subtype),
        *((written(at), at.isoformat()) if at is not None else ()),
    )
    return frozenset(token for value in values if value for token in _TOKEN.findall(fold(value)))
