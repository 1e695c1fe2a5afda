"""Parse commits as printed by Git, and bare commit messages, and map them to a TextExtraction.

Representation in the graph:

* a ``Commit``: the item's own ``Event``; ``INITIATED`` from its author (``Entity``, subtype ``person``), and from each
  co-author;
* its ``reverts``: ``CONTRADICTS`` to the reverted commit, if that is an item under its hash;
* its ``closes``: ``RELATED_TO {desc: "fixes"}`` to the ``Entity`` of subtype ``issue``;
* other ``references``, and its ``files`` (``Entity``, subtype ``file``): ``MENTIONS``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from vicw_shared.model import Label
from vicw_shared.model.extraction import ITEM, ExtractedEntity, ExtractedRelation, TextExtraction, item_key
from vicw_shared.text import Span, lines_of

MAX_COMMITS = 2_000
MAX_FILES = 2_000
MAX_REFERENCES = 200
_MAX_LINE = 2_000


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit, or its message alone. Nothing is guessed: missing values are None, ``""`` or ().

    ``author`` and ``co_authors`` are names, or else mail addresses. ``date`` is aware; without a zone it is UTC.
    ``references`` are as written (``#12``, ``GH-12``, ``org/repo#12``, ``DB-12``, commit hashes) and include
    ``closes`` (after fixes, closes, resolves) and ``reverts`` (hashes). ``files`` are paths after the
    change, from a diff, a diffstat or a list of names. ``non_prose`` has the spans (characters) of headers, trailers
    and changes, in order.
    """

    author: str | None
    date: datetime | None
    subject: str
    references: tuple[str, ...]
    closes: tuple[str, ...]
    reverts: tuple[str, ...]
    co_authors: tuple[str, ...]
    files: tuple[str, ...]
    non_prose: tuple[Span, ...]


_HEAD = re.compile(r"commit [0-9a-f]{7,64}(?: \([^)]*\))?$")
_FIELD = re.compile(r"(?P<name>Author|AuthorDate|Date|Commit|CommitDate|Merge|Reflog|Reflog message): +(?P<value>.*)$")
_PERSON = re.compile(r"(?P<name>[^<>]*?) *<(?P<mail>[^<>\s]*)>$")
_CONVENTIONAL = re.compile(r"(?P<type>[A-Za-z][\w-]{1,20})(?:\([^()]{1,100}\))?!?: +\S")
_TYPES = frozenset("build chore ci docs feat fix perf refactor revert style test tests deps release wip hotfix".split())
_REVERT_SUBJECT = re.compile(r"Revert \".+\"")
_MERGE_SUBJECT = re.compile(r"Merge (?:branch|pull request|remote-tracking branch|tag|commit) ")
_REVERTS = re.compile(r"\breverts? (?:commits? )?(?P<sha>[0-9a-f]{7,64})\b", re.IGNORECASE)
_ISSUE = r"(?:[\w.-]+/[\w.-]+)?#\d+|\bGH-\d+|\b[A-Z][A-Z0-9]{1,9}-\d+|https?://\S+/(?:issues|pull|merge_requests)/\d+"
_REFERENCE = re.compile(rf"(?<![\w&/]){_ISSUE}\b")
_CLOSES = re.compile(
    r"(?i:\b(?:fix(?:es|ed)?|close[sd]?|resolve[sd]?|implement(?:s|ed)?)\b:?\s+)"
    rf"(?P<issues>(?:{_ISSUE})(?:,?\s+(?:and\s+)?(?:{_ISSUE}))*)"
)
_NO_ISSUE = re.compile(r"(?:UTF|SHA|ISO|RFC|CVE|HTTP|AES|MD|TLS|IPV|PEP|GPT|COVID|RSA|BASE)-\d+", re.IGNORECASE)
_HASH = re.compile(r"\b(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])(?:[0-9a-f]{40}|[0-9a-f]{7,12})\b")
_TRAILER = re.compile(r"(?P<name>[A-Z][\w-]{1,40}): (?P<value>.+)$")
_GIT_TRAILERS = frozenset("co-authored-by signed-off-by reviewed-by acked-by change-id cherry-picked-from".split())
_DATED = frozenset({"Author", "Date"})
_DIFF = re.compile(r"(?:diff --git a/.+? b/(?P<to>.+)|\+\+\+ b/(?P<after>[^\t]+).*|rename to (?P<renamed>.+))$")
_STAT = re.compile(r"(?P<file>\S(?:.*\S)?) +\| +(?:\d+(?: [+-]+)?|Bin .*)$")
_STATUS = re.compile(r"(?:[AMDTU]|[RC]\d{0,3}\t[^\t]+)\t(?P<file>[^\t]+)$")
_SUMMARY = re.compile(r"\d+ files? changed")
_PART_RENAMED = re.compile(r"\{[^{}]* => (?P<to>[^{}]*)\}")
_DATES = ("%a %b %d %H:%M:%S %Y %z", "%a %b %d %H:%M:%S %Y", "%a, %d %b %Y %H:%M:%S %z", "%Y-%m-%d %H:%M:%S %z")
"""Git's ``--date=default``, ``local``, ``rfc`` and ``iso``; ``iso-strict`` and ``short`` are ISO 8601."""


def parse_commits(text: str) -> list[Commit]:
    """Return the commits of ``git log`` or ``git show`` output in a text, in order; none without a commit header."""
    return list(_logged_commits(_lines(text)))[:MAX_COMMITS]


def parse_commit(text: str, *, is_message: bool = False) -> Commit | None:
    """Return the first commit of Git output, else the text as a commit message if it clearly is one.

    A text is one if it starts with Git's author and date, if its subject has a usual type (``fix: …``) or is that of a
    revert or merge, or if it ends with a Git trailer. ``is_message``: it is one in any form. None
    for any other text and for a blank one. Raises nothing.
    """
    lines = _lines(text)
    if logged := next(_logged_commits(lines), None):
        return logged
    lines = _trimmed(lines)
    fields, message = _header_and_message(lines)
    if fields and (is_message or fields.keys() >= _DATED):
        return _commit(fields, message, [], _span(lines))
    if not lines or not (is_message or _is_message([line for line, _ in lines])):
        return None
    return _commit({}, lines, [], _span(lines))


_Lines = list[tuple[str, int]]


def _lines(text: str) -> _Lines:
    lines: _Lines = []
    start = 0
    for raw in lines_of(text):
        lines.append((raw.rstrip("\r\n"), start))
        start += len(raw)
    return lines


def _trimmed(lines: _Lines) -> _Lines:
    """Return the lines without blank ones at either end."""
    filled = [n for n, (line, _) in enumerate(lines) if line.strip()]
    return lines[filled[0] : filled[-1] + 1] if filled else []


def _span(lines: _Lines) -> Span:
    return Span(lines[0][1], lines[-1][1] + len(lines[-1][0]))


def _header_fields(lines: _Lines) -> dict[str, str]:
    """Return the header fields that Git prints above a message, in order. A repeated field keeps its first value."""
    fields: dict[str, str] = {}
    for line, _ in lines:
        if (field := _FIELD.match(line)) is None:
            break
        fields.setdefault(field["name"], field["value"])
    return fields


def _header_and_message(lines: _Lines) -> tuple[dict[str, str], _Lines]:
    """Return the header fields and the message of a commit printed without its hash; no fields without an author."""
    fields = _header_fields(lines)
    if _PERSON.match(fields.get("Author", "").strip()) is None:
        return {}, lines
    message = _trimmed(lines[len(fields) :])
    inside = all(line.startswith("    ") or not line.strip() for line, _ in message)
    return fields, [(line[4:], start + 4) for line, start in message] if inside else message


def _logged_commits(lines: _Lines) -> Iterator[Commit]:
    heads = [
        n
        for n, (line, _) in enumerate(lines)
        if _HEAD.match(line) and any(_FIELD.match(below) for below, _ in lines[n + 1 : n + 3])
    ]
    for n, stop in zip(heads, [*heads[1:], len(lines)], strict=False):
        commit_lines = _trimmed(lines[n:stop])
        fields = _header_fields(commit_lines[1:])
        at = message = 1 + len(fields)
        while message < len(commit_lines) and (
            commit_lines[message][0].startswith("    ") or not commit_lines[message][0].strip()
        ):
            message += 1
        message_lines = _trimmed([(line[4:], start + 4) for line, start in commit_lines[at:message]])
        yield _commit(fields, message_lines, [line for line, _ in commit_lines[message:]], _span(commit_lines))


def _is_message(lines: Sequence[str]) -> bool:
    subject = lines[0]
    conventional = _CONVENTIONAL.match(subject)
    if conventional and conventional["type"].lower() in _TYPES:
        return True
    if _REVERT_SUBJECT.match(subject) or _MERGE_SUBJECT.match(subject):
        return True
    trailer = _TRAILER.match(lines[-1])
    return len(lines) > 2 and bool(trailer and trailer["name"].lower() in _GIT_TRAILERS)


def _commit(fields: dict[str, str], message: _Lines, changes: Sequence[str], span: Span) -> Commit:
    lines = [line[:_MAX_LINE] for line, _ in message]
    subject = lines[0].strip() if lines else ""
    if not changes:
        changes = lines[1:]
    files = _files(changes)
    message_text = "\n".join([subject, *lines[1:]])
    trailers = [match for line in lines[1:] if (match := _TRAILER.match(line))]
    closes = _distinct(issue for match in _CLOSES.finditer(message_text) for issue in _issues(match["issues"]))
    reverts = _distinct(match["sha"].lower() for match in _REVERTS.finditer(message_text))
    hashes = (match[0] for match in _HASH.finditer(message_text))
    return Commit(
        author=_person(fields.get("Author", "")) or _trailer_author(trailers),
        date=_date(fields.get("AuthorDate") or fields.get("Date") or ""),
        subject=subject,
        references=_distinct([*_issues(message_text), *reverts, *hashes]),
        closes=closes,
        reverts=reverts,
        co_authors=tuple(
            person
            for trailer in trailers
            if trailer["name"].lower() == "co-authored-by" and (person := _person(trailer["value"]))
        ),
        files=files,
        non_prose=tuple(_non_prose(message, span)),
    )


def _trailer_author(trailers: Sequence[re.Match[str]]) -> str | None:
    """Return the author of an ``Author:`` trailer with a mail address."""
    named = [trailer["value"].strip() for trailer in trailers if trailer["name"] == "Author"]
    return next((_person(value) for value in named if _PERSON.match(value)), None)


def _non_prose(message: _Lines, span: Span) -> Iterator[Span]:
    """Yield the spans between the message lines that may be prose."""
    reached = span.start
    for line, start in message:
        if line.startswith("diff --git "):
            break
        if not _is_metadata(line):
            yield Span(reached, start)
            reached = start + len(line)
    yield Span(reached, span.end)


def _is_metadata(line: str) -> bool:
    trailer = _TRAILER.match(line[:_MAX_LINE])
    if trailer is not None:
        name = trailer["name"].lower()
        return name in _GIT_TRAILERS or name == "author" or name.endswith("-by")
    return any(form.match(line.strip()[:_MAX_LINE]) for form in (_STAT, _STATUS, _SUMMARY))


def _issues(message_text: str) -> list[str]:
    return [match[0] for match in _REFERENCE.finditer(message_text) if not _NO_ISSUE.fullmatch(match[0])]


def _distinct(values: Sequence[str] | Iterator[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))[:MAX_REFERENCES]


def _person(written: str) -> str | None:
    match = _PERSON.match(written.strip())
    name = match["name"] or match["mail"] if match else written.strip()
    return name or None


def _date(written: str) -> datetime | None:
    for form in (None, *_DATES):
        try:
            text = written.strip()
            date = datetime.strptime(text, form) if form else datetime.fromisoformat(text)
            date.astimezone(UTC)  # raises if UTC cannot represent it
            return date if date.tzinfo else date.replace(tzinfo=UTC)
        except (ValueError, OverflowError):
            continue
    return None


def _files(lines: Sequence[str]) -> tuple[str, ...]:
    """Return the paths of a diff, of a list of names and, if a summary line confirms it, of a diffstat."""
    named = [next(filter(None, match.groups())) for line in lines if (match := _DIFF.match(line[:_MAX_LINE]))]
    listed = [match["file"] for line in lines if (match := _STATUS.match(line[:_MAX_LINE]))]
    stats = []
    if any(_SUMMARY.match(line.strip()) for line in lines):
        stats = [
            _PART_RENAMED.sub(r"\g<to>", match["file"]).replace("//", "/").rpartition(" => ")[2]
            for line in lines
            if (match := _STAT.match(line.strip()[:_MAX_LINE])) and "..." not in match["file"][:4]
        ]
    return tuple(dict.fromkeys([*named, *listed, *stats]))[:MAX_FILES]


_RULE = "rules:commit"
_START = Span(0, 0)


def map_commit(commit: Commit) -> TextExtraction:
    """Return the extraction of a commit; the item is the commit.

    Its authors INITIATED it; files and issues are mentioned; it is RELATED_TO {desc: "fixes"} an issue that it closes,
    and CONTRADICTS a commit that it reverts, if that is an item under its hash.
    """
    extraction = TextExtraction()

    def add(slot: str, name: str, kind: str | None, guess: str) -> str:
        key = f"commit {slot}"
        extraction.entities.append(ExtractedEntity(key, name, Label.ENTITY, kind, guess, _START))
        return key

    for number, author in enumerate((*((commit.author,) if commit.author else ()), *commit.co_authors)):
        author_key = add(f"author {number}", author, None, "person")
        extraction.relations.append(ExtractedRelation(author_key, "INITIATED", ITEM, _RULE))
    for number, file in enumerate(commit.files):
        add(f"file {number}", file, "file", "file")
    for number, reference in enumerate(dict.fromkeys((*commit.references, *commit.closes))):
        if reference not in commit.reverts:
            issue = add(f"issue {number}", reference, "issue", "issue")
            if reference in commit.closes:
                extraction.relations.append(ExtractedRelation(ITEM, "RELATED_TO", issue, _RULE, desc="fixes"))
    extraction.relations += [
        ExtractedRelation(ITEM, "CONTRADICTS", item_key(sha), _RULE, desc="reverts") for sha in commit.reverts
    ]
    return extraction
