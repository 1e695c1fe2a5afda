"""Value classifier: decides whether a value is a secret, a placeholder for one, or something else.

It prefers precision to recall, because a value masked in error is lost to later questions.
"""

from __future__ import annotations

import re

_PLACEHOLDER = re.compile(
    r"example|placeholder|dummy|redacted|your|change[_-]?me|x{4}|\*{3}|\.{3}|…|0{8}|1234567890|0123456789|abcdefgh",
    re.IGNORECASE,
)
_FEWEST_CHARACTERS, _SEARCHED_CHARACTERS = 6, 48
_IS_FILLED_IN = re.compile(r"^[\[${%<&*@]|[$#]\{|\{\{|\{\w*\}|%[sd(]|<\w")
_REFERS = re.compile(r"~?\.{0,2}/|[A-Za-z]:$|\w+://|[\w.+-]+@[\w-]+\.\w")
_IS_MEMBER = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::|->)\w+)+")
_TERM = re.compile(
    r"(?:base|sha|md|utf|oauth|http|ipv|aes|rsa|argon|pbkdf|win|tls|v)-?\d+\w?|\d{1,3}(?:[a-z]*|\+)", re.IGNORECASE
)
_NAMES_ITSELF = re.compile(
    r"[a-z_-]*(?:pass(?:word|wd|phrase|code)?|pwd|secret|token|key)[a-z_-]*\d{0,3}$", re.IGNORECASE
)
_WELL_KNOWN = frozenset("changeit hunter2 minioadmin p@ssw0rd passw0rd s3cr3t s3cret".split())
_TOKEN = re.compile(r"[\w.~+/-]{16,4096}+={0,2}", re.ASCII)
_SHORTEST_PASSWORD, _LONGEST_PASSWORD = 6, 72
_LONGEST_WORD = 12
_MIN_CHANGE_RATE = 0.22


def is_placeholder(value: str) -> bool:
    """Return whether a value is a placeholder. Only its start is searched: long secrets contain any word by chance."""
    return len(set(value)) < _FEWEST_CHARACTERS or _PLACEHOLDER.search(value, 0, _SEARCHED_CHARACTERS) is not None


def is_random(value: str) -> bool:
    """Return whether a value looks random: letters and digits, lower and upper case alternate often.

    A change is a letter beside a digit, or a capital after a small letter: 44 in a hundred pairs of random base 62, 47
    of random hexadecimal, about 20 of a name in camel case, hardly any of other words.
    """
    changes = sum(map(_is_change, value, value[1:]))
    return (
        any(c.isdigit() for c in value)
        and any(c.isalpha() for c in value)
        and changes >= _MIN_CHANGE_RATE * (len(value) - 1)
    )


def is_token(value: str) -> bool:
    """Return whether a value named key, token or secret is one."""
    return _TOKEN.fullmatch(value) is not None and is_random(value) and not _is_no_secret(value)


def is_password(value: str) -> bool:
    """Return whether a value named password is one: letters mixed with digits or signs, and not a technical term."""
    if not _SHORTEST_PASSWORD <= len(value) <= _LONGEST_PASSWORD or _is_no_secret(value):
        return False
    if _IS_MEMBER.fullmatch(value):
        return False
    rest = "".join(part for part in re.split(r"[-_.:/+]", value) if not _TERM.fullmatch(part))
    return any(c.isalpha() for c in rest) and any(not c.isalpha() for c in rest)


def is_password_of_url(value: str, user: str) -> bool:
    """Return whether the part between user and ``@`` of a URL is a password, and not a well-known or trivial one."""
    if len(value) < _SHORTEST_PASSWORD or value == user or _is_no_secret(value):
        return False
    return not value.isalpha() or len(value) > _LONGEST_WORD


def _is_change(a: str, b: str) -> bool:
    return (a.isalpha() and (b.isdigit() or (a.islower() and b.isupper()))) or (a.isdigit() and b.isalpha())


def _is_no_secret(value: str) -> bool:
    return (
        value.casefold() in _WELL_KNOWN
        or is_placeholder(value)
        or _IS_FILLED_IN.search(value) is not None
        or _REFERS.match(value) is not None
        or _NAMES_ITSELF.match(value) is not None
    )
