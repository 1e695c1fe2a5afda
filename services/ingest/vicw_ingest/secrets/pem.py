"""Private keys in the textual encodings of RFC 7468, OpenSSH and OpenPGP (RFC 9580), also inside JSON strings."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vicw_ingest.secrets.formats import Span

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
