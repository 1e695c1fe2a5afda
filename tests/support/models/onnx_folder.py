"""Folders with an ONNX file as they are published: right in outline, without weights."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

MAKER = Path(__file__).resolve().parents[3] / "minilm" / "make_model.py"
INT64 = 7


def write_folder(
    folder: Path,
    *,
    size: int | str = 8,
    inputs: tuple[str, ...] = ("input_ids", "attention_mask"),
    files: dict[str, Any] | None = None,
) -> Path:
    """Write ``model.onnx``, ``tokenizer.json`` and other ``files`` of JSON."""
    graph = runpy.run_path(str(MAKER))["Graph"]()
    folder.mkdir(parents=True, exist_ok=True)
    graph.add("last_hidden_state", "Identity", inputs[0])
    (folder / "model.onnx").write_bytes(graph.model(dict.fromkeys(inputs, INT64), "last_hidden_state", size))
    (folder / "tokenizer.json").write_text("{}", "utf-8")
    for name, content in (files or {}).items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(content), "utf-8")
    return folder
