"""What is sent of a folder, and what is retracted: a plan made of what is on the disk and what the server has."""

from __future__ import annotations

import hashlib
import os
import threading
from pathlib import Path

import pytest

from vicw_shared.wire.knowledge import KnownPage
from vicw_standalone.file_import.roots import FolderTakenError, claim_folder
from vicw_standalone.knowledge.folder import PageFile, Snapshot, read_folder
from vicw_standalone.knowledge.service import SyncPlan, plan_of, watch


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def file(path: str, text: str, key: str | None = None) -> PageFile:
    return PageFile(path, text, digest(text), key)


def page(path: str, text: str, item: str | None = None, key: str | None = None) -> KnownPage:
    return KnownPage(id=item or f"f/{path}", uid=path, path=path, title=path, key=key, sha256=digest(text))


def plan(files: list[PageFile], known: list[KnownPage], **snapshot: set[str]) -> SyncPlan:
    return plan_of(Snapshot(pages={file.path: file for file in files}, **snapshot), known, "f")  # type: ignore[arg-type]


def sent(made: SyncPlan) -> list[tuple[str, str]]:
    return [(item, file.path) for item, file in made.send]


def test_unchanged_files_are_not_sent() -> None:
    made = plan([file("a.md", "x"), file("b.md", "new")], [page("a.md", "x"), page("b.md", "old")])
    assert (sent(made), made.same, made.retract) == ([("f/b.md", "b.md")], 1, [])


def test_pages_are_sent_before_code_files() -> None:
    made = plan([file("a.py", "x"), file("z.md", "y")], [])
    assert sent(made) == [("f/z.md", "z.md"), ("f/a.py", "a.py")]


def test_a_file_that_moved_keeps_its_item() -> None:
    made = plan([file("sub/a.md", "x")], [page("a.md", "x")])
    assert (sent(made), made.moved, made.retract) == ([("f/a.md", "sub/a.md")], 1, [])


def test_a_moved_and_changed_file_is_matched_by_its_key() -> None:
    made = plan([file("b.md", "new", "K-1")], [page("a.md", "old", key="K-1"), page("c.md", "c", key="K-2")])
    assert (sent(made), made.retract) == ([("f/a.md", "b.md")], ["f/c.md"])


def test_a_moved_file_with_duplicate_content_is_matched_by_file_name() -> None:
    made = plan([file("new/b.md", "x")], [page("old/a.md", "x"), page("old/b.md", "x")])
    assert (sent(made), made.retract) == ([("f/old/b.md", "new/b.md")], ["f/old/a.md"])


def test_a_new_file_at_a_moved_files_path_gets_another_id() -> None:
    made = plan([file("a.md", "new"), file("b.md", "x")], [page("b.md", "x", item="f/a.md")])
    assert (sent(made), made.same) == ([("f/a.md~2", "a.md")], 1)


def test_items_of_unread_files_are_not_retracted() -> None:
    known = [page("a.md", "x"), page("dir/b.md", "x"), page("dirty.md", "y")]
    assert plan([], known, unread={"a.md", "dir"}).retract == ["f/dirty.md"]


def test_a_second_item_of_the_same_path_is_retracted() -> None:
    known = [page("a.md", "x", item="old"), page("a.md", "x", item="new")]
    made = plan([file("a.md", "x")], known)
    assert (made.same, made.retract) == (1, ["old"])


def test_read_folder_skips_pipes_binaries_and_broken_links(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("---\nid: K\n---\nText")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "bin").write_bytes(b"\x00")
    (tmp_path / "latin.md").write_bytes(b"\xe9")
    (tmp_path / ".hidden.md").write_text("x")
    os.mkfifo(tmp_path / "pipe.md")
    found = read_folder(tmp_path)
    assert {path: file.key for path, file in found.pages.items()} == {"a.md": "K"}
    assert {Path(refused.path).name for refused in found.refused} == {"loop", "latin.md"}
    assert {Path(skipped.path).name for skipped in found.passed_over} == {"bin", "pipe.md"}
    assert found.unread == {"loop", "latin.md"}


def test_a_folder_whose_patterns_cannot_be_told_keeps_its_pages_and_a_bad_pattern_is_noted(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("Text")
    (tmp_path / ".gitignore").write_text("[\n")
    (tmp_path / "b" / ".gitignore").mkdir(parents=True)
    found = read_folder(tmp_path)
    assert (set(found.pages), [note.line for note in found.notes]) == ({"a.md"}, [1])
    assert found.may_be_there("b/c.md")


def test_the_digest_of_a_file_is_that_of_the_text_sent(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("cafe\u0301")
    (read,) = read_folder(tmp_path).pages.values()
    assert read.sha256 == hashlib.sha256(read.item("f", "i").text.encode()).hexdigest()


def test_watch_syncs_after_files_are_at_rest_and_again_after_failure(tmp_path: Path) -> None:
    stop, looks = threading.Event(), [False, True, True]
    calls: list[int] = []

    def changed() -> bool:
        calls.append(len(list(tmp_path.iterdir())))
        if len(calls) == 2:
            (tmp_path / "b.md").write_text("x")
        if len(calls) == 3:
            stop.set()
        return looks[len(calls) - 1]

    (tmp_path / "a.md").write_text("x")
    watching = threading.Thread(target=watch, args=(tmp_path, 0.02, stop, changed))
    watching.start()
    watching.join(20)
    assert calls == [1, 1, 2]


def test_a_folder_name_taken_by_another_folder_is_refused(tmp_path: Path) -> None:
    register, here, there = tmp_path / "r.json", tmp_path / "a" / "notes", tmp_path / "b" / "notes"
    for folder in (here, there):
        folder.mkdir(parents=True)
    claim_folder(register, "store", "notes", here)
    claim_folder(register, "store", "notes", here)
    claim_folder(register, "store", "other", there)
    with pytest.raises(FolderTakenError, match="--folder"):
        claim_folder(register, "store", "notes", there)
