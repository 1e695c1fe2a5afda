"""How a sentence is meant: only what is asserted of the present can replace anything."""

from __future__ import annotations

import re

_ANY_CASE = re.IGNORECASE
_NOT_ASSERTED = re.compile(
    r"\?\s*[\"”')]*$|^\s*(?:please|let['’]?s|let us|imagine|suppose|what if|maybe|perhaps)\b|^\s*(?:proposal|idea|"
    r"suggestion|request|poll|rumou?r|wish ?list|todo|to-do|question|draft|example): |"
    r"\b(?:if|unless|whether|would|could|might|(?-i:may)|should|must|ought|shall|maybe|perhaps|possibly|probably|"
    r"wish|wishes|"
    r"wished|hopes?|hoped|hoping|wants?|wanted|wanna|planned(?! for)|planning (?:to|on|an?|the|our|my)|plans? on|"
    r"plans? to(?! [$€£\d])|intends?|intended|going to|gonna|"
    r"thinking|thought|thinks?|considers?|considered|considering|propos(?:e|es|ed|ing)|suggest\w+|recommend\w+|"
    r"announc\w+|"
    r"promis\w+|about to|"
    r"almost|nearly|used to|pretend\w*|dream\w*|refus\w+|declin\w+|offer(?:s|ed)?|asked|asks|demand\w*|insist\w*|"
    r"try\w*|tried|"
    r"as though|as if|supposed to|decide[sd]? (?:against|not)|not yet|yet to|when i was|as a (?:kid|child)|"
    r"back (?:then|when)|in those days|at (?:that|the) time|formerly|previously|originally|once (?:upon|was|"
    r"were|lived|worked)|"
    r"years? ago|decades? ago|last (?:century|decade)|in (?:1\d|20[01])\d\d|during (?:my|his|her|the)|"
    r"for (?:today|tonight|now|the (?:day|night|weekend|week|time being|moment)|a (?:day|few|while|week|couple|bit))|"
    r"back in (?:\d|the (?:day|old|\d|summer|winter|spring|autumn|fall)|my |high|school|college|uni|those)|"
    r"while (?:\w+ ){1,3}(?:is|was|are|were|recovers?|travels?)|until (?:\w+ ){1,3}(?:is back|are back|returns?|"
    r"comes)|acting|interim|"
    r"for (?:the|one|an?|this|that) (?:match|game|day|night|evening|season|meeting|trip|shift|semester|term|event|"
    r"show)|"
    r"stand-in|standing in|filling in|fills in|stands in|covering for|for this|"
    r"temporar\w+|just (?:for )?today|this (?:once|time)|exceptionally|(?<!is )(?<!am )(?<!are )on (?:holidays?|"
    r"vacation)|visiting|for fun|"
    r"(?:today|tonight|weekend|week) only|only (?:today|tonight|this)|with (?:the|a) (?:coupon|discount|voucher)|"
    r"also|as well|too(?=\s*(?:[.!,;:)]|$))|another|additional(?:ly)?|in addition|a second|both|or)\b",
    _ANY_CASE,
)
_FUTURE = re.compile(
    r"\b(?:will|won['’]t|['’]ll|tomorrow|soon|next (?:week|month|year|quarter|spring|summer|autumn|fall|winter|"
    r"season|term)|(?:from|starting|as of|effective|beginning) (?:the )?(?:\d{1,2}(?:st|nd|rd|th)?(?: of)? )?"
    r"(?:january|february|march|april|june|july|august|september|october|november|december|(?-i:May)|(?:mon|tues|"
    r"wednes|"
    r"thurs|fri|satur|sun)days?)\b(?! (?:[\w:]+ ){0,3}(?:to|until|till)\b)|"
    r"from next|starting (?:in|next|on|from)|as of next|by (?:next|the end of))\b",
    _ANY_CASE,
)
_QUOTED = re.compile(r"[\"“][^\"”]{4,}[\"”]|(?<!\w)['‘][^'’]{12,}['’](?!\w)")
_WHO = (
    r"(?P<who>(?!(?:The|My|Our|Your|His|Her|Their|This|That|It|There|An?) )[A-Z][\w.-]+(?: [A-Z][\w.-]+)?|my "
    r"\w+|he|she|they|somebody|someone|people)"
)
_HEARSAY = tuple(
    re.compile(pattern)
    for pattern in (
        rf"^{_WHO} (?:says|said|tells me|told (?:me|us|everyone)|claims|claimed|mentioned|reckons|believes|"
        rf"swears|heard|wrote|reports|"
        r"reported)(?: to me)?,?(?: that)? (?P<rest>(?!to\b).+)$",
        r"^(?:I|We) (?:heard|hear|read|gather|understand|was told|were told|['’]m told|"
        r"am told)(?: from (?P<who>[A-Z]\w+(?: [A-Z]\w+)?))?"
        r"(?: somewhere)?,?(?: that)? (?P<rest>.+)$",
        r"^(?:[Aa]ccording to (?P<who>(?!(?:the|this|our|its|today['’]s|its)\b)[\w .]+?)|[Aa]pparently|"
        r"[Ss]upposedly|[Aa]llegedly|"
        r"[Rr]umou?r has it(?: that)?|[Tt]he rumou?r is(?: that)?|"
        r"[Ww]ord is(?: that)?|[Tt]hey say(?: that)?|[Ii]t is said that),? (?P<rest>.+)$",
    )
)


def is_asserted(text: str) -> bool:
    """Tell whether a sentence says what is so: no question, wish, plan, quotation or memory."""
    return _NOT_ASSERTED.search(text) is None and _QUOTED.search(text) is None


def is_future(text: str) -> bool:
    """Tell whether a sentence is of what is yet to come; of a date that is the present plan."""
    return _FUTURE.search(text) is not None


def hearsay(text: str) -> tuple[str | None, str]:
    """Return whom a sentence has from somebody else is from, empty if that is not told, and what it is that was told.

    >>> hearsay("Tom said that Ana lives in Oslo.")
    ('tom', 'Ana lives in Oslo.')
    >>> hearsay("Ana lives in Oslo.")
    (None, 'Ana lives in Oslo.')
    """
    for pattern in _HEARSAY:
        if found := pattern.match(text):
            who = found["who"] or ""
            return (who.casefold() if who[:1].isupper() else ""), found["rest"]
    return None, text
