"""Tokenizer with the rules of the models' training treebank (Universal Dependencies, English).

Clitics are tokens of their own (``do|n't``, ``Ana|'s``), and so is punctuation, including hyphens inside words.
Technical strings are one token: paths, addresses, versions, dotted and underscored names.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_TOKEN = re.compile(
    r"""
      https?://[^\s<>"'`)\]]*[^\s<>"'`)\].,;:!?]          # an address
    | [\w.+-]+@[\w-]+(?:\.[\w-]+)+                         # a mail address
    | (?:~|\.{1,2})?(?:/[\w.@+-]+)+/?(?<![.,])             # a path
    | \w+(?:/[\w.@+-]+)+\.\w+                              # a relative path
    | [#@]\w+                                              # a tag, a handle
    | (?:[A-Z]\.){2,}                                      # U.S.
    | (?:Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|Gen|Col|Lt|Capt|Sen|Rep|Gov|Rev)\.
    | (?:vs|etc|Inc|Ltd|Co|Corp|No|e\.g|i\.e|a\.m|p\.m)\.
    | (?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\.
    | \d+(?:[.,:/]\d+)+(?:st|nd|rd|th|s)?                  # 1,200  3.14  10:30  1/2
    | v?\d+(?:\.\d+)+(?:[-+]?\w+)?                         # v1.2.3-rc1
    | [A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+(?:\(\))?   # a dotted name
    | [A-Za-z]\w*\(\)                                      # call()
    | \w+(?=n['\u2019]t\b)                                 # do|n't
    | n['\u2019]t\b
    | ['\u2019](?:s|S|re|RE|ve|VE|ll|LL|d|D|m|M)\b
    | \w+
    | \.{2,}|-{2,}|[!?]{2,}
    | [^\w\s]
    """,
    re.VERBOSE,
)


class Token(NamedTuple):
    """A word and its position: ``text[start:end]``."""

    text: str
    start: int
    end: int


def tokenise(text: str) -> list[Token]:
    """Return the words of ``text`` in order, without white space."""
    return [Token(match.group(), match.start(), match.end()) for match in _TOKEN.finditer(text)]
