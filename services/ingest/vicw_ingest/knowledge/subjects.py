"""The subjects of a page and the number of its rules, from its title, aliases, ids and sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath

import Stemmer

from vicw_shared.text import fold_case

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_KEY = re.compile(
    r"(?<![\w/.-])(?P<letters>[A-Z][A-Za-z]{1,9})(?:[-_ #]|(?<=RFC)|(?<=ADR))(?P<number>\d{1,7})(?![\w.]*\d)"
)
_NUMBERED = re.compile(r"(?:adr[-_ ]?)?0*(?P<number>\d{1,5})[-_ ]", re.IGNORECASE)
_OF_DECISIONS = frozenset({"adr", "adrs", "decisions", "decision-records"})
_NO_KEYS = frozenset(
    "january february march april may june july august september october november december jan feb mar apr jun jul aug "
    "sep oct nov dec monday tuesday wednesday thursday friday saturday sunday version page chapter section part step "
    "line figure table level round day week year room gate the at on in of to by for and utf sha iso".split()
)
_RULE = re.compile(
    r"\b(?:must|shall|never|always|mandatory|forbidden|prohibited|may not|may only|is required|are required|"
    r"required to|is not allowed|are not allowed|no ?one may|nobody may|do not|don['’]t|should not)\b|"
    r"(?:^|[.!?]\s+|[-*]\s+)only\b[^.!?\n]*\b(?:may|can)\b",
    re.IGNORECASE,
)
_GENERAL = frozenset(
    "a an and are as at be by for from how in into is it its of on or our that the this to use using we what when "
    "where which who why with you your about do does not new general project team "
    "policy guide guideline rule standard process procedure handbook manual playbook runbook checklist convention "
    "principle overview introduction readme index page document documentation docs note notes adr decision record rfc "
    "architecture design home start started getting".split()
)
_MAX_SUBJECTS = 16
_SHORTEST = 2


@dataclass(frozen=True, slots=True)
class Subjects:
    """The subjects of a page.

    ``words``: groups of stems; a text matches if it contains all stems of one group. ``keys``: ids such as ``adr-7``.
    ``rules``: the number of sentences that require or forbid something.
    """

    words: tuple[tuple[str, ...], ...] = ()
    keys: tuple[str, ...] = ()
    rules: int = 0


NOTHING = Subjects()


def subjects_of(title: str, aliases: Sequence[str], ids: Sequence[str], path: str, body: str) -> Subjects:
    """Return the subjects of a page."""
    names = [title, *aliases]
    groups = [tuple(sorted(group)) for name in names if (group := _subject(name))]
    keys = [fold_case(key) for key in ids]
    keys += [key for name in (*names, *ids) for key in keys_in(name)]
    keys += _decision(path)
    return Subjects(
        tuple(dict.fromkeys(groups))[:_MAX_SUBJECTS],
        tuple(dict.fromkeys(keys))[:_MAX_SUBJECTS],
        sum(1 for _ in _RULE.finditer(body)),
    )


def keys_in(text: str) -> list[str]:
    """Return the ids of issues, decisions and the like in a text, each once: ``OPS-142``, ``ADR 0007`` is ``adr-7``."""
    keys = (
        f"{match['letters'].casefold()}-{int(match['number'])}"
        for match in _KEY.finditer(text)
        if match["letters"].casefold() not in _NO_KEYS
    )
    return list(dict.fromkeys(keys))


def stems(text: str) -> set[str]:
    """Return the stems of a text's words."""
    words = _WORD.findall(fold_case(text))
    return set(_stemmer().stemWords(words)) | set(words)


def with_word_forms(text: str) -> str:
    """Return a text extended by word forms that a full-text index stems differently: deployed, deployment.

    Porter's stemmer, which the engines use, reduces one to "deploi" and the other to "deploy".
    """
    forms = sorted(stem for stem in stems(text) if stem.endswith("y") and len(stem) > _SHORTEST)
    return " ".join((text, *forms, *(f"{stem}ment" for stem in forms)))


def is_rule(sentence: str) -> bool:
    """Return whether a sentence requires or forbids something."""
    return _RULE.search(sentence) is not None


def _subject(name: str) -> set[str]:
    for key in _KEY.finditer(name):
        name = name.replace(key[0], " ")
    words = [word for word in _WORD.findall(fold_case(name)) if not word.isdigit() and len(word) > 1]
    return {_stemmer().stemWord(word) for word in words if not {word, word.removesuffix("s")} & _GENERAL}


def _decision(path: str) -> list[str]:
    """Return the id of a decision record from the number in its file name: ``adr/0007-backoff.md``."""
    file_path = PurePosixPath(path)
    match = _NUMBERED.match(file_path.name)
    of_decisions = file_path.name.lower().startswith("adr") or _OF_DECISIONS & {
        part.lower() for part in file_path.parts[:-1]
    }
    return [f"adr-{int(match['number'])}"] if match and of_decisions else []


@cache
def _stemmer() -> Stemmer.Stemmer:
    return Stemmer.Stemmer("english")
