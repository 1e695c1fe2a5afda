"""Threads of mails that are a file each: all files of the folder or archive decide, not only those read before."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from email.parser import BytesHeaderParser
from itertools import islice, pairwise
from pathlib import Path

from vicw_readers.intake.source_file import SourceFile
from vicw_readers.intake.walk import walk
from vicw_readers.mail.headers import own_id, references_of
from vicw_readers.mail.threads import MAX_REMEMBERED

MAIL_SUFFIXES = (".eml", ".emlx")
_HEAD_BYTES = 64 * 1024
_COUNT = re.compile(rb"\A\s*\d{1,10}[ \t]*\r?\n")


class FolderThreads:
    """Which mail of a folder answers which: a thread is named by the first mail that any of them knows."""

    def __init__(self, parents: dict[str, str]) -> None:
        self._parents = parents
        self._roots: dict[str, str] = {}

    @classmethod
    def around(cls, source: SourceFile) -> FolderThreads:
        """Return the threads of all mails below what was named, by their headers. Made once an import."""
        key = str(source.path if source.archive else _root(source))
        known = source.options.run.known
        if not isinstance(known.get(key), cls):
            known[key] = cls(_parents(source))
        threads: FolderThreads = known[key]
        return threads

    def root_of(self, own_id: str, references: Sequence[str]) -> str:
        """Return the thread of a mail: the mail that all its answers lead back to."""
        mail = references[-1] if references else own_id
        passed: dict[str, None] = {}
        while mail not in self._roots and mail not in passed:
            passed[mail] = None
            mail = self._parents.get(mail, mail)
        # Not known: it is the first mail, or of mails that answer each other.
        root = self._roots.get(mail) or min(list(passed)[list(passed).index(mail) :])
        self._roots.update(dict.fromkeys(passed, root))
        return root


def _parents(source: SourceFile) -> dict[str, str]:
    """Return for each mail the one that it answers; what a mail says of itself counts before what others say of it."""
    said: dict[str, str] = {}
    told: dict[str, str] = {}
    for file in islice(_mails(source), MAX_REMEMBERED):
        own, references = _identity(file)
        if own and references:
            said[own] = references[-1]
        for before, after in pairwise(references):
            told.setdefault(after, before)
    return {**told, **said}


def _mails(source: SourceFile) -> Iterator[SourceFile]:
    if source.archive is not None:
        for name in source.archive.names:
            if name.lower().endswith(MAIL_SUFFIXES) and source.options.wants(name):
                yield replace(source, member=name)
        return
    root = _root(source)
    is_named = root in source.options.run.folders
    files = (entry for entry in (walk(root) if is_named else sorted(root.iterdir())) if isinstance(entry, Path))
    for path in files:
        is_mail = path.suffix.lower() in MAIL_SUFFIXES and path.is_file() and not path.is_symlink()
        if is_mail and source.options.wants(path.relative_to(root).as_posix()):
            yield replace(source, path=path)


def _root(source: SourceFile) -> Path:
    """Return the folder from which a file's name counts: the one that was named, or that of a file named alone."""
    return source.path.parents[source.name.count("/")]


def _identity(source: SourceFile) -> tuple[str, list[str]]:
    """Return the id of a mail and those it refers to, the oldest first; "" and none for what cannot be read."""
    try:
        with source.open() as file:
            head = file.read(_HEAD_BYTES)
        message = BytesHeaderParser().parsebytes(_COUNT.sub(b"", head, count=1).lstrip())
        return own_id(message), references_of(message)
    except Exception:  # the module of mails raises many on what nobody writes; the file is refused when it is read
        return "", []
