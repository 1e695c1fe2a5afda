"""Find names in a sentence: proper names, and forms such as code, paths and amounts.

The form of a name decides. Entity linking matches stored names in any casing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from vicw_core.language.titles import TITLES
from vicw_english.tagging.analysis import Sentence, Word
from vicw_shared.text import Span


class NameKind(StrEnum):
    """The kind of a name."""

    NAME = "name"
    SYMBOL = "symbol"
    PATH = "path"
    URL = "url"
    MAIL = "mail"
    HANDLE = "handle"
    AMOUNT = "amount"


@dataclass(frozen=True, slots=True)
class Name:
    """A name, its span, and the positions of its words in the sentence."""

    text: str
    kind: NameKind
    span: Span
    positions: range


_SUFFIXES = (
    "bash c cc cfg conf cpp cs css csv go h hpp html ini ipynb java js json jsonl jsx kt lock log lua md php pl proto "
    "py pyi rb rs rst scala sh sql swift toml ts tsv tsx txt vue xml yaml yml zip"
).split()
_FORMS = (
    (NameKind.URL, re.compile(r"https?://\S+")),
    (NameKind.MAIL, re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")),
    (NameKind.HANDLE, re.compile(r"[@#]\w*[A-Za-z]\w*")),
    (
        NameKind.PATH,
        re.compile(
            r"(?:~|\.{1,2})?/[\w.@+/-]*[A-Za-z][\w.@+/-]*|\w+(?:/[\w.@+-]+)+|[\w-]+\.(?:" + "|".join(_SUFFIXES) + ")"
        ),
    ),
    (
        NameKind.SYMBOL,
        re.compile(
            r"[A-Za-z_][\w.:]*\(\)|[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+|_*[A-Za-z]\w*_\w+"
            r"|[a-z]+[a-z0-9]*[A-Z]\w*|[A-Z][a-z0-9]+[A-Z][a-z]\w*"
        ),
    ),
)
_LONGEST = 300
"""Characters of the longest word with one of these forms other than a URL's: their time grows with the square."""
_WINDOWS = re.compile(
    r"""(?:(?<!\w)[A-Za-z]:[\\/]|\\\\[\w.$-]+\\)(?:[^\s\\/:*?"<>|`',;()]+[\\/])*[^\s\\/:*?"<>|`',;()]*[\w$]"""
)
"""A Windows path with a drive, or on a share."""
_AMOUNT = re.compile(
    r"(?:[$€£¥]\s?\d+(?:[.,]\d+)*(?:\s?(?:thousand|million|billion|trillion|[kKmM]\b|bn\b))?"
    r"|\b\d[\d.,]*(?:\s?(?:thousand|million|billion|trillion))?\s?(?:%|percent\b|dollars?\b|euros?\b|pounds?\b|[kKMGT]i?B\b"
    r"|ms\b|km\b|kg\b|cm\b|mm\b|MHz\b|GHz\b|miles?\b|litres?\b|liters?\b))"
)
_JOINING = frozenset("of the de da do del della di van von der den la le al &".split())
_NOT_NAMES = frozenset(
    "i monday tuesday wednesday thursday friday saturday sunday january february march april may june july august "
    "september october november december mon tue tues wed thu thur thurs fri sat today tomorrow yesterday ok okay lol "
    "haha wow hey hi hello bye thanks gonna gotta wanna gimme lemme kinda dunno gotcha yeah yep yup nope nah whoa woah "
    "oof oops ugh yay aww hmm omg btw imo tbh kudos congrats".split()
)
_FUNCTION_WORDS = frozenset(
    "nor each besides every either neither both although though however moreover therefore thus hence meanwhile "
    "otherwise instead whereas unless until since while because maybe perhaps also then else".split()
)
_KEYWORDS = frozenset(
    "GET POST PUT PATCH DELETE HEAD OPTIONS SELECT INSERT UPDATE MATCH MERGE RETURN CREATE DROP WHERE FROM AND OR NOT "
    "TODO FIXME NOTE TRUE FALSE NULL".split()
)
"""Words of protocols and languages; in capitals they are no names."""
_OPEN = frozenset({"NOUN", "X", "VERB"})
_LEADING = frozenset(
    "new united north south east west saint san los great royal northern southern eastern western".split()
)
_BARE_TITLES = frozenset("mr mr. mrs mrs. ms ms. dr dr. prof prof. professor aunt uncle captain sir lady lord".split())
"""Titles that are no names on their own."""
_OPENING = frozenset({".", ":", "!", "?", "(", "[", "-", "*", "•", "#", ">", "|", '"', "'", "“", "‘", "…", "..."})


def names_in(sentence: Sentence, common: Collection[str] = frozenset()) -> Iterator[Name]:
    """Yield the names in a sentence, in order. Spans are offsets in the text, positions are words of the sentence.

    ``common`` are the text's words: one that also occurs in lower case begins no name at a sentence's start.
    """
    words = sentence.words
    names = (
        list(_names_across_words(words, _WINDOWS, NameKind.PATH))
        if any(word.text in {"\\", ":"} for word in words)
        else []
    )
    names += _names_by_form(words, _places_of(names))
    if any(ch.isdigit() for word in words for ch in word.text):
        names += _names_across_words(words, _AMOUNT, NameKind.AMOUNT)
    names += _proper_names(words, _places_of(names), common)
    yield from sorted(names, key=lambda name: name.span.start)


def _places_of(names: Iterable[Name]) -> set[int]:
    return {position for name in names for position in name.positions}


def _names_by_form(words: Sequence[Word], taken: set[int]) -> Iterator[Name]:
    for position, word in enumerate(words):
        if position in taken or (word.text[0] == "/" and _is_attached(words, position)):
            continue  # "either/or" names no path
        if not any(ch.isalpha() for ch in word.text):
            continue
        for kind, form in _FORMS if len(word.text) <= _LONGEST else _FORMS[:1]:
            if form.fullmatch(word.text):
                yield _name(words, range(position, position + 1), kind)
                break
        else:
            if _in_backticks(words, position):
                yield _name(words, range(position, position + 1), NameKind.SYMBOL)


def _is_attached(words: Sequence[Word], position: int) -> bool:
    """Return whether a word is attached to the one before it."""
    before = words[position - 1] if position > 0 else None
    return before is not None and before.end == words[position].start and before.text[-1].isalnum()


def _in_backticks(words: Sequence[Word], position: int) -> bool:
    return 0 < position < len(words) - 1 and words[position - 1].text == words[position + 1].text == "`"


def _names_across_words(words: Sequence[Word], form: re.Pattern[str], kind: NameKind) -> Iterator[Name]:
    """Yield the matches of a form in the sentence as written; they may span several words."""
    if not words:
        return
    start = words[0].start
    written = [" "] * (words[-1].end - start)
    for word in words:
        written[word.start - start : word.end - start] = word.text
    for match in form.finditer("".join(written)):
        first, last = match.start() + start, match.end() + start
        inside = [position for position, word in enumerate(words) if word.start < last and word.end > first]
        yield Name(match.group().strip(), kind, Span(first, last), range(inside[0], inside[-1] + 1))


def _proper_names(words: Sequence[Word], taken: set[int], common: Collection[str]) -> Iterator[Name]:
    position = 0
    while position < len(words):
        if not _begins(words, position, taken):
            position += 1
            continue
        end = position + 1
        while (further := _extended_end(words, end, taken)) > end:
            end = further
        positions = range(position - (_opens(words, position, taken) and words[position - 1].lower not in common), end)
        if not all(
            words[at].lower in _NOT_NAMES or words[at].text.isdigit() or len(words[at].text) < 2 for at in positions
        ):
            yield _name(words, positions, NameKind.NAME)
        position = end


def _opens(words: Sequence[Word], position: int, taken: set[int]) -> bool:
    """Return whether a name begins with the word before it, tagged a noun at a sentence's start: ``Marit Holm``."""
    first = words[position - 1] if position > 0 and position - 1 not in taken else None
    if (
        first is None
        or first.tag not in {"NOUN", "X"}
        or words[position].lower in _NOT_NAMES
        or words[position].tag != "PROPN"
    ):
        return False
    opening = position == 1 or words[position - 2].text in _OPENING
    spelt = len(first.text) > 1 and first.text[0].isupper() and first.text[1:].islower()
    return opening and spelt and first.lower not in _NOT_NAMES and not first.text.endswith("ing")


def _begins(words: Sequence[Word], position: int, taken: set[int]) -> bool:
    """Return whether a word may begin or continue a name: by its tag, or by an unexpected capital letter."""
    word = words[position]
    if position in taken or not word.text[0].isupper() or word.lower in _FUNCTION_WORDS or word.text in _KEYWORDS:
        return False
    if word.lower in TITLES and word.tag in _OPEN:
        if any(w.text[0].isupper() and w.tag in {"PROPN", "NOUN"} for w in words[position + 1 : position + 2]):
            return True
        if word.lower in _BARE_TITLES:
            return False
    if word.text == "O" and _is_glued(words, position, {"'", "’"}):  # O'Neill
        return words[position + 2].text[0].isupper()
    if word.tag == "ADJ":  # New York, the United Kingdom; but not the British
        following = words[position + 1 : position + 2]
        meant = position > 0 or word.lower in _LEADING
        return meant and any(w.tag == "PROPN" and w.text[0].isupper() for w in following)
    return word.tag == "PROPN" or (word.tag in _OPEN and _is_marked(words, position))


def _is_marked(words: Sequence[Word], position: int) -> bool:
    """Return whether a capital letter is significant: not at a start, nor in a sentence of mostly capitalised words."""
    if position == 0 or words[position - 1].text in _OPENING:
        return False
    lettered = [word for word in words if word.text[0].isalpha()]
    return sum(word.text[0].isupper() for word in lettered) <= len(lettered) / 2


def _extended_end(words: Sequence[Word], end: int, taken: set[int]) -> int:
    """Return the end of a name extended by one word, or by a joint and a word; ``end`` if it is complete."""
    irish = words[end - 1].text == "O" and _is_glued(words, end - 1, {"'", "’"})  # O'Neill
    numbered = _is_glued(words, end - 1, {"-"}) and words[end + 1].text[0].isdigit()  # GPT-4
    if irish or numbered:
        return end + 2
    if end < len(words) and _begins(words, end, taken):
        return end + 1
    if end < len(words) and words[end].tag == "NUM" and words[end].text.isdigit():
        counts = end + 1 < len(words) and words[end + 1].tag in {"NOUN", "ADJ", "PROPN", "SYM"}
        return end if counts else end + 1
    joint = end
    while joint < len(words) and (words[joint].lower in _JOINING or words[joint].text == "-"):
        joint += 1
    glued = words[joint - 1].text != "-" or (joint < len(words) and words[joint].start == words[joint - 1].end)
    if end < joint <= end + 2 and joint < len(words) and _begins(words, joint, taken) and glued:
        return joint + 1
    return end


def _is_glued(words: Sequence[Word], position: int, joints: set[str]) -> bool:
    """Return whether a word is attached to a joint and another word after it."""
    if position + 2 >= len(words) or words[position + 1].text not in joints:
        return False
    return words[position].end == words[position + 1].start and words[position + 1].end == words[position + 2].start


def _name(words: Sequence[Word], positions: range, kind: NameKind) -> Name:
    text, end = "", words[positions[0]].start
    for position in positions:
        text += " " * (words[position].start > end) + words[position].text
        end = words[position].end
    return Name(text, kind, Span(words[positions[0]].start, end), positions)
