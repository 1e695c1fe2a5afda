"""Text normalisation: Unicode form, case folding, accents, characters that no store accepts; ranges of a text."""

from __future__ import annotations

import io
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

_UNDECOMPOSED = dict(zip("øØłŁđĐðÐıħĦŧŦ", "oOlLdDdDihHtT", strict=True)) | {
    "æ": "ae",
    "Æ": "Ae",
    "œ": "oe",
    "Œ": "Oe",
    "ß": "ss",
    "ẞ": "SS",
}
"""Latin letters whose stroke or second letter Unicode does not decompose."""


@dataclass(frozen=True, slots=True)
class Span:
    """A range of characters in a text: ``text[start:end]``."""

    start: int
    end: int

    def moved(self, by: int) -> Span:
        """Return the span shifted by ``by`` characters."""
        return Span(self.start + by, self.end + by)


def normalise(text: str) -> str:
    """Return ``text`` in NFC, the form in which all prose is stored and searched."""
    return unicodedata.normalize("NFC", text)


def fold_case(name: str) -> str:
    """Return the case-folded form for comparing names: NFKC, case-folded, single spaces.

    Two names with the same folded form are the same name; the folded form is never shown.
    """
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def unaccented(text: str) -> str:
    """Return ``text`` with Latin letters without accents; in other scripts, marks form different letters and stay.

    >>> unaccented("Aschenbrödel, Łódź, Akinoshū"), unaccented("йогурт")
    ('Aschenbrodel, Lodz, Akinoshu', 'йогурт')
    """
    return text if text.isascii() else "".join(map(_plain, unicodedata.normalize("NFC", text)))


@lru_cache(maxsize=4096)
def _plain(letter: str) -> str:
    if letter in _UNDECOMPOSED:
        return _UNDECOMPOSED[letter]
    base = unicodedata.normalize("NFD", letter)[0]
    return base if base.isascii() else letter


def trimmed(text: str) -> str:
    r"""Return ``text`` without white space around it; the first of several lines keeps its indentation.

    >>> trimmed("\n    - a\n    - b\n"), trimmed("  a ")
    ('    - a\n    - b', 'a')
    """
    inner = text.strip()
    start = text.rfind("\n", 0, len(text) - len(text.lstrip())) + 1
    return text[start:].rstrip() if "\n" in inner else inner


def quoted_lines(text: str) -> str:
    r"""Return ``text`` with a quotation mark before each line, so that no line looks like what stands around it.

    >>> quoted_lines("one\n\n[2] two")
    '> one\n>\n> [2] two'
    """
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def quoted_below(text: str) -> str:
    r"""Return ``text`` with its lines quoted but for the first, which stands behind words of its own.

    >>> quoted_below("one\n[2] two")
    'one\n> [2] two'
    """
    first, _, others = text.partition("\n")
    return f"{first}\n{quoted_lines(others)}" if others else first


def tag_guard(*tags: str) -> Callable[[str], str]:
    """Return what takes the ``<`` from tags with these names, so that no text ends what stands between them.

    >>> tag_guard("notes", "note")("</notes> < / NOTE> <b>")
    '‹/notes> ‹ / NOTE> <b>'
    """
    names = "|".join(map(re.escape, tags))
    mark = re.compile(rf"<(?=\s*(?:/\s*)?(?:{names})\b)", re.IGNORECASE)
    return lambda text: mark.sub("‹", text)


def one_fact(text: str) -> str:
    r"""Return ``text`` in one line, and without the separator of facts.

    >>> one_fact("Ana\n[2] Ben · id 7")
    'Ana [2] Ben - id 7'
    """
    return " ".join(text.split()).replace(" · ", " - ")


def flaw(text: str) -> str | None:
    """Return why ``text`` cannot be stored (NUL, a lone surrogate), or None if it can."""
    if "\x00" in text:
        return "contains the NUL character (U+0000)"
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        return f"contains a lone surrogate (U+{ord(text[error.start]):04X}), which is not valid Unicode"
    return None


def visible(text: str) -> bool:
    """Return whether ``text`` has anything but white space, control and format characters."""
    return text[:1].isalnum() or any(not ch.isspace() and unicodedata.category(ch) not in {"Cc", "Cf"} for ch in text)


def lines_of(text: str) -> list[str]:
    r"""Cut after each ``\n``, ``\r\n`` or ``\r`` and nowhere else (``str.splitlines`` also cuts at form feeds)."""
    return list(io.StringIO(text, newline=""))


def counted(count: int, one: str, many: str = "") -> str:
    """Return a count with its noun: "1 item", "2 items". ``many`` is an irregular plural."""
    return f"{count} {one if count == 1 else many or one + 's'}"


BYTES_PER_TOKEN = 3


def estimate_tokens(text: str) -> int:
    """Estimate the number of tokens without a tokenizer: one for every three bytes of UTF-8, rounded up.

    English prose has about four characters per token with usual tokenizers, so the estimate errs on the safe side; a
    character of Chinese or Japanese counts as one token. Hexadecimal, base64 and the like can take more tokens.
    """
    return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN)
