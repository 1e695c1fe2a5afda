"""Map a commit to a TextExtraction: its authors, files, issues and reverts."""

from __future__ import annotations

from vicw_ingest.extraction.code.commits import Commit
from vicw_ingest.extraction.model import ITEM, ExtractedEntity, ExtractedRelation, TextExtraction, item_key
from vicw_shared.language.tokens import Span
from vicw_shared.model import Label

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
