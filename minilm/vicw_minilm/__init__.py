"""The embedding model all-MiniLM-L6-v2: ``model.onnx`` and ``tokenizer.json`` in ``FOLDER``."""

from pathlib import Path

FOLDER = Path(__file__).parent
