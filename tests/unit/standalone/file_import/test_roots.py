from __future__ import annotations

from pathlib import Path

import pytest

from vicw_standalone.file_import.roots import ContextTakenError, claim_contexts

HERE, THERE = "http://here", "http://there"


def test_a_second_folder_of_the_same_name_is_refused_per_server(tmp_path: Path) -> None:
    register = tmp_path / "state" / "contexts.json"
    ours, theirs = tmp_path / "ours" / "docs", tmp_path / "theirs" / "docs"
    for folder in (ours, theirs, theirs.parent / "notes"):
        folder.mkdir(parents=True)

    claim_contexts(register, HERE, [ours])
    claim_contexts(register, HERE, [ours])
    claim_contexts(register, THERE, [theirs])
    with pytest.raises(ContextTakenError, match=f"belongs to the folder {ours}"):
        claim_contexts(register, HERE, [theirs.parent / "notes", theirs])
    claim_contexts(register, THERE, [theirs.parent / "notes"])


def test_files_claim_no_context_and_a_torn_register_is_replaced(tmp_path: Path) -> None:
    register = tmp_path / "contexts.json"
    (tmp_path / "a.md").touch()
    claim_contexts(register, HERE, [tmp_path / "a.md"])
    assert not register.exists()
    register.write_text("{")
    claim_contexts(register, HERE, [tmp_path])
    claim_contexts(register, HERE, [tmp_path])
