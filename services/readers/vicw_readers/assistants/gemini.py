"""Reader of Gemini's activity in a Google Takeout: a prompt with its answer, the newest first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from vicw_readers.assistants.activity_page import CARD, MAX_CARD_CHARS, cards_of
from vicw_readers.assistants.conversations import digest, list_in, text_in, texts_in, time_in
from vicw_readers.documents.html.text import readable_text
from vicw_readers.intake.file_start import FileStart
from vicw_readers.intake.json_stream import json_values
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.records import Record

_PAGE_SUFFIXES = (".html", ".htm")
_AS_DATA = "Export the activity as JSON, and import that"
_PRODUCTS = {"Gemini Apps", "Bard", "Gemini"}
_PROMPTED = ("Prompted ", "Asked ", "Said ")
"""What an English title says before the prompt."""


class GeminiReader:
    """My Activity of Gemini."""

    name = "gemini"
    title = "Gemini activity (Google Takeout)"
    files = ("MyActivity.json", "MyActivity.html")
    keeps = "prompt and answer with their time, names of attached files; a day is a flow"
    leaves = "other products, pictures; which chat a prompt was of, which a Takeout does not say"
    is_personal = False

    def recognises(self, start: FileStart) -> bool:
        """Return whether there is an activity of Gemini. A page's styles are long: else it says so by its place."""
        return any(_is_activity(one) for one in start.objects) or _is_page(start)

    def read(self, source: SourceFile) -> Iterator[Record]:
        """Yield prompt and answer of each activity."""
        return _read_page(source) if source.base.endswith(_PAGE_SUFFIXES) else _read_data(source)


def _read_data(source: SourceFile) -> Iterator[Record]:
    others = 0
    keys = _Keys()
    for n, value in enumerate(json_values(source), 1):
        if not _is_activity(value):
            others += 1
            continue
        when, prompt = time_in(value, "time"), _prompt(text_in(value, "title") or "")
        if when is None:
            yield source.refuse(f"activity {n} has no time")
            continue
        attached = [name for name in list_in(value, "attachedFiles") if isinstance(name, str)]
        answer = "\n\n".join(filter(None, map(readable_text, texts_in(list_in(value, "safeHtmlItem"), "html"))))
        yield from _turns(source, keys.of(when, prompt), when, prompt, answer, attached)
    if others:
        yield source.skip(f"has {others} activities of other products")


def _read_page(source: SourceFile) -> Iterator[Record]:
    """Yield the turns of a page's cards. A page of other products alone is read as any page."""
    others = 0
    keys = _Keys()
    is_noted = is_gemini = False
    with source.open() as file:
        for n, card in enumerate(cards_of(file, source.options.timezone), 1):
            if card.product not in _PRODUCTS:
                others += 1
                continue
            is_gemini = True
            if card.when is None:
                yield source.refuse(f"activity {n} has no time that can be read", fix=_AS_DATA)
                continue
            if not (card.has_zone or is_noted):
                is_noted = True
                yield source.note("does not say the zone of its times in a known form: they are taken as of --timezone")
            if card.is_cut:
                yield source.note(f"activity {n} is longer than {MAX_CARD_CHARS} characters: the rest is left out")
            prompt = _prompt(card.title)
            key = keys.of(card.when, prompt)
            yield from _turns(source, key, card.when, prompt, card.answer, card.attachments)
    if not is_gemini:
        from vicw_readers.documents.web_page import WebPageReader

        yield from WebPageReader().read(source)
    elif others:
        yield source.skip(f"has {others} activities of other products")


def _is_page(start: FileStart) -> bool:
    if not start.base.endswith(_PAGE_SUFFIXES) or start.text is None or "mdl-" not in start.text:
        return False
    cards = start.text.partition(f'class="{CARD}')[2]
    return any(f">{product}<" in cards for product in _PRODUCTS) or (not cards and "activity" in start.base)


@dataclass(slots=True)
class _Keys:
    """Ids of activities: of their time and prompt, with a number for equal ones."""

    _equals: Counter[str] = field(default_factory=Counter)

    def of(self, when: datetime, prompt: str) -> str:
        key = f"gemini#{digest(when.isoformat(), prompt)}"
        self._equals[key] += 1
        return f"{key}-{self._equals[key]}" if self._equals[key] > 1 else key


def _is_activity(value: object) -> bool:
    return text_in(value, "header") in _PRODUCTS and text_in(value, "title") is not None


def _prompt(title: str) -> str:
    return next((title.removeprefix(start) for start in _PROMPTED if title.startswith(start)), title)


def _turns(
    source: SourceFile, key: str, when: datetime, prompt: str, answer: str, attached: Sequence[str]
) -> Iterator[Record]:
    # Steps by the clock: a later Takeout puts its prompts where they belong, and the answer follows its prompt.
    step = int(when.timestamp() * 1000) * 2
    for more, speaker, text in ((0, "user", prompt), (1, "assistant", answer)):
        if text.strip():
            yield source.item(
                {
                    "id": f"{key}#answer" if more else key,
                    "text": text,
                    "subtype": "message",
                    "speaker": speaker,
                    "timestamp": when,
                    "flow_id": f"gemini#{when.date()}",
                    "flow_step": step + more,
                    "source": "gemini",
                    "metadata": {"attachments": list(attached)} if attached and not more else {},
                },
                usual_context="Gemini",
            )
