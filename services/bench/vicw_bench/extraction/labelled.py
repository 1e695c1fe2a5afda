"""Labelled sentences: what is the cause of what, who does what. Sets to measure extraction on.

A set is a folder with ``sentences.jsonl``, plain or gzipped. Each line has ``text``, tokenised, and ``relations``: of
``cause`` and ``effect`` with ``causal`` beside them, or of ``subject``, ``predicate`` and ``object``.
"""

from __future__ import annotations

import gzip
import re
from collections import Counter
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from vicw_bench.sets import BenchDataError


class Line(BaseModel):
    """A line of a set."""

    model_config = ConfigDict(frozen=True)  # further fields are a set's own business


class CausePair(Line):
    """A cause and its effect, in the words of the sentence."""

    cause: str
    effect: str


class CauseSentence(Line):
    """A sentence, whether it holds a cause with its effect, and which."""

    text: str
    causal: bool
    relations: tuple[CausePair, ...] = ()


class Fact(Line):
    """Who does what."""

    subject: str
    predicate: str
    object: str = ""


class FactSentence(Line):
    """A sentence and its facts, the main one first."""

    text: str
    relations: tuple[Fact, ...]


def load_sentences[T: Line](folder: Path, kind: type[T], name: str = "sentences") -> list[T]:
    """Read a set's sentences. Raises BenchDataError with the file and the line."""
    path = next((path for path in sorted(folder.glob(f"{name}.jsonl*"))), None)
    if path is None:
        raise BenchDataError(f"{folder} holds no {name}.jsonl[.gz]")
    content = path.read_bytes()
    lines = (gzip.decompress(content) if path.suffix == ".gz" else content).decode("utf-8").splitlines()
    sentences = []
    for number, line in enumerate(lines, 1):
        try:
            sentences.append(kind.model_validate_json(line))
        except ValidationError as error:
            problem = error.errors()[0]
            place = ".".join(map(str, problem["loc"]))
            raise BenchDataError(f"{path}, line {number}: {place}: {problem['msg']}") from error
    return sentences


def joined(text: str) -> str:
    """Return tokenised text as people write it: punctuation and clitics where they belong."""
    text = text.replace("`` ", '"').replace(" ''", '"').replace(" ’ s ", "’s ")
    text = re.sub(r" (n't|'s|'re|'ve|'ll|'d|'m)\b", r"\1", text)
    return re.sub(r"([(\[“]) ", r"\1", re.sub(r" ([.,;:!?%)\]’”])", r"\1", text))


def token_overlap(one: str, two: str) -> float:
    """Return the F1 of the words of two texts, 0 to 1 (Rajpurkar et al., 2016)."""
    left, right = Counter(_words(one)), Counter(_words(two))
    both = (left & right).total()
    return 2 * both / (left.total() + right.total()) if both else 0.0


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())
