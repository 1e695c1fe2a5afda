"""What the frozen store is told, and what it is asked. All of it is invented for this."""

# ruff: noqa: E501 - a text is one line

from __future__ import annotations

from typing import Any

CREW, ORCHARD, TIDES, DESK, GUEST = "Ferry crew", "The Glass Orchard", "Tidewatch", "Harbour desk", "guest"
"""Contexts of the tenant ``default``; the tenant ``guest`` has one of its own, of its name."""
BATES, SPLIT_STEP, ERASED = "Harold Bates", "n5", "e3"
UNEMBEDDABLE = "unembeddable"
"""A text with this word is one that the embedder fails at."""
GIBBERISH = "gibberish"
"""A text with this word is one that the language model fails at."""
LATER = "later"
"""A text with this word is one that waits for the language model."""


def turn(key: str, at: str, speaker: str, text: str, **fields: Any) -> dict[str, Any]:
    return {"id": key, "speaker": speaker, "timestamp": f"2025-03-{at}:00Z", "text": text} | fields


CHAT = [
    turn("c1", "03T08:00", "Nora", "The ferry did not leave because the bow door was frozen.", user="nora@quay"),
    turn("c2", "03T08:01", "Pete", "Harold Bates thawed the bow door with two kettles of water.", user="pete@quay"),
    turn("c3", "03T08:02", "Nora", "My sister Agnes waited on the ferry pier with the mail sacks."),
    turn("c4", "03T08:03", "Pete", "The mail sacks got wet, so the post office closed until noon."),
    turn("c5", "03T08:04", "Nora", "Agnes paid 14 crowns for a dry tarpaulin on the pier."),
    turn("c6", "03T08:05", "Pete", "The ferry left the pier at nine with the mail sacks under the tarpaulin."),
    turn("c7", "03T08:06", "Nora", "On the ferry Captain Ruiz wrote the delay of the bow door into the log."),
    turn("c8", "03T08:07", "Pete", "The log of the ferry says that the bow door needs a heater."),
    turn("c9", "03T08:08", "Nora", "I ordered a heater for the bow door from Lindqvist in Malmo."),
    turn("c10", "03T08:09", "Pete", "Lindqvist will send the heater for the bow door on 20 March 2025."),
    turn("c11", "03T08:10", "Nora", "The heater for the bow door costs 380 crowns."),
    turn("c12", "03T08:11", "Pete", "Captain Ruiz approved the heater and the 380 crowns."),
    turn("c13", "03T08:12", "Nora", "Thanks, I will tell Agnes about the heater for the bow door."),
    turn("c14", "03T08:13", "Pete", "Tell Agnes that the mail sacks are dry again."),
    turn("c15", "03T08:14", "Nora", "The bow door and its heater are on the list for the dock in Malmo."),
]
"""Old turns of one flow, in which two levels of Macro-Events are made."""

_SEEN = ("the lamps of the quay", "a loose plank", "the boat of Jonas", "no smoke on the water", "three gulls")
ROUNDS = [
    turn(
        f"w{n}",
        f"04T22:{n:02}",
        ("Nora", "Pete")[n % 2],
        f"We talked about {_SEEN[n % 5]} in round {n}.",
        tags=["watch"],
    )
    for n in range(12)
]
"""Turns so plain that what stands for them can be folded once more."""

NEWS = [
    turn("n1", "10T09:00", "Nora", "I live in Lyon.", about=["Nora"]),
    turn("n2", "12T09:00", "Pete", "My boss is Dana.", sensitivity="personal", about=["Pete"]),
    turn("n3", "14T09:00", "Nora", "I moved to Porto.", about=["Nora"]),
    turn("n4", "15T09:00", "Pete", "Dana left, so Omar is my boss now.", sensitivity="personal", about=["Pete"]),
    turn(
        SPLIT_STEP, "16T09:00", "Nora", "My uncle Jonas is married to Ben's aunt Clara.", tags=["family", "Wedding"],
        bucket="people", importance="critical", trigger_phrases=["family tree"], metadata={"mood": {"calm": [1, 2]}},
    ),
    turn("n6", "17T09:00", "Pete", "The pin of the till is under the blue mat.", sensitivity="sensitive", portable=False,
         about=["Pete"], protected=True),
    turn("n7", "18T09:00", "Nora", "Yesterday we met Agnes at the lighthouse, and she told us that Jonas sold the boat."),
    turn("n8", "19T09:00", "Pete", "Our weekly meeting is on Tuesdays.", flow_step=7, tags=["meeting"]),
    turn("n9", "20T09:00", "Pete", "We moved the weekly meeting to Thursdays.", flow_step=9, tags=["meeting"]),
]  # fmt: skip

SCENES: list[dict[str, Any]] = [
    {
        "id": "s1", "subtype": "scene", "name": "The Broken Pane", "timestamp": "2025-01-05T10:00:00Z",
        "text": "At dusk Ilse broke the last pane of the glass orchard. The frost came in, and the pear trees died.",
        "tags": ["orchard", "frost"], "bucket": "part one", "importance": 0.8, "source": "manuscript/1.txt",
        "extraction": {
            "entities": [
                {"name": "Ilse", "subtype": "gardener", "description": "She keeps the glass orchard."},
                {"name": "glass orchard", "subtype": "place"},
                {"name": "Tomas", "subtype": "brother"},
                {"name": "the ledger of frost", "subtype": "book"},
            ],
            "events": [
                {"id": "break", "name": "Ilse breaks the last pane", "timestamp": "2025-01-05T17:00:00Z"},
                {"id": "frost", "name": "The frost comes in"},
                {"id": "death", "name": "The pear trees die"},
            ],
            "concepts": [{"name": "guilt", "subtype": "theme"}, {"name": "the winter rule", "subtype": "rule"}],
            "relations": [
                {"source": "Ilse", "type": "INITIATED", "target": "break"},
                {"source": "break", "type": "CAUSED", "target": "frost", "certainty": 0.9},
                {"source": "frost", "type": "CAUSED", "target": "death", "certainty": 0.8},
                {"source": "guilt", "type": "ENABLED", "target": "break", "certainty": 0.4},
                {"source": "Ilse", "type": "HAS_RELATIONSHIP", "target": "Tomas", "desc": "sister"},
                {"source": "Ilse", "type": "RELATED_TO", "target": "glass orchard", "desc": "keeps", "weight": 0.7},
                {"source": "the winter rule", "type": "GOVERNS", "target": "glass orchard"},
                {"source": "the ledger of frost", "type": "DESCRIBES", "target": "frost"},
                {"source": "break", "type": "IMPLEMENTS", "target": "guilt"},
                {"source": "glass orchard", "type": "CONTAINS", "target": "Tomas"},
                {"source": "the ledger of frost", "type": "LINKS_TO", "target": "guilt"},
                {"source": "glass orchard", "type": "HAS_ENTRYPOINT", "target": "the ledger of frost"},
                {"source": "glass orchard", "type": "HAS_INDEX", "target": "the ledger of frost"},
                {"source": "glass orchard", "type": "DEPENDS_ON", "target": "the winter rule"},
                {"source": "$item", "type": "REFERENCES", "target": "the ledger of frost"},
                {"source": "death", "type": "STATED_BY", "target": "Tomas"},
                {"source": "death", "type": "DERIVED_FROM", "target": "frost"},
                {"source": "$item", "type": "ABOUT", "target": "Ilse"},
            ],
        },
    },
    {
        "id": "s2", "subtype": "scene", "name": "The Search", "timestamp": "2025-01-06T10:00:00Z",
        "text": "Tomas searched the ashes for the key of the orchard. He found it under the third pear tree.",
        "tags": ["orchard", "key"], "bucket": "part one",
        "extraction": {
            "entities": [{"name": "Tomas", "subtype": "brother"}, {"name": "orchard key", "subtype": "object"}],
            "events": [{"id": "find", "name": "Tomas finds the key"}],
            "relations": [
                {"source": "Tomas", "type": "INITIATED", "target": "find"},
                {"source": "s1", "type": "CAUSED", "target": "find", "certainty": 0.5},
                {"source": "find", "type": "SUPPORTS", "target": "s1"},
            ],
        },
    },
    {
        "id": "s3", "subtype": "scene", "name": "The Denial", "timestamp": "2025-01-07T10:00:00Z",
        "text": "Ilse swore that no pane was ever broken, and that Tomas had dreamt the frost.", "tags": ["frost"],
        "extraction": {
            "entities": [{"name": "Ilse", "subtype": "gardener"}],
            "events": [{"id": "oath", "name": "Ilse swears that no pane was broken"}],
            "relations": [
                {"source": "Ilse", "type": "INITIATED", "target": "oath"},
                {"source": "oath", "type": "CONTRADICTS", "target": "s1"},
            ],
        },
    },
]  # fmt: skip
READ_BY_MODEL = {
    "id": "s4", "subtype": "scene", "name": "The Return", "timestamp": "2025-01-08T10:00:00Z",
    "text": "Maren Holt bought the glass orchard in spring. Because Maren Holt lit the stoves, the pears came back.",
}  # fmt: skip
MODEL_SAYS = {
    "entities": [
        {"id": "e1", "name": "Maren Holt", "aliases": [], "subtype": "buyer", "description": "She bought it."},
        {"id": "e2", "name": "glass orchard", "aliases": [], "subtype": "place", "description": None},
    ],
    "concepts": [],
    "events": [
        {"id": "v1", "name": "Maren Holt lights the stoves", "quote": "Maren Holt lit the stoves", "subtype": None},
        {"id": "v2", "name": "The pears come back", "quote": "the pears came back", "subtype": None},
    ],
    "relations": [
        {"source": "e1", "type": "INITIATED", "target": "v1"},
        {"source": "v1", "type": "CAUSED", "target": "v2", "certainty": 0.9},
        {"source": "e1", "type": "RELATED_TO", "target": "e2", "desc": "owner"},
    ],
    "claims": [
        {"quote": "Maren Holt bought the glass orchard", "subject": "e2", "attribute": "owner", "value": "Maren Holt"}
    ],
}
LEFT_UNREAD: list[dict[str, Any]] = [
    {"id": "u1", "text": f"This {GIBBERISH} about the stove cannot be read by a model."},
    {"id": "u2", "text": f"The stove of the orchard is swept {LATER} in the year."},
]

PAGES = {
    "README.md": "# Tidewatch\n\nStart with the [guide](docs/guide.md). The code is in [tides.py](src/tides.py).\n",
    "docs/README.md": "# Handbook\n\n* [Guide](guide.md)\n* [Release policy](policy.md)\n* [[nowhere]]\n",
    "docs/guide.md": "---\nid: ADR-3\naliases: [tide guide]\ntags: [guide]\n---\n# Tide guide\n\n## Run it\n\nRun `read_gauge` "
    "first. See the [policy](policy.md#approval).\n\n## Gauges\n\nA gauge is read every ten minutes.\n",
    "docs/policy.md": "# Release policy\n\n## Approval\n\nEvery release must be approved by a second person. A release "
    "must never be made on a Friday.\n",
    "src/main.py": '"""Start."""\n\nfrom tides import read_gauge\n\n\ndef main() -> None:\n    """Read and print."""\n'
    "    print(read_gauge(3))\n",
    "src/tides.py": '"""Gauges."""\n\nimport json\n\n\ndef read_gauge(number: int) -> float:\n    """Return the level of a '
    'gauge, see ADR-3."""\n    return decode(json.loads(str(number)))\n\n\ndef decode(level: object) -> float:\n'
    '    """Return a level in metres."""\n    return float(str(level))\n',
}
SHA = "0123456789abcdef0123456789abcdef01234567"
CODE: list[dict[str, Any]] = [
    {"id": SHA, "subtype": "commit", "name": "feat: cache levels", "text": "feat: cache levels (ADR-3)",
     "timestamp": "2025-02-01T09:00:00Z", "source": "git"},
    {"id": "fix", "subtype": "commit", "name": "fix: no cache", "timestamp": "2025-02-02T09:00:00Z", "text":
     "commit 89abcdef0123456789abcdef0123456789abcdef\nAuthor: Vera Lund <vera@example.org>\n"
     f"Date:   Sun Feb 2 10:00:00 2025 +0000\n\n    fix: no cache of levels\n\n    This reverts commit {SHA}.\n"
     "    Fixes #12\n\n src/tides.py | 3 +--\n 1 file changed\n"},
    {"id": "trace", "speaker": "Vera", "timestamp": "2025-02-03T09:00:00Z", "flow_id": "incident", "text":
     "The night run died again.\n\nTraceback (most recent call last):\n  File \"src/tides.py\", line 8, in read_gauge\n"
     "    return decode(level)\nValueError: no level\n\nThe above exception was the direct cause of the following "
     "exception:\n\nTraceback (most recent call last):\n  File \"src/main.py\", line 8, in main\n    print(read_gauge(3))\n"
     "RuntimeError: no gauge\n\nI will read gauge 4 instead.\n"},
    {"id": "release", "speaker": "Vera", "timestamp": "2025-02-07T17:00:00Z", "flow_id": "incident",
     "text": "We made the release on Friday evening without asking a second person, says ADR-3."},
    {"id": "snippet", "subtype": "function", "name": "round_level", "text":
     "def round_level(level: float) -> float:\n    \"\"\"Round a level to centimetres.\"\"\"\n    return round(level, 2)\n"},
]  # fmt: skip

STORM = "The winter storm broke the old beacon near the south pier last night"
NOTES: list[dict[str, Any]] = [
    {"id": "d1", "text": f"{STORM}.", "tags": ["storm", "beacon"]},
    {"id": "d2", "text": f"{STORM}, said the watchman."},
    {"id": "d3", "text": f"{STORM}, wrote the harbour master into his book."},
    {"id": "d4", "text": "A baker sells fresh bread and sweet pastry on the market square."},
    {"id": "e1", "text": "The parking permit of the harbour desk ends soon.", "expires_at": "2025-07-01T00:00:00Z"},
    {"id": "e2", "text": "The lease of the harbour desk runs for a long time.", "expires_at": "2999-01-01T00:00:00Z"},
    {"id": "v1", "text": "The harbour desk opens at eight.", "timestamp": "2025-04-01T08:00:00Z", "flow_id": "desk"},
    {"id": "v2", "text": "The harbour desk has a red door.", "timestamp": "2025-04-02T08:00:00Z", "flow_id": "desk"},
    {"id": ERASED, "text": "Quentin Marsh lost his badge at the desk.", "speaker": "Rosa",
     "timestamp": "2025-04-03T08:00:00Z", "flow_id": "desk"},
    {"id": "e4", "text": "The spare badge is in the drawer of the desk.", "timestamp": "2025-04-04T08:00:00Z",
     "flow_id": "desk"},
    {"id": "r1", "text": "The desk sells stamps on Sundays.", "timestamp": "2025-04-05T08:00:00Z", "flow_id": "desk"},
    {"id": "r2", "text": "The desk lends umbrellas in autumn.", "timestamp": "2025-04-06T08:00:00Z"},
    {"id": "r3", "text": "The coffee of the desk is bad, and nobody has asked for it since.", "importance": 0.05},
    {"id": "r4", "text": "The clock of the desk is slow by two minutes.", "importance": 0.01},
    {"text": "A note without an id of its own hangs at the desk."},
]  # fmt: skip
PEOPLE: list[dict[str, Any]] = [
    {"id": f"p{number}", "text": f"{number}: {name} was seen in Oslo and in Bergen.", "extraction": {"entities": [
        {"name": name, "subtype": "person"}, {"name": "Oslo", "subtype": "place"}, {"name": "Bergen", "subtype": "place"}
    ]}}
    for number, name in enumerate(
        ("Jose Lima", "José Lima", "Renee Falk", "Renée Falk", BATES, "Harry Bates", "Captain Ruiz", "Capt. R.",
         "Andre Roy", "André Roy")
    )
]  # fmt: skip
REPEATED = "Harold Bates thawed the bow door with two kettles of water."
QUOTING = f"> {REPEATED}\n\nThat was a clever thing to do on such a cold morning, was it not?"

GUESTS: list[dict[str, Any]] = [
    {"id": "g1", "text": "The guest book of the inn lies on the oak table.", "tags": ["inn"], "speaker": "Ida"},
    {"id": "g2", "text": "The inn burns peat because wood is dear.", "speaker": "Ida"},
]

ASKED = "2025-09-01T12:00:00+00:00"
"""When the questions are asked, where they tell a time."""
QUESTIONS: dict[str, dict[str, Any]] = {
    "why, by rules": {"query": "Why did the ferry not leave?", "context": CREW},
    "why, of folded turns": {"query": "Why did the post office close until noon?", "query_time": ASKED},
    "why, by the caller": {"query": "Why did the pear trees die?", "context": ORCHARD},
    "why, by a model": {"query": "Why did the pears come back?", "context": ORCHARD},
    "what it led to": {"query": "What did the broken pane lead to?", "context": ORCHARD, "explain": True},
    "why, in a trace": {"query": "Why did the night run die with RuntimeError: no gauge?", "context": TIDES},
    "who": {"query": "Who thawed the bow door?"},
    "who, of kin": {"query": "Who is Nora's sister?", "context": CREW},
    "who, merged": {"query": "What did Harry Bates do?"},
    "who wrote a commit": {"query": "Who wrote the fix of the cache?", "domain": "coding"},
    "when": {"query": "When does Lindqvist send the heater?", "context": CREW},
    "when, by the asker's now": {"query": "What did we do on 17 March 2025?", "query_time": ASKED},
    "how many": {"query": "How many crowns does the heater cost?"},
    "what next": {"query": "What happened after Captain Ruiz wrote into the log?", "context": CREW},
    "now": {"query": "Where does Nora live now?", "context": CREW},
    "as of": {"query": "Where does Nora live?", "context": CREW, "as_of": "2025-03-12T00:00:00Z"},
    "known at": {"query": "When does the harbour desk open?", "known_at": "2025-06-02T00:00:00Z"},
    "known now": {"query": "When does the harbour desk open?"},
    "retracted": {"query": "Does the desk sell stamps on Sundays?", "context": DESK},
    "over": {"query": "Does the desk lend umbrellas?", "context": DESK, "as_of": "2025-04-10T00:00:00Z"},
    "expired": {"query": "the parking permit of the harbour desk", "context": DESK},
    "erased": {"query": "Who lost his badge at the desk?", "context": DESK},
    "tags, any": {"query": "the orchard in winter", "tags": {"any": ["frost", "key"]}, "query_time": ASKED},
    "tags, all and none": {"query": "the orchard", "tags": {"all": ["orchard"], "none": ["key"]}},
    "dreamt": {"query": "the storm and the beacon", "context": DESK},
    "trigger phrase": {"query": "Can you draw me a family tree?"},
    "viewer": {"query": "Who is Pete's boss?", "viewer": {"user": "pete@quay", "context": CREW}},
    "another viewer": {"query": "Who is Pete's boss?", "viewer": {"user": "nora@quay", "context": CREW}},
    "a viewer elsewhere": {"query": "Where is the pin of the till?", "viewer": {"user": "pete@quay", "context": DESK}},
    "domain, coding": {"query": "How is a gauge read?", "domain": "coding"},
    "domain, inferred": {"query": "Which function returns the level of a gauge?"},
    "policy": {"query": "May a release be made on a Friday?"},
    "multi-hop": {"query": "What does the company cost that sends what Captain Ruiz approved?", "limit": 5},
    "folded, by one channel": {"query": "the tarpaulin on the pier", "channels": ["bm25"], "limit": 3},
    "by the graph's own words": {"query": "mail sacks", "channels": ["fulltext"], "limit": 5},
    "small budget": {"query": "the bow door and its heater", "budget": {"chars": 300}, "limit": 4},
}
