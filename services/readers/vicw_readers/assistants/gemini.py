"""Reader of Gemini's activity in a Google Takeout: a prompt with its answer, the newest first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime

from vicw_readers.assistants.conversations import digest, list_in, text_in, texts_in, time_in
from vicw_readers.documents.html.text import readable_text
from vicw_readers.intake.file_start import FileStart
from vicw_readers.intake.json_stream import json_values
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.records import Record

_PRODUCTS = {"Gemini Apps", "Bard", "Gemini"}
_PROMPTED = ("Prompted ", "Asked ", "Said ")
"""What an English title says before the prompt."""


class GeminiReader:
    """My Activity of Gemini."""

    name = "gemini"
    title = "Gemini activity (Google Takeout)"
    files = ("MyActivity.json",)
    keeps = "prompt and answer with their time, names of attached files; a day is a flow"
    leaves = "other products, pictures; which chat a prompt was of, which a Takeout does not say"
    is_personal = False

    def recognises(self, start: FileStart) -> bool:
        """Return whether there is an activity of Gemini."""
        return any(_is_activity(one) for one in start.objects)

    def read(self, source: SourceFile) -> Iterator[Record]:
        """Yield prompt and answer of each activity."""
        others = 0
        equals: Counter[str] = Counter()
        for n, value in enumerate(json_values(source), 1):
            if not _is_activity(value):
                others += 1
                continue
            when, prompt = time_in(value, "time"), _prompt(value)
            if when is None:
                yield source.refuse(f"activity {n} has no time")
                continue
            key = f"gemini#{digest(when.isoformat(), prompt)}"
            equals[key] += 1
            suffix = f"-{equals[key]}" if equals[key] > 1 else ""
            yield from _turns(source, value, f"{key}{suffix}", when, prompt)
        if others:
            yield source.skip(f"has {others} activities of other products")


def _is_activity(value: object) -> bool:
    return text_in(value, "header") in _PRODUCTS and text_in(value, "title") is not None


def _prompt(value: object) -> str:
    title = text_in(value, "title") or ""
    return next((title.removeprefix(start) for start in _PROMPTED if title.startswith(start)), title)


def _turns(source: SourceFile, value: object, key: str, when: datetime, prompt: str) -> Iterator[Record]:
    attached = [name for name in list_in(value, "attachedFiles") if isinstance(name, str)]
    answer = "\n\n".join(filter(None, map(readable_text, texts_in(list_in(value, "safeHtmlItem"), "html"))))
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
                    "metadata": {"attachments": attached} if attached and not more else {},
                },
                usual_context="Gemini",
            )
