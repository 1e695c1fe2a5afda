"""A week of a conversation between two people: what they say each day, and questions whose evidence is known."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from support.processes.server import eventually

CONTEXT = FLOW = "lantern"
NIGHTS = int(os.environ.get("VICW_TEST_NIGHTS", "1"))
"""Nights, 6 at most, that come by the clock, which takes a minute each. The others are asked for."""
NIGHTLY = {
    "VICW_CONSOLIDATE_SCHEDULE": "* * * * *",
    "VICW_CONSOLIDATE_HOURS": "0",
    "VICW_CONSOLIDATE_USED_HOURS": "0",
    "VICW_CONSOLIDATE_REST_HOURS": "0",
    "VICW_DREAM_SCHEDULE": "* * * * *",
    "VICW_DREAM_HOURS": "0",
}
"""A night a minute, in which all that was told is old, whoever has just asked for it."""
AWAKE = {"VICW_CONSOLIDATE_SCHEDULE": "never", "VICW_DREAM_SCHEDULE": "never"}
_TOLD = Path(__file__).with_name("week.txt")
_LIMIT = 10
_CHAINS = ("NEXT", "HAPPENED_AFTER")
_SHARE = 0.6
"""What is left of the vectors of passages, at most; .55 when this was written."""


def _read() -> list[list[dict[str, Any]]]:
    lines = [line.split(" ", 2) for line in _TOLD.read_text("utf-8").splitlines()]
    days = groupby(lines, key=lambda line: line[0].partition("T")[0])
    return [
        [
            {"id": f"day{day}-{number}", "timestamp": f"{at}:00Z", "speaker": who.rstrip(":"), "text": text}
            for number, (at, who, text) in enumerate(turns, 1)
        ]
        for day, (_, turns) in enumerate(days, 1)
    ]


DAYS = _read()
TEXTS: dict[str, str] = {item["id"]: item["text"] for day in DAYS for item in day}
QUESTIONS: dict[str, set[str]] = {
    "Who kept the keys of the cinema?": {"day1-3"},
    "Why does the big projector not start?": {"day1-6"},
    "What does a new lamp cost?": {"day1-8"},
    "Who painted the poster?": {"day1-11"},
    "What cracked because of the boiler?": {"day2-3"},
    "What did the plumber want for the pipe?": {"day2-9"},
    "Why did the plumber give a discount?": {"day2-10"},
    "When did Mina's mother see Brief Encounter with her father?": {"day3-3"},
    "Who repairs the spring of the gramophone?": {"day3-10"},
    "Why did the lamp not come?": {"day4-1"},
    "How many beans did The Third Man have?": {"day4-6"},
    "Who is the fire inspector?": {"day5-1"},
    "Why may only 72 seats be sold?": {"day5-3"},
    "To what pressure did Paul set the boiler?": {"day5-8"},
    "What was wrong with the second reel?": {"day6-4"},
    "Who fetched the second copy from Scarborough?": {"day6-6"},
    "How much money was taken at the door?": {"day6-12"},
    "How much did we spend this week?": {"day7-2"},
    "What can be seen of the harbour in 1938?": {"day7-7"},
    "Who was called Marigold?": {"day7-8"},
}


@dataclass(frozen=True, slots=True)
class Exported:
    """What is stored, as an export tells it: records by their uid or id, without what dreams have made."""

    nodes: Mapping[str, Mapping[str, Any]]
    edges: Mapping[str, Mapping[str, Any]]
    vectors: Mapping[str, np.ndarray]
    passages: int
    """Passages that have a vector."""

    @classmethod
    def read(cls, folder: Path) -> Exported:
        manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
        nodes = {n["uid"]: n for kind in manifest["collections"] for n in _lines(folder / f"{kind['name']}.jsonl")}
        ids = {file: json.loads(file.read_text("utf-8")) for file in folder.glob("embeddings/*.ids.json")}
        rows = {file: np.load(file.with_name(file.name.replace(".ids.json", ".npy"))) for file in ids}
        return cls(
            {uid: node for uid, node in nodes.items() if node.get("metadata", {}).get("made_by") != "dream"},
            {edge["id"]: _timeless(edge) for edge in _lines(folder / "edges.jsonl") if edge["created_by"] != "dream"},
            {uid: row for file in ids for uid, row in zip(ids[file], rows[file], strict=True)},
            len(ids[folder / "embeddings" / "chunks.ids.json"]),
        )

    def of(self, uids: Sequence[str]) -> dict[str, Any]:
        """Return items with their passages, and all edges of both but those to their neighbours."""
        proofs = [e["target"] for e in self.edges.values() if e["type"] == "EVIDENCED_BY" and e["source"] in uids]
        mine = {*uids, *proofs}
        edges = {
            uid: edge
            for uid, edge in self.edges.items()
            if mine & {edge["source"], edge["target"]}
            and (edge["type"] not in _CHAINS or mine >= {edge["source"], edge["target"]})
        }
        return {uid: self.nodes[uid] for uid in mine} | edges


def _timeless(edge: dict[str, Any]) -> dict[str, Any]:
    """Return an edge without the time at which a chain was laid: it is laid anew where something comes back."""
    return edge | {"created_at": None} if edge["type"] in _CHAINS else edge


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


@dataclass
class WeekScenario:
    """Where the week is spent: who is told and asked there, and the command."""

    ingest: Callable[[], str]
    retrieval: Callable[[], str]
    vicw: Callable[..., subprocess.CompletedProcess[str]]
    folder: Path
    evidence: dict[str, set[str]] = field(default_factory=dict)

    def tell(self, day: int) -> None:
        """Tell what was said on a day, and note what its questions get."""
        body = {"context": CONTEXT, "flow_id": FLOW, "items": DAYS[day - 1], "wait": True}
        answer = httpx.post(f"{self.ingest()}/ingest", json=body, timeout=90, trust_env=False).raise_for_status()
        if answer.status_code == 202:  # whatever else runs
            job = f"{self.ingest()}/ingest/jobs/{answer.json()['job']}"
            eventually(lambda: httpx.get(job, trust_env=False).json()["status"], lambda s: s == "done", 120, "the job")
        for question, evidence in QUESTIONS.items():
            if any(item["id"] in evidence for item in DAYS[day - 1]):
                self.evidence[question] = evidence & self._found(question).keys()
                assert self.evidence[question] == evidence, question

    def require_answers(self) -> None:
        """All questions get the evidence that they got on the day on which it was told, word for word."""
        for question, evidence in self.evidence.items():
            found = self._found(question)
            assert evidence <= found.keys(), question
            assert all(found[one] == TEXTS[one] for one in found), question

    def _found(self, question: str) -> dict[str, str]:
        body = {"query": question, "context": CONTEXT, "limit": _LIMIT}
        answer = httpx.post(f"{self.retrieval()}/retrieve", json=body, timeout=90, trust_env=False)
        results = answer.raise_for_status().json()["results"]
        found = {result["id"]: result["text"] for result in results}
        assert len(found) == len(results), f"{question}: an id twice"
        return found

    def run(self, *arguments: str) -> str:
        """Run the command; it has to end well."""
        done = self.vicw(*arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def steps(self) -> dict[str, dict[str, Any]]:
        """Return what was consolidated and stands, the latest first."""
        steps = [json.loads(line) for line in self.run("sleep", "log", "--json", "--limit", "1000").splitlines()]
        return {one["id"]: one for one in steps if (one["task"], one["outcome"]) == ("consolidate", "done")}

    def export(self, name: str) -> Exported:
        self.run("export", "--to", str(self.folder / name))
        return Exported.read(self.folder / name)

    def require_smaller(self, stored: Exported) -> None:
        """The vectors of passages are fewer than passages: those of summaries are counted in."""
        print(f"\n{stored.passages} vectors of {len(TEXTS)} passages, {stored.passages / len(TEXTS):.2f}")
        assert stored.passages <= _SHARE * len(TEXTS)

    def require_undone(self, before: Exported, since: Sequence[str]) -> None:
        """Take back what was done ``since``, the latest first: first one batch is as it was, and then all."""
        consolidated = self.export("consolidated")
        first, *others = [step for step in self.steps() if step in since]
        items = consolidated.nodes[self.steps()[first]["subject"]]["metadata"]["sources"]
        assert not consolidated.nodes.keys() & set(items)
        assert self.run("sleep", "undo", first) == f"{len(items)} Events restored\n"
        after = self.export("one back")
        assert after.of(items) == before.of(items)
        _require_alike(before, after, [uid for uid in before.of(items) if uid in before.vectors])
        for step in others:
            self.run("sleep", "undo", step)
        after = self.export("all back")
        assert (after.nodes, after.edges) == (before.nodes, before.edges)
        _require_alike(before, after, [*before.vectors])


def _require_alike(before: Exported, after: Exported, uids: Sequence[str]) -> None:
    """What was embedded in other company differs in its last digits."""
    assert [uid for uid in uids if before.vectors[uid] @ after.vectors[uid] < 0.999] == []


_ATOM = re.compile(
    r"^## \[([^]]+)\].*\n\n.*\n\n((?:[^>\n].*\n)+)"  # with words of its own
    r"|^> \[!quote\]- \\\[([^\\]+)\\\].*\n> (.*)",  # below what stands for it
    re.MULTILINE,
)
_SPOKEN = re.compile("(Mina|Paul): .+")


def require_readable(mirror: Path) -> None:
    """Each link leads to a page; all that was told stands there once, in its order, and summaries say who says what."""
    pages = {page.stem: page.read_text("utf-8") for page in mirror.rglob("*.md")}
    links = {link for text in pages.values() for link in re.findall(r"\[\[([^|\]]+)", text)}
    assert links
    assert links <= pages.keys(), links - pages.keys()
    (talk,) = (text for text in pages.values() if "\n## [" in text)
    atoms = [(one[1] or one[3], (one[2] or one[4]).strip()) for one in _ATOM.finditer(talk)]
    assert [atom for atom in atoms if atom[0] in TEXTS] == [*TEXTS.items()]
    summaries = [text for uid, text in atoms if uid not in TEXTS]
    assert summaries, "no Macro-Event"
    assert [line for text in summaries for line in text.split("\n") if _SPOKEN.fullmatch(line) is None] == []
