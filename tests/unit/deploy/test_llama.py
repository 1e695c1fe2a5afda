from __future__ import annotations

import hashlib
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_a_changed_recipe_of_llama_cpp_makes_what_was_built_before_stale() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["uv"]["config-settings-package"]
    recipe = hashlib.sha256((ROOT / "deploy" / "llama-trim.cmake").read_bytes()).hexdigest()
    assert settings["llama-cpp-python"]["cmake.define.VICW_RECIPE"] == recipe[:8]
