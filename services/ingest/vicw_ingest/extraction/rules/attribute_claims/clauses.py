"""Split a sentence into self-contained clauses; only asserted clauses about the present remain."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vicw_ingest.extraction.rules.attribute_claims.quantities import MONTH
from vicw_shared.language.analysis import Sentence

_NOT_ASSERTED = re.compile(
    r"[?\"“”]|(?<!\w)['‘][^'’]{12,}['’](?!\w)|^\W*(?:please|let|imagine|suppose|what|example|proposal|idea|request|in|"
    r"on|at|for|under|within|during|until|before|after|between|among|by|to|from|with)\b|\b(?:if|unless|whether|will|would|"
    r"could|might|should|must|maybe|perhaps|possibly|probably|wish\w*|hop(?:es?|ed|ing)|want\w*|plan(?:s|ning)? to|"
    r"going to|gonna|think\w*|thought|consider\w*|propos\w+|suggest\w+|almost|used to|yet|when|while|until|ago|once|"
    r"tomorrow|soon|next|as a (?:kid|child)|back (?:then|in)|formerly|previously|originally|in (?:1\d|20[01])\d\d|"
    r"for (?:today|tonight|now|this|a (?:day|few|while|week|month)|the (?:day|night|week|summer|time))|interim|"
    rf"temporar\w+|only|also|too|another|both|or|(?:from|starting) (?:\w*\d\w*|{MONTH}|\w+day)\b(?! (?:\w+ )?to))\b",
    re.IGNORECASE,
)
"""A question, wish, plan, condition, order, memory or quotation, or a claim limited to some times or some cases."""
_SOURCE = r"((?!(?:The|My|Our|Your|His|Her|This|That|It) )[A-Z][\w.-]+(?: [A-Z][\w.-]+)?|my \w+|[Hh]e|[Ss]he|[Tt]hey)"
_HEARSAY = re.compile(
    rf"(?:(?:According to {_SOURCE}|Apparently|Supposedly|Allegedly),? |"
    rf"{_SOURCE} (?:says|said|tells me|told (?:me|us)|claims|claimed|mentioned|swears),? |"
    rf"(?:I|We) (?:heard|hear|read|was told|am told),? (?:from {_SOURCE},? )?)(?:that )?"
)
_EXPANDED = {
    r"\bI['’]m\b": "I am",
    r"\b(I|[Ww]e|[Tt]hey|[Yy]ou)['’]ve\b": r"\1 have",
    r"\b([Ww]e|[Tt]hey|[Yy]ou)['’]re\b": r"\1 are",
    r"\b(\w+)['’]s (?=(?:now|the|my|been|called|named|based|moved|at|on|an?|\d[\w:]*|[A-Z]\w+[.,!])\b)": r"\1 is ",
    r"n['’]t\b": " not",
}
_LEADING = re.compile(
    r"^(?:(?:well|oh|so|and|but|actually|btw|fyi|(?:quick )?update|also|now|ok|okay|note|finally|these days|nowadays|"
    r"from now on|yesterday|(?:as of|since|effective|last|this) (?:\d+ )?[\w.]+)[,:!]? )+",
    re.IGNORECASE,
)
_PARTS = re.compile(r"(?:[,;:–—!]|\s-)\s+(?:so |and |but )?|\s(?:and|so|but)\s(?=(?:I|we|my|our|the|he|she|it)\b)")
_CHANGED = (
    r"moved|relocated|joined|left|became|switched|changed|renamed|raised|lowered|increased|postponed|rescheduled|pushed|"
    r"took over|promoted"
)
_NOW = re.compile(rf"\b(?:now|these days|nowadays|no longer|anymore|instead|new|as of|since|{_CHANGED})\b", re.I)
_PASSING = re.compile(
    rf"^(?!.*\b(?:{_CHANGED})\b).*\b(?:today|tonight|yesterday|(?:last|this) (?:\w+day|night|week\w*|month|year))\b",
    re.IGNORECASE,
)


def clauses(sentence: Sentence) -> Iterator[tuple[str, str | None, bool]]:
    """Yield each clause that may make a claim, its source (as in a claim), and whether it states a change.

    A conclusion from hearsay (*Tom says that it is off, so we moved it*) is the speaker's own.
    """
    for told in _expanded_text(sentence).split(", so "):
        text, source = _LEADING.sub("", told), None
        lead = told[: len(told) - len(text)]
        if (heard := _HEARSAY.match(told)) is not None:
            who = next(filter(None, heard.groups()), "")
            text, source = told[heard.end() :], who.casefold() if who[:1].isupper() else ""
        for number, part in enumerate(_PARTS.split(text) if not _NOT_ASSERTED.search(text) else ()):
            clause = _LEADING.sub("", part) if number else part
            if clause and not _PASSING.match(clause):
                changed = _NOW.search(clause) or (number == 0 and _NOW.search(lead))
                yield clause[0].upper() + clause[1:], source, bool(changed)


def _expanded_text(sentence: Sentence) -> str:
    """Return the text of a sentence with contractions expanded and line breaks as spaces."""
    text, end = "", None
    for word in sentence.words:
        text += ("" if end is None or word.start == end else " ") + word.text
        end = word.end
    for form, instead in _EXPANDED.items():
        text = re.sub(form, instead, text)
    return text
