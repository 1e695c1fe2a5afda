"""States that exclude each other, by what they are of; words and phrases that say one are one state."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Axis:
    """States of which one holds: words by the state that they say. ``of``: people, things, work, or any of them."""

    name: str
    words: dict[str, str]
    of: str = "any"


def _axis(of: str, *states: str, name: str = "") -> Axis:
    words = {word: state.split("|")[0] for state in states for word in state.split("|")}
    return Axis("state " + (name or next(iter(words))), words, of)


AXES = (
    _axis(
        "work",
        "open|reopened|unresolved",
        "closed|resolved|solved|settled",
        "pending|under review|under discussion|under consideration|under negotiation|proposed|"
        "waiting for QA|in QA|in review|being reviewed|awaiting approval|waiting for approval|"
        "waiting for review|under examination|awaiting review|up for review",
        "approved|accepted|granted|signed off",
        "rejected|refused|declined|denied|turned down",
        "merged",
        "in progress|underway|under way|ongoing|being worked on|being processed|processing|half done",
        "blocked",
        "unblocked|resumed|running again|back on track",
        "done|finished|completed|complete",
        "shipped|sent|dispatched|on its way|in transit",
        "delivered|arrived",
        "draft|a draft",
        "final|finalised|finalized|published",
        "live|deployed|released|rolled out|in production|generally available",
        "on hold|paused|suspended",
        "cancelled|canceled|withdrawn|abandoned|scrapped",
        "archived",
        "in beta|beta|in testing|being tested",
        "fixed|patched",
        "signed",
        "submitted",
        "filled",
        "to do|not started|in the backlog|in the queue|queued",
        "ended|over",
        "reverted|rolled back",
        name="status",
    ),
    _axis("work", "paid|paid off", "unpaid|overdue|outstanding", "refunded"),
    _axis("thing", "open|reopened|open again", "closed|shut"),
    _axis(
        "thing",
        "on|enabled|activated|switched on|turned on|true",
        "off|disabled|deactivated|switched off|turned off|false",
        name="on",
    ),
    _axis(
        "thing",
        "working|up|online|running|fixed|repaired|operational|reachable|mended|back up|back online|"
        "up and running|in service|in working order|back in service|working fine|working properly|"
        "back to normal|functional",
        "broken|down|offline|out of order|out of service|broken down|jammed|unreachable|not responding|"
        "under repair|being repaired|kaput|out of action|faulty|defective|flooded|taken down|taken offline|"
        "leaking|dripping|acting up|suspended|interrupted|stuck|on the blink",
    ),
    _axis("any", "available|in stock|back in stock", "unavailable|sold out|out of stock"),
    _axis("person", "single", "dating", "engaged", "married", "divorced", "widowed"),
    _axis("person", "employed", "unemployed|out of work|between jobs|jobless", "retired", name="work"),
    _axis(
        "person",
        "sick|ill|unwell|in hospital|in the hospital|laid up",
        "well|healthy|recovered|out of hospital|back on my feet|better",
    ),
    _axis("person", "vegetarian|a vegetarian", "vegan|a vegan"),
    _axis("person", "pregnant"),
    _axis("any", "asleep", "awake"),
    _axis("thing", "locked", "unlocked"),
    _axis(
        "thing",
        "full|fully booked|booked up|filled|filled up|topped up|refilled|charged|fully charged|recharged",
        "empty|flat|out of battery",
    ),
    _axis("thing", "blocked|congested|impassable", "clear|passable|unblocked"),
    _axis("thing", "for sale|on the market|to let|for rent", "sold|under offer"),
    _axis(
        "person",
        "away|on holiday|on vacation|on leave|on parental leave|on maternity leave|on paternity leave|"
        "out of office|out of the office|on sick leave",
        "back",
    ),
    _axis("thing", "public|open source", "private|closed source", name="public"),
    _axis("any", "dead", "alive"),
    _axis("thing", "green|passing", "red|failing"),
    _axis("thing", "free|vacant", "occupied|taken|rented out|let|booked|reserved|in use"),
    _axis("thing", "clean|tidy|cleaned", "dirty|a mess|messy|filthy|untidy"),
    _axis("thing", "wet", "dry"),
    _axis("any", "missing|lost", "found|back home"),
    _axis(
        "thing",
        "supported|maintained|actively maintained|stable|steady",
        "unsupported|deprecated|unmaintained|retired|discontinued|end of life",
        "unstable|experimental|flaky",
    ),
    _axis("thing", "required|mandatory|compulsory", "optional|voluntary"),
    _axis("thing", "allowed|permitted|accepted", "banned|forbidden|prohibited"),
    _axis("thing", "valid|renewed", "expired|invalid"),
    _axis("thing", "visible", "hidden"),
    _axis("thing", "active", "inactive|dormant"),
    _axis("thing", "ready", "not ready"),
    _axis("thing", "under construction|being built|being renovated|under renovation", "finished|built|renovated"),
)
STATES = frozenset(word for axis in AXES for word in axis.words)
STATE = "|".join(sorted(STATES, key=lambda word: (-len(word), word)))
"""The states as a pattern, the longest first."""
_ENDS = {
    "done": frozenset({"closed", "merged", "delivered", "final", "live", "fixed", "signed", "archived", "ended"}),
    "closed": frozenset({"done", "merged", "fixed", "archived", "ended"}),
}


def may_both_be(one: str, other: str) -> bool:
    """Tell whether two states of one axis may be at once: what is done may be closed, or live.

    >>> may_both_be("done", "live"), may_both_be("open", "live")
    (True, False)
    """
    return other in _ENDS.get(one, ()) or one in _ENDS.get(other, ())
