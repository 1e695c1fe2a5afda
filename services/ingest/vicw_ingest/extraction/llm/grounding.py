"""Locate names and quotations in a text; the model invented those that are not found."""

from __future__ import annotations

import re

from vicw_shared.text import Span, fold_case

_WORD = re.compile(r"\w+")
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Scripts that put no space between words."""
_ENOUGH_WORDS = 0.6
_WINDOW = 2


class Grounding:
    """Search a text for names and quotations."""

    def __init__(self, text: str, *beside: str | None) -> None:
        """``beside`` has further strings in which a name may occur: the speaker, the title."""
        self._text = text
        self._folded = fold_case(text)
        self._beside = [fold_case(part) for part in beside if part]
        self._words = [(fold_case(match[0]), match.span()) for match in _WORD.finditer(text)]

    def find(self, name: str) -> Span | None:
        """Return the first occurrence of a whole name in any casing; None if it does not occur.

        Return ``Span(0, 0)`` if the name occurs only after case folding, or only in ``beside``.
        """
        words = name.split()
        if not words or not _WORD.search(name):
            return None
        pattern = r"\s+".join(map(re.escape, words))
        match = re.search(_bounded(pattern, name), self._text, re.IGNORECASE)
        if match is not None:
            return Span(*match.span())
        folded = _bounded(re.escape(fold_case(name)), name)
        if any(re.search(folded, text) for text in (self._folded, *self._beside)):
            return Span(0, 0)
        return None

    def quoted(self, quote: str) -> Span | None:
        """Return the window of the text with most words of a quotation; None if it has too few of them.

        Models drop commas and correct spellings, so not every word must match.
        """
        exact = self.find(quote)
        if exact is not None and exact.end > 0:
            return exact
        quoted_words = {fold_case(word) for word in _WORD.findall(quote)}
        if not quoted_words:
            return None
        width = max(len(_WORD.findall(quote)) * _WINDOW, 1)
        positions = [number for number, (word, _) in enumerate(self._words) if word in quoted_words]
        best: tuple[int, Span] | None = None
        for start in positions:
            window = [n for n in positions if start <= n < start + width]
            common = len({self._words[n][0] for n in window})
            if best is None or common > best[0]:
                best = common, Span(self._words[start][1][0], self._words[window[-1]][1][1])
        if best is None or best[0] < _ENOUGH_WORDS * len(quoted_words):
            return None
        return best[1]


def _bounded(pattern: str, name: str) -> str:
    """Return a pattern that matches whole words only, where the script separates words."""
    before = "" if _UNSPACED.match(name[0]) or not _WORD.match(name[0]) else r"(?<!\w)"
    after = "" if _UNSPACED.match(name[-1]) or not _WORD.match(name[-1]) else r"(?!\w)"
    return before + pattern + after
