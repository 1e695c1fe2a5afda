"""Kind of content of the hits of a question: it decides the weights of the channels, whatever the domain's name.

Code favours dense, prose favours words, long passages more than short. Passages show the
kind of content of an unknown domain. A domain with both functions and chats is decided question by question.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_READ_CHARS = 1200
_LONG_FROM, _LONG_AT = 400, 800
"""Characters from which a passage counts as long in part, and from which fully."""
_CODE_LINE = re.compile(
    r"""\s*(?:
        (?:def|class|import|from|return|if|elif|else|for|while|try|except|with|raise|async|await|yield|assert|lambda
          |pass)\b.*(?:[:(=\]]|\bimport\b).*
      | (?:return|pass|break|continue|raise|yield)\b(?:[^.?!]|\.(?=\w))*
      | (?:public|private|protected|static|const|let|var|func|fn|function|struct|interface|enum|type|impl|package|use
          |using|namespace|export)\b.*[{(;=].*
      | [\w.\[\]'"\s,*&>-]+\s*(?:[-+*/|&%]|:|<<|>>)?=[^=].*
      | @[\w.]+(?:\(.*\))?
      | \#\s*(?:include|define|ifdef|ifndef|endif|pragma)\b.*
      | [\w.\->:]+\(.*\)\s*[:;{]?
      | [})\]]+[;,)]*
      | .*[;{]
      | SELECT\b.*|INSERT\ INTO\b.*|CREATE\ TABLE\b.*
    )\s*""",
    re.VERBOSE,
)
_LINE_CHARS = 200
"""Maximum characters of a line of code; it also bounds the cost of a match."""
_MARK = re.compile(r"[()\[\]{}=;:@#]")
_COMMENT = re.compile(r"\s*(?:(?:\#(?!\s*(?:include|define))|//|\*|/\*).*|\"[^\"]*\"|'[^']*')\s*")
"""Lines of comments; a lone string is a docstring."""
_DOCSTRING = re.compile(r"\"{3}.*?(?:\"{3}|\Z)|'{3}.*?(?:'{3}|\Z)", re.DOTALL)


def is_code(text: str) -> bool:
    r"""Return whether a passage is code: half of its lines at least, without comments and docstrings.

    >>> is_code("def cast(spell):\n    '''Cast it.'''\n    return spell.power * 2")
    True
    >>> is_code('def area(self):\n    "The area."\n    return self.width * self.height')
    True
    >>> is_code("He said: use the function; then we went home.")
    False
    """
    lines = [line for line in _DOCSTRING.sub("", text[:_READ_CHARS]).splitlines() if line.strip()]
    uncommented = [line for line in lines if not _COMMENT.fullmatch(line)]
    code = [line for line in uncommented if len(line) <= _LINE_CHARS and _CODE_LINE.fullmatch(line)]
    # Prose has lone words such as "continue", too.
    return 2 * len(code) >= max(1, len(uncommented)) and any(_MARK.search(line) for line in code)


def share_of_code(texts: Iterable[str]) -> float:
    """Return the share of code among passages, in [0, 1]; 0 without passages."""
    judged = [is_code(text) for text in texts]
    return sum(judged) / len(judged) if judged else 0.0


def share_of_long(texts: Iterable[str]) -> float:
    """Return the share of long texts among passages, in [0, 1]; 0 without passages.

    >>> share_of_long(["x" * 300, "x" * 600, "x" * 900])
    0.5
    """
    shares = [min(1.0, max(0.0, (len(text) - _LONG_FROM) / (_LONG_AT - _LONG_FROM))) for text in texts]
    return sum(shares) / len(shares) if shares else 0.0
