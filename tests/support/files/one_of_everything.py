"""A folder with a small file of every format, and what each of them is to be found by."""

from __future__ import annotations

from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path

from support.documents.office import docx, epub, paragraph, pptx, shape, xlsx
from support.documents.pdf import Text, pdf
from support.files.records_of_file import json_lines, written


@dataclass(frozen=True)
class Known:
    """What a question must find: an item with these words, and the words of the item next to it in its flow."""

    reader: str
    question: str
    words: str
    speaker: str | None = None
    time: str | None = None
    next_to: str | None = None


KNOWN = (
    Known("chatgpt", "What glaze suits a stoneware teapot?", "celadon glaze", "assistant", "2026-03-01", "teapot?"),
    Known(
        "claude", "How deep should tulip bulbs be planted?", "fifteen centimetres", "assistant", "2026-03-02", "bulbs"
    ),
    Known("agent-session", "Why was the ledger test flaky?", "wall clock", "assistant", "2026-05-01", "flaky"),
    Known(
        "gemini",
        "How long must sourdough prove overnight?",
        "eight hours in the cold",
        "assistant",
        "2026-02-01",
        "prove overnight",
    ),
    Known("role-content", "Which wax is best for a saddle?", "beeswax", "assistant", None, "saddle"),
    Known("mem0", "Which tram does Ingrid take?", "tram line nine"),
    Known("whatsapp", "Who brings the needles to knitting?", "circular needles", "Marta", "2025-09-13", "Who brings"),
    Known("telegram", "What is wrong with the rowing boat?", "boat leaks", "Oskar", "2025-06-01", "thwart"),
    Known("slack", "When does the loom arrive?", "loom arrives", "Petra Lund", "2025-09-01", "carry it"),
    Known("discord", "How hot is the kiln?", "kiln is at 1240", "Yngve", "2025-03-01"),
    Known("mail", "When is the choir rehearsal in Bergen?", "rehearsal in Bergen", "Solveig Dahl", "2025-04-29"),
    Known("mbox", "What does the plumber charge for the boiler?", "four hundred euros", "Plumber Ltd", "2025-05-02"),
    Known("markdown", "What is the status of Project Heron?", "On time", None, None),
    Known("canvas", "At which cone is the bisque firing?", "cone 06"),
    Known("pdf", "How many visitors came to the lighthouse?", "4210 visitors"),
    Known("docx", "Who takes the minutes of the harbour board?", "Henrik takes the minutes"),
    Known("pptx", "What is the budget of the ferry quay?", "ninety thousand"),
    Known("xlsx", "How many crates of herring were sold?", "Herring"),
    Known("epub", "Who rowed to the skerry in the fog?", "Aslaug rowed"),
    Known("html", "When does the swimming pool close?", "pool closes at nine"),
    Known("notebook", "What is the mean salinity?", "salinity"),
    Known("subtitles", "What did the captain say about the anchor?", "Weigh the anchor", "CAPTAIN"),
    Known("evernote", "What is the recipe for rhubarb jam?", "rhubarb", None, "2024-06-10"),
    Known("csv", "What colour is the door of the boathouse?", "boathouse"),
    Known("org", "What has to be sanded before varnish?", "sand the tiller"),
    Known("code", "Which function doubles the toll?", "def doubled_toll"),
    Known("text", "Where is the spare key hidden?", "under the blue pot"),
    Known("items", "What does the parrot say?", "parrot says ahoy", "Kaptein"),
)


def _node(key: str, parent: str | None, role: str, text: str, time: int) -> dict[str, object]:
    content = {"content_type": "text", "parts": [text]}
    return {
        "id": key,
        "parent": parent,
        "message": {"id": key, "author": {"role": role}, "create_time": time, "content": content, "recipient": "all"},
    }


def _claude(key: str, sender: str, text: str, minute: int) -> dict[str, object]:
    return {"uuid": key, "sender": sender, "text": text, "created_at": f"2026-03-02T10:{minute:02}:00Z"}


def _session(key: str, parent: str | None, role: str, text: str, second: int) -> dict[str, object]:
    content: object = text if role == "user" else [{"type": "text", "text": text}]
    return {
        "type": role,
        "uuid": key,
        "parentUuid": parent,
        "sessionId": "s1",
        "cwd": "/p",
        "timestamp": f"2026-05-01T08:00:{second:02}.000Z",
        "message": {"role": role, "content": content},
    }


def _mail(sender: str, date: str, subject: str, text: str, key: str) -> bytes:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Date"], mail["Subject"], mail["Message-ID"] = sender, "me@x", date, subject, key
    mail.set_content(text)
    return mail.as_bytes()


def write_everything(folder: Path) -> Path:
    """Write the files, and return the folder."""
    chats, papers = folder / "chats", folder / "papers"
    nodes = [
        _node("q", None, "user", "What glaze suits a stoneware teapot?", 1772355600),
        _node("a", "q", "assistant", "A celadon glaze suits stoneware teapots.", 1772355660),
    ]
    mapping = {str(one["id"]): one for one in nodes}
    written(
        chats / "chatgpt/conversations.json",
        [
            {
                "conversation_id": "g",
                "title": "Glaze",
                "create_time": 1772355600,
                "current_node": "a",
                "mapping": mapping,
            }
        ],
    )
    messages = [
        _claude("cq", "human", "How deep do I plant tulip bulbs?", 0),
        _claude("ca", "assistant", "Plant tulip bulbs fifteen centimetres deep.", 1),
    ]
    written(
        chats / "claude/conversations.json",
        [{"uuid": "c", "name": "Bulbs", "created_at": "2026-03-02T10:00:00Z", "chat_messages": messages}],
    )
    json_lines(
        chats / "session.jsonl",
        _session("k1", None, "user", "Why is the ledger test flaky?", 0),
        _session("k2", "k1", "assistant", "The ledger test depends on the wall clock.", 5),
    )
    written(
        chats / "MyActivity.json",
        [
            {
                "header": "Gemini Apps",
                "title": "Prompted How long must sourdough prove overnight?",
                "time": "2026-02-01T09:00:00Z",
                "products": ["Gemini Apps"],
                "safeHtmlItem": [{"html": "<p>Sourdough proves for eight hours in the cold.</p>"}],
            }
        ],
    )
    json_lines(
        chats / "saddle.jsonl",
        {"role": "user", "content": "Which wax is best for a saddle?"},
        {"role": "assistant", "content": "Pure beeswax is best for saddle leather."},
    )
    memory: dict[str, object] = {
        "id": "m1",
        "memory": "Ingrid takes tram line nine to work.",
        "created_at": "2026-01-05T08:00:00Z",
    }
    written(chats / "memories.json", {"results": [memory | {"user_id": "ingrid", "metadata": None}]})
    written(
        chats / "WhatsApp Chat with Knitters.txt",
        "13/09/2025, 18:02 - Marta: Who brings the wool?\n13/09/2025, 18:05 - Marta: I bring the circular needles.\n"
        "13/09/2025, 18:07 - Jon: Then I bring cake.\n",
    )
    told = {"type": "message", "from": "Oskar", "from_id": "user5"}
    written(
        chats / "result.json",
        {
            "name": "Rowers",
            "type": "private_group",
            "id": 77,
            "messages": [
                told
                | {"id": 1, "date": "2025-06-01T12:00:00", "date_unixtime": "1748772000", "text": "A thwart broke."},
                told
                | {
                    "id": 2,
                    "date": "2025-06-01T12:01:00",
                    "date_unixtime": "1748772060",
                    "text": "The rowing boat leaks.",
                },
            ],
        },
    )
    slack = chats / "slack"
    written(slack / "users.json", [{"id": "U1", "name": "petra", "profile": {"real_name": "Petra Lund"}}])
    written(slack / "channels.json", [{"id": "C1", "name": "looms", "members": ["U1"]}])
    said = {"type": "message", "user": "U1"}
    written(
        slack / "looms/2025-09-01.json",
        [
            said | {"text": "The loom arrives on Thursday.", "ts": "1756720800.000100"},
            said | {"text": "Who can carry it upstairs?", "ts": "1756720900.000100"},
        ],
    )
    written(
        chats / "Potters - kilns [9].json",
        {
            "guild": {"id": "7", "name": "Potters"},
            "channel": {"id": "9", "type": "GuildTextChat", "category": "Text", "name": "kilns", "topic": None},
            "dateRange": {"after": None, "before": None},
            "messages": [
                {
                    "id": "5",
                    "type": "Default",
                    "timestamp": "2025-03-01T10:00:00+01:00",
                    "timestampEdited": None,
                    "content": "The kiln is at 1240 degrees.",
                    "author": {"id": "1", "name": "yngve", "nickname": "Yngve", "isBot": False},
                }
            ],
            "messageCount": 1,
        },
    )
    text = "The choir rehearsal in Bergen is on Friday at six.\n"
    written(
        chats / "letter.eml",
        _mail("Solveig Dahl <s@example.org>", "Tue, 29 Apr 2025 10:11:12 +0200", "Choir", text, "<m1@x>"),
    )
    text = "We charge four hundred euros for the boiler.\n"
    bill = _mail("Plumber Ltd <p@example.org>", "Fri, 02 May 2025 09:00:00 +0200", "Your boiler", text, "<m2@x>")
    written(chats / "archive.mbox", b"From p@example.org Fri May  2 09:00:00 2025\n" + bill + b"\n")

    written(papers / "Project Heron.md", "## Status\nOn time.\n## Budget\nSpent.\n")
    written(papers / "Project Swift.md", "## Status\nCancelled.\n## Budget\nSpent, too.\n")
    card = {"id": "1", "type": "text", "text": "Bisque firing is at cone 06.", "x": 0, "y": 0}
    written(papers / "Kiln.canvas", {"nodes": [card], "edges": []})
    written(papers / "lighthouse.pdf", pdf([[Text("The lighthouse had 4210 visitors this year.")]]))
    written(papers / "minutes.docx", docx(paragraph("Henrik takes the minutes of the harbour board.")))
    written(papers / "quay.pptx", pptx([shape("Ferry quay", "title") + shape("The budget is ninety thousand.")]))
    written(papers / "fish.xlsx", xlsx({"Fish": [["Fish", "Crates sold"], ["Herring", 31], ["Cod", 12]]}))
    written(papers / "skerry.epub", epub({"one.xhtml": "<h1>Fog</h1><p>Aslaug rowed to the skerry in the fog.</p>"}))
    page = "<html><title>Pool</title><body><article><p>The swimming pool closes at nine.</p></article></body></html>"
    written(papers / "pool.html", page)
    cells = [{"cell_type": "markdown", "metadata": {}, "source": ["The mean salinity is 34 per mille."]}]
    written(papers / "sea.ipynb", {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    written(papers / "film.srt", "1\n00:00:01,000 --> 00:00:03,000\nCAPTAIN: Weigh the anchor before dawn.\n")
    written(
        papers / "kitchen.enex",
        '<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE en-export SYSTEM "http://xml.evernote.com/pub/evernote-export4.dtd">'
        "<en-export><note><title>Jam</title><content><![CDATA[<en-note><div>Boil a kilo of rhubarb with sugar for jam."
        "</div></en-note>]]></content><created>20240610T080000Z</created></note></en-export>",
    )
    written(papers / "doors.csv", "House,Colour\nboathouse,green\nsmokehouse,black\n")
    written(papers / "boat.org", "* Varnish\nFirst sand the tiller, then varnish it.\n")
    written(papers / "toll.py", "def doubled_toll(toll):\n    return toll * 2\n")
    written(papers / "key.txt", "The spare key is under the blue pot.\n")
    json_lines(papers / "parrot.jsonl", {"id": "p1", "text": "The parrot says ahoy.", "speaker": "Kaptein"})
    return folder


def write_the_rest(folder: Path) -> frozenset[str]:
    """Write a small file of each format that `write_everything` leaves to a twin; return the names of their readers."""
    text = "The sluice opens at high tide."
    written(folder / "sluice.rst", f"Sluice\n======\n\n{text}\n")
    written(folder / "sluice.adoc", f"= Sluice\n\n{text}\n")
    written(
        folder / "sluice.tex",
        f"\\documentclass{{article}}\\begin{{document}}\\section{{Sluice}}{text}\\end{{document}}\n",
    )
    block = {"id": "block-1", "label": "human", "value": "She keeps the sluice."}
    written(folder / "mate.af", {"agents": [{"id": "agent-1", "messages": []}], "blocks": [block], "tools": []})
    project = {
        "uuid": "project-1",
        "name": "Sluice",
        "prompt_template": "Be brief.",
        "docs": [],
        "created_at": "2026-01-01T08:00:00Z",
    }
    written(folder / "claude/projects.json", [project])
    asked = {
        "id": "h1",
        "parentId": None,
        "role": "user",
        "content": "When does the sluice open?",
        "timestamp": 1756000000,
    }
    history = {"currentId": "h1", "messages": {"h1": asked}}
    chat = {"id": "w1", "title": "Sluice", "created_at": 1756000000, "chat": {"history": history, "messages": []}}
    written(folder / "chat-export-1.json", [chat])
    said = {
        "messageId": "q1",
        "parentMessageId": None,
        "isCreatedByUser": True,
        "createdAt": "2026-02-01T10:00:00.000Z",
    }
    written(folder / "libre.json", {"conversationId": "l1", "title": "Sluice", "messages": [said | {"text": text}]})
    json_lines(folder / "Ida/data.json", {"date": "2025-03-01 10:00:00", "sender": "Ida", "body": text} | _SIGNAL)
    written(folder / "ida.txt", f"Mar 01, 2025 10:00:00 AM (Read by you after 5 minutes)\nIda\n{text}\n\n")
    return frozenset(
        ("rst", "asciidoc", "latex", "letta", "claude-projects", "open-webui", "librechat", "signal", "imessage")
    )


_SIGNAL: dict[str, object] = {"quote": "", "sticker": None, "reactions": [], "attachments": []}
