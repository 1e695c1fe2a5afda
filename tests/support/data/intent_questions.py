"""Questions of our own with their task, and whether they ask for now; those behind a dash are near-misses."""

from __future__ import annotations

from vicw_shared.wire.retrieve import Task

_U, _S, _B, _D, _A, _R = (
    Task.UNDERSTAND,
    Task.FIND_SPEC,
    Task.FIX_BUG,
    Task.FIND_DECISION,
    Task.ADD_FEATURE,
    Task.REFACTOR,
)

TASKS: tuple[tuple[str, Task | None], ...] = (
    ("How does the retry queue work?", _U),
    ("Explain the sync protocol to me", _U),
    ("Give me an overview of the billing service", _U),
    ("What does the Outbox class do?", _U),
    ("Walk me through the login flow", _U),
    ("What is the difference between a lease and a lock here?", _U),
    ("What are the requirements for the export file?", _S),
    ("Where is the spec of the webhook payload?", _S),
    ("Which fields are mandatory in the invoice schema?", _S),
    ("What are the allowed values of the status column?", _S),
    ("According to the documentation, how many retries are made?", _S),
    ("Show me the acceptance criteria of the search page", _S),
    ("The importer crashes with a KeyError on empty rows", _B),
    ("Why does the upload fail with a 413?", _B),
    ("Fix the memory leak in the worker", _B),
    ("Login is not working after the deploy", _B),
    ("There is a bug in the date parser", _B),
    ("What was the root cause of Monday's outage?", _B),
    ("Why did we choose Redis over RabbitMQ?", _D),
    ("What did the team decide about the pricing page?", _D),
    ("What was the rationale for dropping Python 3.9?", _D),
    ("Which alternatives were considered and rejected?", _D),
    ("Did we agree on a date for the launch?", _D),
    ("Why are we using gRPC instead of REST?", _D),
    ("Add support for OAuth logins", _A),
    ("How can I implement pagination for the orders list?", _A),
    ("I need to add a new endpoint for refunds", _A),
    ("Let's introduce a dark theme", _A),
    ("How would I extend the importer with YAML?", _A),
    ("Refactor the payment module", _R),
    ("Split the god class into smaller modules", _R),
    ("Extract the retry logic into a helper function", _R),
    ("Clean up the legacy scheduler", _R),
    ("How do we simplify this function without changing it?", _R),
    # Near-misses.
    ("What did Ana have for lunch?", None),
    ("Who stole the amulet?", None),
    ("When did the ferry leave the harbour?", None),
    ("Where does my sister live?", None),
    ("Which colour was the dragon's cloak?", None),
    ("Did the princess marry the miller's son?", None),
    ("Where was the composer of Aida born?", None),
    ("Which river runs through the town of the inventor?", None),
)

NOW: tuple[tuple[str, bool], ...] = (
    ("Where does Ana currently live?", True),
    ("What is our latest price for the basic plan?", True),
    ("Is the old endpoint still in use?", True),
    ("What is my current job?", True),
    ("Which database are we using now?", True),
    ("Where did Ana live in 2019?", False),
    ("What was the latest project in July 2023?", False),
    ("How large is the current through the coil?", False),
    ("Now that it works, what is its price?", False),
    ("What stories does she know?", False),
)
