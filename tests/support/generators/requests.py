"""Requests out of few names, times and words, so that they meet: what hypothesis tells both sides of a comparison.

Most fields are one draw from a list, nothing weighing as much as something: a story of many requests is then still
small enough to be made smaller when it fails.
"""

from __future__ import annotations

from datetime import timedelta
from itertools import cycle, islice
from typing import Any

from hypothesis import strategies as st

from support.stores.pairs import START

type Drawn = st.SearchStrategy[Any]

_WORDS = ("harbour", "lighthouse", "keeper", "ships", "counted", "burned", "volcano", "the", "Numpy.pinned", "éclair")
IDS = ("a", "b", "c", "D d")
PAGE_IDS = ("p", "q", "r")
_PEOPLE = ("Ana", "Ben", "ana ")
_TAGS = ("sea", "Sea", "night", "draft")
CONTEXTS = ("home", "work")
_DOMAINS = ("coding", "prose", "general")
_FLOWS = ("f", "g")
_SHARES = (0.0, 0.5, 0.9)
_TYPES = ("CAUSED", "CAUSED", "CAUSED", "RELATED_TO", "MENTIONS", "SUPPORTS", "INITIATED", "ABOUT", "NEXT", "NONE")


def maybe(*values: object, of: int = 2) -> Drawn:
    """Draw one of the values, in one of so many cases."""
    return st.sampled_from([*values, *[None] * (len(values) * (of - 1))])


def minutes(*after: int) -> list[str]:
    """Return instants so many minutes after the first."""
    return [(START + timedelta(minutes=m)).isoformat() for m in after]


def record(**fields: Drawn) -> Drawn:
    """Draw an object without the fields that are None: to send null is to send nothing, which others try."""
    return st.fixed_dictionaries(fields).map(lambda drawn: {k: v for k, v in drawn.items() if v is not None})


def some(*names: str) -> Drawn:
    """Draw no, one or two names."""
    pairs = [[one, other] for one in names for other in names if one < other]
    return st.sampled_from([*[[]] * len(names), *([name] for name in names), *pairs])


def _text(start: int, count: int, step: int) -> str:
    return " ".join(islice(cycle(_WORDS), start, start + count * step, step))


_CLAIMS = (
    "I live in Lyon.",
    "I moved to Porto.",
    "Ana said that Ben lives in Oslo.",
    "Ben lives in Lyon.",
    "The harbour is open.",
    "The harbour is closed. The keeper has two boats.",
    "The keeper has three boats now.",
    "The lighthouse keeper burned ADR-7.",
)
_TEXTS = st.one_of(
    st.builds(
        _text,
        start=st.integers(0, len(_WORDS) - 1),
        count=st.sampled_from([1, 2, 3, 4, 6, 25, 60]),  # those of many words are cut into passages
        step=st.sampled_from([1, 3, 7]),
    ),
    st.sampled_from(_CLAIMS),
)
_THINGS = st.sampled_from(
    [
        {"name": "amulet"},
        {"name": "amulet", "subtype": "artifact", "description": "as told"},
        {"name": "Mara", "subtype": "villain"},
        {"name": "Ana", "subtype": "person", "description": "as told"},
    ]
)
_CONCEPTS = st.sampled_from([{"name": "greed"}, {"name": "night", "subtype": "tag"}, {"name": "villain"}])
_EVENTS = st.sampled_from(
    [{"name": "fire"}, {"name": "theft", "subtype": "crime", "timestamp": minutes(-60)[0]}, {"id": "e", "name": "fire"}]
)


@st.composite
def _extractions(draw: st.DrawFn) -> dict[str, Any]:
    """Draw an extraction, most relations of which join what there is."""
    told = {
        "entities": draw(st.lists(_THINGS, max_size=2, unique_by=lambda told: told["name"])),
        "concepts": draw(st.lists(_CONCEPTS, max_size=1)),
        "events": draw(st.lists(_EVENTS, max_size=2, unique_by=lambda told: told["name"])),
    }
    named = [entry.get("id", entry["name"]) for entries in told.values() for entry in entries]
    ends = st.sampled_from([*named * 9, *["$item"] * 9, *IDS, "nobody"])
    relation = record(
        source=ends,
        type=st.sampled_from(_TYPES),
        target=ends,
        certainty=maybe(*_SHARES),
        weight=maybe(*_SHARES, of=3),
        desc=maybe("friend", "foe", of=3),
    )
    return {**told, "relations": draw(st.lists(relation, max_size=2))}


_FIELDS: dict[str, Drawn] = {
    "text": _TEXTS,
    "subtype": maybe("scene", "function", "note"),
    "name": maybe("Title", "The Betrayal", of=3),
    "speaker": maybe(*_PEOPLE, "assistant"),
    "user": maybe("u1", "ben", of=3),
    "timestamp": maybe(*minutes(-600, -60, -60, 0, 10, 1000)),
    "flow_id": maybe(*_FLOWS, of=3),
    "flow_step": maybe(-1, 1, 2, of=3),
    "tags": some(*_TAGS),
    "bucket": maybe("box", "Box", of=3),
    "source": maybe("file.txt", of=3),
    "metadata": maybe({"page": 1}, of=3),
    "sensitivity": maybe("personal", "sensitive", of=3),
    "portable": maybe(False, of=4),
    "about": some(*_PEOPLE),
    "importance": maybe(*_SHARES, "critical", of=3),
    "trigger_phrases": st.sampled_from([[], [], [], ["harbour"], ["Keeper ships", "volcano"]]),
    "expires_at": maybe(*minutes(10, 30, 3000), of=6),
    "extraction": st.none() | st.none() | st.none() | _extractions(),
}
_REQUEST: dict[str, Drawn] = {
    "context": st.sampled_from(CONTEXTS),
    "domain": maybe(*_DOMAINS, of=3),
    "flow_id": maybe(*_FLOWS),
    "wait": st.just(False),
    "extract": st.sampled_from(["auto", "auto", "rules"]),
}
WORDS = st.sampled_from([word for word in _WORDS if word != "the"] + ["Mara", "sea", "Ana", "betrayal"])
TENANTS = st.sampled_from(["t", "t", "u"])
KEYS = maybe("key", "other key", of=8)
INGESTS = record(
    **_REQUEST,
    items=st.lists(
        record(id=maybe(*IDS), **_FIELDS),
        min_size=1,
        max_size=6,
        unique_by=lambda item: item.get("id", id(item)),
    ),
)
BEGINNINGS = record(
    **_REQUEST,
    items=st.lists(record(id=st.none(), **_FIELDS | {"expires_at": st.none()}), min_size=6, max_size=10),
)
"""Enough to ask about."""
UPDATES = record(
    **_REQUEST,
    items=st.lists(
        record(id=st.sampled_from(IDS), **_FIELDS), min_size=1, max_size=3, unique_by=lambda item: item["id"]
    ),
)
"""Few ids, again and again."""
RETRACTIONS = record(
    context=_REQUEST["context"],
    ids=st.lists(st.sampled_from([*IDS, *PAGE_IDS, "nobody's"]), min_size=1, max_size=3),
    ended_at=maybe(*minutes(-60, 0, 5000), of=3),
    wait=st.just(False),
)
RETRIEVES = record(
    query=_TEXTS,
    context=maybe(*CONTEXTS, of=5),
    domain=maybe(*_DOMAINS, of=8),
    limit=st.sampled_from([1, 3, 10, 50]),
    viewer=st.none()
    | record(
        user=maybe(*_PEOPLE, of=1),
        chat=st.sampled_from(["private", "private", "group"]),
        context=maybe(*CONTEXTS),
    ),
    tags=st.none()
    | st.none()
    | st.none()
    | st.none()
    | record(any=some(*_TAGS), all=maybe(["sea"], of=4), none=maybe(["Night"], ["x", "draft"])),
    as_of=maybe(*minutes(-60, 0, 5, 15, 2000), of=8),
    known_at=maybe(*minutes(3, 6, 15), of=8),
    query_time=maybe(*minutes(1, 9, 20, 5000), of=8),
    channels=maybe(["dense"], ["bm25"], of=6),
    expand=st.sampled_from([{"hops": 1}, {"hops": 1}, {"hops": 0}]),
    budget=st.sampled_from([{"chars": 300}, {"chars": 100_000}]),
    explain=st.just(True),
)
