from __future__ import annotations

import hashlib
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_llama_cpp_build_settings_contain_the_digest_of_the_recipe() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["uv"]["config-settings-package"]
    recipe = hashlib.sha256((ROOT / "deploy" / "llama-trim.cmake").read_bytes()).hexdigest()
    assert settings["llama-cpp-python"]["cmake.define.VICW_RECIPE"] == recipe[:8]
