"""Normalised text as a key: two texts have the same key if they differ only in white space, case and markup.

Engines index the keys of live passages and items, so that ingest recognises a text that was stored before
(docs/decisions/0023).
"""

from __future__ import annotations

import hashlib
import re

from vicw_shared.domains import CODING

CODE_SUBTYPES = frozenset({"function", "method", "class", "module", "file", "commit", "code", "test", "stack_trace"})
_KEY_BYTES = 16
_LOOKALIKES = str.maketrans(
    dict.fromkeys("“”„‟«»", '"') | dict.fromkeys("‘’‚‛", "'") | dict.fromkeys("‐‑‒–—", "-") | {"…": "..."}
)
_LINE = re.compile(r"^[ \t]*(?:>[ \t]?)*(?:#{1,6}[ \t]+|[-*+•][ \t]+)?", re.MULTILINE)
"""Markdown at the start of a line: quotation, heading and list marks."""
_EMPHASIS = re.compile(r"(?<!\w)(\*{1,3}|_{1,3}|~~|`{1,3})(?=\S)(.{1,300}?)(?<=\S)\1(?!\w)")
_MARK = re.compile(r"[*_~`]")
_INLINE = re.compile(r"</?(?:a|b|code|em|i|mark|q|span|strong|u)(?:\s[^<>]{0,300})?>", re.IGNORECASE)
_BLOCK = re.compile(r"</?(?:blockquote|br|div|li|ol|p|ul)(?:\s[^<>]{0,300})?/?>", re.IGNORECASE)
_ACRONYM = re.compile(r"\b(?:IT|US|WHO)\b")
_AROUND = " \"'`"
_END = _AROUND + ".,;:"


def is_verbatim(speaker: str | None, subtype: str, domain: str) -> bool:
    """Return whether case and markup are part of a text's meaning, as in code without a speaker."""
    return speaker is None and (domain == CODING or subtype.casefold() in CODE_SUBTYPES)


def plain(text: str) -> str:
    """Return prose in normal form; may be empty.

    White space, case, forms of quotes and dashes, markdown and HTML are normalised; quotes at both ends and punctuation
    at the end are removed.
    """
    # Most texts match none of the expressions, and one question normalises dozens of texts.
    text = (text if text.isascii() else text.translate(_LOOKALIKES)).casefold()
    if "\n" in text or not text[:1].isalnum():
        text = _LINE.sub("", text)
    if "<" in text:
        text = _BLOCK.sub(" ", _INLINE.sub("", text))
    if _MARK.search(text):
        for _ in range(2):  # emphasis inside emphasis
            text = _EMPHASIS.sub(r"\2", text)
    return " ".join(text.split()).lstrip(_AROUND).rstrip(_END)


def text_key(text: str, *, verbatim: bool = False) -> str:
    """Return the key of a text, 32 hexadecimal digits. The key of a ``verbatim`` text ignores only white space.

    A verbatim text and a text that is not verbatim never have the same key.
    """
    return _hash("=" + " ".join(text.split())) if verbatim else _hash("~" + plain(text))


def keys_of(text: str) -> tuple[str, ...]:
    """Return the keys under which a text may be stored: not verbatim, and verbatim."""
    return text_key(text), text_key(text, verbatim=True)


def same_acronyms(one: str, other: str) -> bool:
    """Return whether two texts of one key have the same acronyms that are other words in lower case.

    A text in capitals has none that can be told from words.

    >>> same_acronyms("Ask IT.", "Ask it."), same_acronyms("Ask it.", "ASK IT.")
    (False, True)
    """
    return one.isupper() or other.isupper() or _ACRONYM.findall(one) == _ACRONYM.findall(other)


def _hash(normal_form: str) -> str:
    return hashlib.blake2b(normal_form.encode(), digest_size=_KEY_BYTES).hexdigest()
