"""Reader of WhatsApp's "Export chat"."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath, PurePosixPath

from vicw_readers.intake.file_start import FileStart
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.records import Record, UnreadableFileError

_SHOWN_LINES = 200


class WhatsAppReader:
    """The text of a chat, as both phones export it."""

    name = "whatsapp"
    title = "WhatsApp chat"
    files = ("WhatsApp Chat *.txt", "WhatsApp Chat *.zip", "_chat.txt")
    keeps = "speaker, time and text of both phones' exports, edits, names of media; joins and the like as notices"
    leaves = "media, deleted messages, the notice of encryption"
    is_personal = True

    def recognises(self, start: FileStart) -> bool:
        """Return whether the first line begins a message in the form of either phone, or the name is an export's."""
        from vicw_readers.people.whatsapp.chat import title_of
        from vicw_readers.people.whatsapp.lines import looks_like_whatsapp

        if not start.text:
            return False
        lines = list(start.lines[:_SHOWN_LINES])
        is_export = start.suffix == ".txt" and (start.base == "_chat.txt" or title_of(start.base) is not None)
        # In dates of an unknown form it is refused by `read`: as any other text it would be public.
        return is_export or looks_like_whatsapp(lines, is_named_so="whatsapp" in start.base)

    def read(self, source: SourceFile) -> Iterator[Record]:
        """Yield the messages as items of one flow, the chat."""
        from vicw_readers.people.records import records_of
        from vicw_readers.people.whatsapp.chat import title_of, whatsapp_chat
        from vicw_readers.people.whatsapp.lines import form_of

        if form_of(source.lines()) is None:
            raise UnreadableFileError(
                "is called a WhatsApp chat, but does not begin with a time in a form that is known",
                fix="Export it from a phone in another language, or rename it and give --sensitivity personal to store "
                "it as text",
            )
        file_name = PurePosixPath(source.name).name
        if source.archive is not None and title_of(file_name) is None:
            file_name = PurePath(source.path).name
        yield from records_of(source, whatsapp_chat(source.lines, file_name), self.name, "WhatsApp")
