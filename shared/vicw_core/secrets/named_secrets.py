"""Secrets recognised by their names: ``password = …``, "the API key is …", a password in a URL.

A pattern is tried only at its word, and is bounded: time is linear in the length of any text.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator

from vicw_core.secrets.formats import Span
from vicw_core.secrets.value_classifier import is_password, is_password_of_url, is_token

_FLAGS = re.ASCII | re.IGNORECASE
_LOOK_BACK, _LONGEST_PREFIX = 80, 16
_GAP = r"[ _.-]{0,2}"
NAMES = {
    "pass": ("password", re.compile(r"pass[_-]?(?:word|wd|wort|phrase|code)(?:[_-]?\d)?", _FLAGS)),
    "pwd": ("password", re.compile(r"pwd(?:[_-]?\d)?", _FLAGS)),
    "secret": (
        "secret-key",
        re.compile(rf"secret(?:{_GAP}(?:access|api|app))?(?:{_GAP}(?:key(?:_base)?|token))?", _FLAGS),
    ),
    "token": ("access-token", re.compile(rf"token(?:{_GAP}(?:secret|key))?", _FLAGS)),
    "key": ("api-key", re.compile(r"key", _FLAGS)),
}
_SECRET_PREFIXES = tuple("api access secret private auth encryption signing master account service app license".split())
_CURSOR_PREFIXES = tuple("page next continuation sync cursor resume pagination".split())
_OPTION_BEFORE = re.compile(r"(?:^|\s)--[a-z-]{0,40}$", _FLAGS)
_NETRC_BEFORE = re.compile(r"\blogin\s{1,4}\S{1,64}\s{1,4}$", _FLAGS)
_VARIABLE = re.compile(r"[A-Za-z_]+\d{0,2}", re.ASCII)
_ENDS = r"""(?![^\s"'`\\,;&)\]}>|])"""
_UNBROKEN = r"[\w.~+/-]{16,4096}+={0,2}"  # excludes the characters of links, so that none is matched twice
_SIGNS = {
    "password": (r"""[^\s"'`\\()]{6,72}+""", r"""[^\s"'`\\,;&<>()\[\]{}|]{6,72}+"""),
    "other": (_UNBROKEN, _UNBROKEN),
}
_LINKS = {
    "assigned": (
        r"""(?:\\?["'`]|\]){0,2}[ \t]{0,4}"""
        r"""(?::[ \t]?[a-z][\w.|\[\] ]{0,40}?=(?!=)|:=|=>|=(?![=~])|:(?!//))[ \t]{0,4}"""
    ),
    "told": (
        r"(?:[ ](?:for|of|to|on|at)[ ][\w'./ -]{1,40}?)?"
        r"(?:[ ](?:is|was)(?:[ ](?:now|still|currently|set[ ]to))?:?|:)[ ]"
    ),
    "option": r"[ ]{1,2}",
    "netrc": r"\s{1,4}",
}
_VALUES = {
    (link, signs): re.compile(
        rf"""{before}(?:[bru]?(?P<quote>\\?["'`])(?P<quoted>{quoted})(?P=quote)|(?P<bare>{bare}){_ENDS})""", _FLAGS
    )
    for link, before in _LINKS.items()
    for signs, (quoted, bare) in _SIGNS.items()
}
_URL = re.compile(
    r"""://(?P<user>[^\s/?#@:"'<>`\\]{0,128}+):(?P<password>[^\s/?#,"'<>`\\]{1,256})@(?=[\w\[${<])""", re.ASCII
)
_HEADER = re.compile(
    r"""authorization\\?["']?[ ]?[:=,][ ]?\\?["']?(?P<scheme>[a-z]{3,10})[ ](?P<value>[\w.~+/=-]{8,4096}+)""", _FLAGS
)
_CURL = re.compile(r"""curl [^\n]{0,200}?(?:-u|--user)[ =]["']?[^\s:"']{1,64}:(?P<value>[^\s"']{1,128}+)""", re.ASCII)


def seeker_of(word: str) -> Callable[[str, int], Iterator[Span]]:
    """Return a seeker of the values of names that contain ``word``, such as ``key``."""
    kind, name = NAMES[word]

    def seek(text: str, at: int) -> Iterator[Span]:
        match = name.match(text, at)
        before = text[max(0, at - _LOOK_BACK) : at]
        if match is not None and _is_meant(word, before):
            yield from _value_after(text, match, kind, before)

    return seek


def in_url(text: str, at: int) -> Iterator[Span]:
    """Yield the password of the URL whose ``://`` is at ``at``."""
    match = _URL.match(text, at)
    if match is not None and is_password_of_url(match["password"], match["user"]):
        yield *match.span("password"), "password-in-url"


def in_header(text: str, at: int) -> Iterator[Span]:
    """Yield the credential in the header ``Authorization`` at ``at``."""
    match = _HEADER.match(text, at)
    if match is not None and _is_credential(match["scheme"].casefold(), match["value"]):
        yield *match.span("value"), "authorization-header"


def of_curl(text: str, at: int) -> Iterator[Span]:
    """Yield the password in the ``-u`` option of the command ``curl`` at ``at``."""
    match = _CURL.match(text, at)
    if match is not None and is_password(match["value"]):
        yield *match.span("value"), "password"


def kind_of_value(name: str, value: str) -> str | None:
    """Return the kind of secret that ``value`` is under the key ``name``, or None."""
    for word, (kind, pattern) in NAMES.items():
        for match in pattern.finditer(name):
            if match.end() == len(name) and _is_meant(word, name[: match.start()]) and _judge(kind)(value):
                return kind
    return None


def _value_after(text: str, name: re.Match[str], kind: str, before: str) -> Iterator[Span]:
    """Yield the secret value after a name, if there is one."""
    for link in _link_kinds(kind, before):
        match = _VALUES[link, "password" if kind == "password" else "other"].match(text, name.end())
        if match is None:
            continue
        start, end = match.span("bare" if match["quoted"] is None else "quoted")
        if match["quoted"] is None:
            end = start + len(match["bare"].rstrip(".:?"))
            if link == "assigned" and name[0].islower() and _is_variable(text[start:end], match[0]):
                return
        if _judge(kind)(text[start:end]):
            yield start, end, kind
        return


def _link_kinds(kind: str, before: str) -> Iterator[str]:
    """Yield the kinds of link that may join a name and its value."""
    yield "assigned"
    yield "told"
    if "--" in before and _OPTION_BEFORE.search(before):
        yield "option"
    if kind == "password" and "login" in before and _NETRC_BEFORE.search(before):
        yield "netrc"


def _is_variable(value: str, link: str) -> bool:
    """Return whether a value is a variable that code passes on: ``password=value1``."""
    return "=" in link and _VARIABLE.fullmatch(value) is not None


def _is_meant(word: str, before: str) -> bool:
    """Return whether the text before a word makes it a secret's name: that of a page token, for example, does not."""
    last = before[-_LONGEST_PREFIX:].rstrip(" _.-").casefold()
    if word == "key":
        return last.endswith(_SECRET_PREFIXES)
    return word != "token" or not last.endswith(_CURSOR_PREFIXES)


def _judge(kind: str) -> Callable[[str], bool]:
    return is_password if kind == "password" else is_token


def _is_credential(scheme: str, value: str) -> bool:
    if scheme != "basic":
        return is_token(value)
    try:
        user, separator, password = base64.b64decode(value, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return False
    return bool(separator) and is_password_of_url(password, user)
