"""Synthetic chats for measuring speed: seeded, so that the same numbers give the same texts.

Words are drawn by a Zipf law: the frequent ones are common English, the long tail is made up and pronounceable,
so that the postings of a BM25 index have the shape that real text gives them.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from random import Random

from vicw_shared.wire.ingest import IngestRequest, Item

CONTEXTS = 10
TURNS_OF_A_FLOW = 20
_TAIL_WORDS = 40_000
_ZIPF_EXPONENT = 1.0
_MEDIAN_WORDS, _SIGMA, _LEAST_WORDS, _MOST_WORDS = 25, 0.6, 3, 250
_START = datetime(2025, 1, 1, tzinfo=UTC)
_SPEAKERS = ("Ana", "Bram", "Chloe", "Dev", "user", "assistant")
_COMMON = tuple(
    "the to and of a in i it is that for you was on with my we but have be they at so not this are do me about "
    "just what like as had can out up if there one all get when go some would your time know from or how good her "
    "been did will really think then too now our want more an day he she no by them work back were who see him "
    "after make could got other only very need over even new last home find take week way here people well much "
    "first thing going still next book house year friend family help night made plan trip talk found old tell "
    "started great morning love school feel better never again down before could food city remember today something "
    "long little idea read place money play job wait meet show moved garden music car dinner kitchen doctor phone "
    "party summer winter birthday river mountain project team office meeting report budget letter photo story movie "
    "class teacher dog cat street train flight hotel beach market price gift water coffee bread cake weather rain "
    "snow window door table chair paint guitar piano song dance run walk swim bike camp hike fish cook bake write "
    "call ask answer try learn change move keep start finish buy sell pay save lose win break fix build clean "
    "grow cut carry hold open close turn follow lead bring send leave arrive stay return visit invite join share "
    "sister brother mother father daughter son uncle aunt cousin neighbour boss colleague manager customer".split()
)
_ONSETS = "b bl br c ch d dr f fl g gr h j k kl l m n p pl pr qu r s sh sk sl sp st t th tr v w z".split()
_NUCLEI = "a e i o u ai ea ee oa ou".split()
_CODAS = ["", "", "n", "r", "l", "s", "t", "m", "nd", "rk", "st", "lm"]


@dataclass(frozen=True, slots=True)
class Chat:
    """A maker of chats. The same ``seed`` gives the same words, turns and questions."""

    seed: int = 7

    def requests(self, memories: int, batch: int = 100) -> Iterator[IngestRequest]:
        """Yield ``memories`` turns as requests of at most ``batch`` items, with ids, in ten contexts."""
        random, words = Random(self.seed), _Vocabulary(self.seed)  # noqa: S311 - seeded data
        for start in range(0, memories, batch):
            numbers = range(start, min(start + batch, memories))
            items = tuple(_turn(number, random, words) for number in numbers)
            context = f"chat {start // batch % CONTEXTS}"
            yield IngestRequest(context=context, domain="general", wait=False, items=items)

    def questions(self, count: int) -> list[str]:
        """Return ``count`` distinct questions with words of the turns."""
        random, words = Random(f"questions {self.seed}"), _Vocabulary(self.seed)  # noqa: S311 - seeded data
        asked: dict[str, None] = {}
        while len(asked) < count:
            speaker = random.choice(_SPEAKERS[:4])
            # About ten words, one of them rare, as a name is: the length and the tokens of real questions.
            about = " ".join([*random.choices(_COMMON, k=random.randint(2, 6)), words.draw_rare(random)])
            start = random.choice(("What did", "When did", "Why did", "How did"))
            asked[f"{start} {speaker} say about {about}?"] = None
        return list(asked)


def _turn(number: int, random: Random, words: _Vocabulary) -> Item:
    length = min(_MOST_WORDS, max(_LEAST_WORDS, round(random.lognormvariate(0, _SIGMA) * _MEDIAN_WORDS)))
    said = " ".join(words.draw(random) for _ in range(length))
    flow = number // TURNS_OF_A_FLOW
    return Item(
        id=f"t{number}",
        text=f"{said[0].upper()}{said[1:]}. ({number})",  # the number keeps every text distinct
        subtype="message",
        speaker=_SPEAKERS[(flow + number % 2) % len(_SPEAKERS)],
        flow_id=f"flow {flow}",
        timestamp=_START + timedelta(seconds=60 * number),
    )


class _Vocabulary:
    """Words by rank; the word of rank r is drawn with a weight of 1 ÷ r."""

    def __init__(self, seed: int) -> None:
        random = Random(f"words {seed}")  # noqa: S311 - seeded data
        tail: dict[str, None] = {}
        while len(tail) < _TAIL_WORDS:
            tail["".join(_syllable(random) for _ in range(random.randint(2, 3)))] = None
        self._words = list(dict.fromkeys([*_COMMON, *tail]))
        ranks = range(1, len(self._words) + 1)
        self._weights = list(accumulate(1 / rank**_ZIPF_EXPONENT for rank in ranks))

    def draw(self, random: Random) -> str:
        """Return a word."""
        return self._words[bisect(self._weights, random.random() * self._weights[-1])]

    def draw_rare(self, random: Random) -> str:
        """Return a word of the long tail, by the same law."""
        common = self._weights[len(_COMMON) - 1]
        return self._words[bisect(self._weights, common + random.random() * (self._weights[-1] - common))]


def _syllable(random: Random) -> str:
    return random.choice(_ONSETS) + random.choice(_NUCLEI) + random.choice(_CODAS)
