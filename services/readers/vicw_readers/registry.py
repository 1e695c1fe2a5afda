"""The readers, in the order in which a file is offered to them: the specific before the general.

Another package brings one by an entry point of the group ``vicw.readers``, a callable without arguments that returns a
`Reader`; it is asked before ours::

    [project.entry-points."vicw.readers"]
    bells = "bell_memory:BellLogReader"
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points

from vicw_readers.assistants.agents.sessions import AgentSessionReader
from vicw_readers.assistants.chatgpt import ChatGptReader
from vicw_readers.assistants.claude import ClaudeReader
from vicw_readers.assistants.claude_projects import ClaudeProjectsReader
from vicw_readers.assistants.gemini import GeminiReader
from vicw_readers.assistants.letta import LettaReader
from vicw_readers.assistants.librechat import LibreChatReader
from vicw_readers.assistants.memories import MemoriesReader
from vicw_readers.assistants.openwebui import OpenWebUiReader
from vicw_readers.assistants.other_parts import OtherPartsReader
from vicw_readers.assistants.role_content import RoleContentReader
from vicw_readers.assistants.unknown_chat import UnknownChatReader
from vicw_readers.code.source_code import CodeReader
from vicw_readers.documents.book import BookReader
from vicw_readers.documents.csv_table import CsvReader
from vicw_readers.documents.evernote import EvernoteReader
from vicw_readers.documents.markup import ASCIIDOC, LATEX, ORG, RST
from vicw_readers.documents.notebook import NotebookReader
from vicw_readers.documents.old_office import OldOfficeReader
from vicw_readers.documents.pdf import PdfReader
from vicw_readers.documents.slides import SlidesReader
from vicw_readers.documents.spreadsheet import SpreadsheetReader
from vicw_readers.documents.subtitles import SubtitleReader
from vicw_readers.documents.web_page import WebPageReader
from vicw_readers.documents.word import WordReader
from vicw_readers.intake.file_start import FileStart
from vicw_readers.intake.kinds import kind_of
from vicw_readers.mail.reader import MailReader, MboxReader
from vicw_readers.notes.canvas import CanvasReader, ObsidianViewReader
from vicw_readers.notes.markdown import MarkdownReader
from vicw_readers.people.discord import DiscordReader
from vicw_readers.people.imessage import IMessageReader
from vicw_readers.people.other_forms import OtherChatFormReader
from vicw_readers.people.signal import SignalReader
from vicw_readers.people.slack.reader import SlackReader
from vicw_readers.people.telegram import TelegramReader
from vicw_readers.people.whatsapp.reader import WhatsAppReader
from vicw_readers.plain.jsonl import ItemLinesReader
from vicw_readers.plain.text import TextReader
from vicw_readers.port import Reader
from vicw_shared.errors import SettingsError

GROUP = "vicw.readers"
SPECIFIC: tuple[Reader, ...] = (
    ChatGptReader(),
    ClaudeReader(),
    ClaudeProjectsReader(),
    GeminiReader(),
    OpenWebUiReader(),
    LibreChatReader(),
    AgentSessionReader(),
    SignalReader(),
    WhatsAppReader(),
    TelegramReader(),
    SlackReader(),
    DiscordReader(),
    IMessageReader(),
    OtherChatFormReader(),  # before pages, tables and texts, which are public
    MboxReader(),
    MailReader(),
    LettaReader(),
    MemoriesReader(),
    RoleContentReader(),
    OtherPartsReader(),
    UnknownChatReader(),  # after all that know a chat
    PdfReader(),
    WordReader(),
    SlidesReader(),
    SpreadsheetReader(),
    BookReader(),
    WebPageReader(),
    NotebookReader(),
    EvernoteReader(),
    SubtitleReader(),
    OldOfficeReader(),
)
"""Formats that their content tells."""
GENERAL: tuple[Reader, ...] = (
    ItemLinesReader(),
    CanvasReader(),
    ObsidianViewReader(),
    MarkdownReader(),
    CsvReader(),
    ORG,
    RST,
    ASCIIDOC,
    LATEX,
    CodeReader(),
    TextReader(),
)
"""What is told by its suffix, since it has no sign of its own, and any other text."""
READERS = (*SPECIFIC, *GENERAL)


@cache
def readers() -> tuple[Reader, ...]:
    """Return all readers, those of other packages first. Raises SettingsError, naming one that cannot be loaded."""
    return (*(_loaded(entry) for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name)), *READERS)


def reader_named(name: str) -> Reader:
    """Return a reader by its name. Raises KeyError."""
    return {reader.name: reader for reader in reversed(readers())}[name]


def reader_of(start: FileStart) -> Reader | None:
    """Return the first reader that recognises a file, or None. What is no plain text is no other text, either."""
    found = next((reader for reader in readers() if reader.recognises(start)), None)
    return None if found in GENERAL and kind_of(start) is not None else found


def _loaded(entry: EntryPoint) -> Reader:
    try:
        reader: Reader = entry.load()()
    except Exception as error:
        raise SettingsError(f"reader {entry.name!r} ({entry.value}) cannot be loaded: {error}") from error
    return reader
