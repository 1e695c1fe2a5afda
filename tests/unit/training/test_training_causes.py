"""The model of causes learns from labelled sentences what a cue does not say."""

import json
from pathlib import Path

from training.causes import read, train
from vicw_ingest.extraction.rules.causes import CauseFinder
from vicw_shared.language.analysis import Analyst

TOWNS = "Porto Lisbon Turin Lyon Ghent Basel Graz Brno Cork Leeds Malmo Bergen".split()


def labelled(folder: Path) -> Path:
    causal = [
        {
            "text": f"Shops in {town} closed amid floods .",
            "causal": True,
            "relations": [{"cause": "floods", "effect": f"Shops in {town} closed"}],
        }
        for town in TOWNS
    ]
    plain = [{"text": f"Visitors like the old town of {town} .", "causal": False, "relations": []} for town in TOWNS]
    (folder / "sentences.jsonl").write_text("\n".join(json.dumps(line) for line in causal + plain))
    return folder


def test_what_joins_cause_and_effect_is_learnt(tmp_path: Path) -> None:
    examples = read(labelled(tmp_path))
    assert sum(len(example.cuts) for example in examples) == len(TOWNS)
    finder = CauseFinder(train(examples, 0.5))
    texts = ["Shops in Delft closed amid floods.", "Visitors like the old town of Delft."]
    (one,), (other,) = (list(finder.find(found)) for found in Analyst().analyse(texts))
    assert other is None
    assert one is not None
    assert texts[0][one.cause.start : one.cause.end] == "floods"
    assert texts[0][one.effect.start : one.effect.end] == "Shops in Delft closed"
