"""A week of a conversation between two people, with questions whose evidence is known."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Any

CONTEXT = FLOW = "lantern"
_TOLD = Path(__file__).with_name("stories") / "week.txt"
_LIMIT = 10


def _read() -> list[list[dict[str, Any]]]:
    lines = [line.split(" ", 2) for line in _TOLD.read_text("utf-8").splitlines()]
    days = groupby(lines, key=lambda line: line[0].partition("T")[0])
    return [
        [
            {"id": f"day{day}-{number}", "timestamp": f"{at}:00Z", "speaker": who.rstrip(":"), "text": text, "subtype": "message"}
            for number, (at, who, text) in enumerate(turns, 1)
        ]
        for day, (_, turns) in enumerate(days, 1)
    ]


DAYS = _read()

QUESTIONS = {
    "Who kept the keys of the cinema?": {"day1-3"},
    "Why does the big projector not start?": {"day1-6"},
    "What does a new lamp cost?": {"day1-8"},
    "Who painted the poster?": {"day1-11"},
    "What cracked because of the boiler?": {"day2-3"},
    "What did the plumber want for the pipe?": {"day2-9"},
    "Why did the plumber give a discount?": {"day2-10"},
    "When did Mina's mother see Brief Encounter with her father?": {"day3-3"},
    "Who repairs the spring of the gramophone?": {"day3-10"},
    "Why did the lamp not come?": {"day4-1"},
    "How many beans did The Third Man have?": {"day4-6"},
    "Who is the fire inspector?": {"day5-1"},
    "Why may only 72 seats be sold?": {"day5-3"},
    "To what pressure did Paul set the boiler?": {"day5-8"},
    "What was wrong with the second reel?": {"day6-4"},
    "Who fetched the second copy from Scarborough?": {"day6-6"},
    "How much money was taken at the door?": {"day6-12"},
    "How much did we spend this week?": {"day7-2"},
    "What can be seen of the harbour in 1938?": {"day7-7"},
    "Who was called Marigold?": {"day7-8"},
}
