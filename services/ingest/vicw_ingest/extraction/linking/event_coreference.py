"""Event coreference: items of a flow that describe an event in the same words share its node.

Causal chains thus continue across items. The uid of such an event is derived from its words, so that a lookup by uid
finds it.
"""

from __future__ import annotations

import re

from vicw_ingest.extraction.linking.model import ItemExtraction
from vicw_shared.text import fold_case
from vicw_shared.uids import make_uid

_ARTICLES = frozenset({"a", "an", "the"})
_DEICTIC = frozenset(
    "i me my we us our you your he him his she her it its they them their this that these those here there now then "
    "today yesterday tomorrow which who".split()
)
_MIN_WORDS = 3


def shared_event_uid(text: str, item_extraction: ItemExtraction) -> str | None:
    """Return the uid, derived from its words, of an event that items may share; None if they may not share it."""
    words = words_of(text)
    if not item_extraction.shares_events or len(words) < _MIN_WORDS or not _DEICTIC.isdisjoint(words):
        return None
    return make_uid(
        item_extraction.item.tenant,
        item_extraction.item.context,
        "event",
        item_extraction.item.flow_id or "",
        " ".join(words),
    )


def words_of(text: str) -> list[str]:
    """Return the case-folded words of a text without articles."""
    return [word for word in re.findall(r"\w+", fold_case(text)) if word not in _ARTICLES]
