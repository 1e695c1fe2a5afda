"""What is more than its words: addresses, file names, URLs, versions, identifiers, numbers with units, emoji."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vicw_core.index.words.letters import MARKS

_LETTER = rf"[\w{MARKS}]"
_URL = re.compile(r"(?i)(?:[a-z][a-z0-9+.-]{0,20}://|www\.)[^\s<>\"'`{}|\\^，。、；]+")
_SCHEME = re.compile(r"(?i)^(?:[a-z][a-z0-9+.-]{0,20}://)?(?:www\.)?")
_JOINED = re.compile(rf"{_LETTER}+(?:(?:[.@:/\\\-+~%&'’#>]|(?<=\d),(?=\d))+{_LETTER}+)+")
"""Words joined by marks: ``name@host.org``, ``path/file.txt``, ``std::vector``, ``2024-05-17``."""
_SYMBOLIC = re.compile(r"(?<!\w)(?:[A-Za-z]{1,2}(?:\+\+|#)(?![\w+#])|\.[A-Z]{2,4}\b)")
"""Names with a mark of their own: C++, C#, .NET."""
_APOSTROPHE = re.compile("['’]")
_SEPARATORS = re.compile(r"[/\\?&=#]+")
_VERSION = re.compile(r"(?i)^v?\.?(\d+(?:\.\d+)+)")
_GROUPED = re.compile(r"^\d{1,3}(?:,\d{3})+(?:\.\d+)?$")
_DECIMAL = re.compile(r"^\d+,\d+$")
_UNITS = (
    "km m cm mm µm nm mi ft kg g mg µg lb lbs oz t l ml dl s ms ns min h kb mb gb tb pb kib mib gib tib kbit mbit gbit "
    "hz khz mhz ghz w kw mw kwh v mv a mah k px pt dpi fps rpm bpm mph kmh °c °f % ‰ € $ £ ¥ usd eur gbp"
)
_UNIT = "|".join(sorted(map(re.escape, _UNITS.split()), key=len, reverse=True))
_NUMBER = r"\d+(?:[.,]\d+)*"
_MEASURE = re.compile(rf"(?i)(?<![\w.,]){_NUMBER}[ \u202f]?(?:{_UNIT})(?!\w)|[$€£¥] ?{_NUMBER}(?!\w)")
"""A number and its unit, with or without a space: 5 km and 5km are the same."""
_DIGIT = re.compile(r"\d")
_SPACES = re.compile(r"\s")
_EMOJI = "[\u2600-\u27bf\u2b00-\u2bff\U0001f1e6-\U0001f1ff\U0001f300-\U0001faff]"
_PICTURE = re.compile(f"{_EMOJI}(?:[\ufe0f\U0001f3fb-\U0001f3ff]|\u200d{_EMOJI}|(?<=[\U0001f1e6-\U0001f1ff]){_EMOJI})*")


def compounds(chunk: str) -> Iterator[str]:
    """Yield what is more than its words in a chunk of text without spaces: whole, and the parts that are compounds too.

    Its words are not among them: every word of a text is a term anyway.
    """
    if chunk.isalnum():
        return
    if (url := _URL.search(chunk)) is not None and (address := _SCHEME.sub("", url[0].rstrip(".,;:!?)]/"))):
        yield address
        yield from (part for part in _SEPARATORS.split(address) if part != address and not part.isalnum() and part)
        chunk = chunk[: url.start()] + " " + chunk[url.end() :]
    for joined in _JOINED.findall(chunk):
        yield from _of_joined(joined)
    yield from _SYMBOLIC.findall(chunk)
    if not chunk.isascii():
        yield from (picture.replace("\ufe0f", "") for picture in _PICTURE.findall(chunk))


def measures(text: str) -> Iterator[str]:
    """Yield the numbers of a text that have a unit, as 1200.5km, unless they are one word, which is a term anyway."""
    if _DIGIT.search(text) is None:
        return
    for measure in _MEASURE.findall(text):
        if not measure.isalnum():
            yield _measure(measure)


def _of_joined(joined: str) -> Iterator[str]:
    if _GROUPED.match(joined):
        yield joined.replace(",", "")
    elif _DECIMAL.match(joined):
        yield joined.replace(",", ".")
    elif _APOSTROPHE.search(joined) is None:  # it's, l'eau: two words
        yield joined
        if (version := _VERSION.match(joined)) is not None:
            yield from _version(version[1], joined)
        elif _SEPARATORS.search(joined):
            yield from (part for part in _SEPARATORS.split(joined) if not part.isalnum() and part)
        if "@" in joined:
            yield joined.rpartition("@")[2]


def _version(numbers: str, whole: str) -> Iterator[str]:
    """Yield a version without its letter, and its first two numbers."""
    first_two = ".".join(numbers.split(".")[:2])
    yield from (form for form in dict.fromkeys((numbers, first_two)) if form != whole)


def _measure(measure: str) -> str:
    """Return a number with its unit behind it, in the form 1200.5km."""
    bare = _SPACES.sub("", measure)
    if bare[0] in "$€£¥":
        bare = bare[1:] + bare[0]
    number = re.match(_NUMBER, bare)
    assert number is not None
    return re.sub(r",(?=\d{3}(?!\d))", "", number[0]).replace(",", ".") + bare[number.end() :]
