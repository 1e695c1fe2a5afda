"""``vicw bench extract`` judges labelled sentences, and says what is wrong with a set."""

import gzip
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from vicw_bench.extraction.labelled import CausePair, CauseSentence, Fact, FactSentence, joined, token_overlap
from vicw_bench.extraction.measure import measure_causes, measure_facts
from vicw_standalone.cli import app


def cause(text: str, cause: str = "", effect: str = "") -> CauseSentence:
    pairs = (CausePair(cause=cause, effect=effect),) if cause else ()
    return CauseSentence(text=text, causal=bool(pairs), relations=pairs)


def fact(text: str, subject: str, predicate: str) -> FactSentence:
    return FactSentence(text=text, relations=(Fact(subject=subject, predicate=predicate),))


def test_measure_causes_computes_precision_recall_and_direction() -> None:
    scores = measure_causes(
        [
            cause("The build broke because the disk was full .", "the disk was full", "The build broke"),
            cause("Caches were cold because of deploys .", "Caches were cold", "deploys"),  # swapped
            cause("Prices rose . Nobody complained .", "Prices rose", "Nobody complained"),
            cause("Tea is served at five ."),
            cause("He left , so they slept ."),
        ]
    )
    assert (scores.sentences, scores.precision, scores.recall) == (5, 2 / 3, 2 / 3)
    assert (scores.cause, scores.effect, scores.direction) == (0.5, 0.5, 0.5)


def test_measure_facts_computes_found_subject_and_verb_rates() -> None:
    scores = measure_facts(
        [
            fact("Ana rejected the plan .", "Ana", "rejected"),
            fact("Ana wrote a letter .", "A letter", "wrote"),
            fact("The committee slept .", "The committee", "slept"),
            fact("Tea is hot .", "Tea", "is"),
        ]
    )
    assert (scores.found, scores.subject, scores.verb, scores.both) == (0.5, 0.5, 1.0, 0.5)


def test_joined_restores_the_spacing_of_tokenised_text() -> None:
    assert joined("`` It 's ( not ) done , '' he said .") == '"It\'s (not) done," he said.'


def test_token_overlap_counts_the_words_of_both_texts() -> None:
    assert token_overlap("the old cat", "the cat") == pytest.approx(0.8)
    assert token_overlap("a", "b") == 0


def test_bench_extract_measures_a_folder_and_writes_json(tmp_path: Path) -> None:
    (tmp_path / "causes").mkdir()
    line = cause("It broke because it fell .", "it fell", "It broke").model_dump_json()
    (tmp_path / "causes" / "sentences.jsonl.gz").write_bytes(gzip.compress(line.encode()))
    out = tmp_path / "out.json"
    result = CliRunner().invoke(app, ["bench", "extract", "--data", str(tmp_path), "--json", str(out)])
    assert result.exit_code == 0, result.output
    assert "direction" in result.output
    report = json.loads(out.read_text())
    assert report["causes"]["precision"] == report["causes"]["recall"] == 1.0


@pytest.mark.parametrize(
    ("folder", "content", "told"),
    [
        ("other", "", "holds none of the folders causes and spo"),
        ("spo", None, "holds no sentences.jsonl"),
        ("spo", '{"text": "x", "relations": []}\n{"relations": []}', "line 2: text"),
        ("causes", "nonsense", "line 1"),
    ],
)
def test_bench_extract_reports_a_bad_sentence_set(tmp_path: Path, folder: str, content: str | None, told: str) -> None:
    (tmp_path / folder).mkdir()
    if content is not None:
        (tmp_path / folder / "sentences.jsonl").write_text(content)
    result = CliRunner().invoke(app, ["bench", "extract", "--data", str(tmp_path)])
    assert result.exit_code != 0
    assert told in f"{result.output}{result.exception}"
