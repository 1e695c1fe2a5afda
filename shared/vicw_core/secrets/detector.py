"""Secret detector: finds secrets in a text, PEM keys too (RFC 7468), and replaces each by a placeholder of its kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ahocorasick_rs import AhoCorasick, Implementation, MatchKind

from vicw_core.secrets.formats import FORMATS, FormatSeeker, Span
from vicw_core.secrets.named_secrets import NAMES, in_header, in_url, of_curl, seeker_of

_BETWEEN = r"""(?:[\s"'`+,>|]|\\[nr])"""
_HEADERS = rf"(?:{_BETWEEN}*+(?:Proc-Type|DEK-Info|Version|Comment|Charset|Hash):[^\n\\]{{0,200}})*+"
_ENCODED = r"[A-Za-z0-9+/=]"
_END = r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_LONGEST_LABEL = 40
_KEY = re.compile(
    rf"-----BEGIN (?:[A-Z0-9]{{1,20}}[ ]){{0,3}}PRIVATE KEY(?: BLOCK)?-----{_HEADERS}"
    rf"(?:{_BETWEEN}*+{_ENCODED}{{20,}}+)++"
    rf"(?:(?:{_BETWEEN}*+{_ENCODED}{{1,19}}+)?{_BETWEEN}*+{_END}|{_BETWEEN}(?=[A-Za-z]*[0-9+/=]){_ENCODED}{{1,19}}+)?"
)


def private_key(text: str, at: int) -> Iterator[Span]:
    """Yield the private key whose first line has ``PRIVATE KEY`` at ``at``, up to its end line or truncation."""
    start = text.rfind("-----BEGIN", max(0, at - _LONGEST_LABEL), at)
    match = _KEY.match(text, start) if start >= 0 else None
    if match is not None:
        yield *match.span(), "private-key"


type Seeker = Callable[[str, int], Iterator[Span]]

_SHORTEST = 6
_BEST, _BY_FORM, _BY_NAME = range(3)


@dataclass(frozen=True, slots=True)
class Secret:
    """Position of a secret in its text (characters), and its kind, such as ``aws-access-key``."""

    start: int
    end: int
    kind: str


def find_secrets(text: str) -> list[Secret]:
    """Return the secrets of a text, in order and without overlaps."""
    if len(text) < _SHORTEST:
        return []
    spans = [
        (start, end, doubt, kind)
        for marker, at, _ in _MARKERS.find_matches_as_indexes(text)
        for doubt, seek in (_SEEKERS[marker],)
        for start, end, kind in seek(text, at)
    ]
    return _without_overlaps(sorted(spans)) if spans else []


def mask(text: str, secrets: Sequence[Secret]) -> str:
    """Return the text with ``[secret: KIND]`` in place of each secret. A masked text contains no secrets."""
    parts, done = [], 0
    for secret in secrets:
        parts += [text[done : secret.start], placeholder(secret.kind)]
        done = secret.end
    return "".join([*parts, text[done:]])


def placeholder(kind: str) -> str:
    """Return the placeholder for a secret of a kind."""
    return f"[secret: {kind}]"


def _without_overlaps(spans: Sequence[tuple[int, int, int, str]]) -> list[Secret]:
    """Merge overlapping secrets into one that covers all their characters, with the most certain kind."""
    merged: list[Secret] = []
    best = 0
    for start, end, doubt, kind in spans:
        if merged and start < merged[-1].end:
            last = merged[-1]
            merged[-1] = Secret(last.start, max(last.end, end), kind if doubt < best else last.kind)
            best = min(best, doubt)
        else:
            merged.append(Secret(start, end, kind))
            best = doubt
    return merged


def _seekers() -> dict[str, tuple[int, Seeker]]:
    """Return, by the marker string of a secret, its seeker and a rank of doubt (lower is more certain)."""
    seekers: dict[str, tuple[int, Seeker]] = {"PRIVATE KEY": (_BEST, private_key)}
    for form in FORMATS:
        seekers |= {head: (_BY_FORM, FormatSeeker(form, head)) for head in form.heads.split()}
    words: dict[str, Seeker] = {word: seeker_of(word) for word in NAMES}
    words |= {"://": in_url, "authorization": in_header, "curl": of_curl}
    for word, seek in words.items():
        seekers |= dict.fromkeys((word, word.upper(), word.title()), (_BY_NAME, seek))
    return seekers


_SEEKERS_BY_MARKER = _seekers()
_SEEKERS = list(_SEEKERS_BY_MARKER.values())
_MARKERS = AhoCorasick(list(_SEEKERS_BY_MARKER), matchkind=MatchKind.LeftmostLongest, implementation=Implementation.DFA)
