"""The file that keeps turns: after any kill it holds what was acknowledged, and it never takes another's place."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from vicw_client import SpoolError
from vicw_client.window.spool import Spool
from vicw_client.window.turns import Turn

WHEN = datetime(2026, 1, 19, 10, tzinfo=UTC)


def turn(number: int, content: str = "said") -> Turn:
    call = {"id": "c", "function": {"name": "f", "arguments": "{}"}}
    return Turn(number, "assistant", f"{content} {number} \x00\ud800 今", WHEN, "Ana", (call,))


def opened(path: Path, context: str = "chat", flow_id: str | None = None) -> Spool:
    return Spool(path, context, flow_id)


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "chat.jsonl"


def test_turns_are_restored_from_the_spool_unchanged(path: Path) -> None:
    with closing(opened(path)) as spool:
        for number in (1, 2, 3):
            spool.add(turn(number))
        spool.note("stored", [1, 2])
        spool.note("left", [1])
        session = spool.session
    with closing(opened(path)) as again:
        assert again.turns == {2: turn(2), 3: turn(3)}
        assert (again.stored, again.next_number, again.session) == ({2}, 4, session)
    assert oct(path.stat().st_mode)[-3:] == "600", "chats are private"


def test_turn_numbers_are_never_reused_after_all_turns_have_left(path: Path) -> None:
    with closing(opened(path)) as spool:
        spool.add(turn(7))
        spool.note("left", [7])
    for _ in range(2):
        with closing(opened(path)) as again:
            assert (again.turns, again.next_number) == ({}, 8)


def test_a_kill_in_the_middle_of_a_line_costs_that_line_alone(path: Path) -> None:
    with closing(opened(path)) as spool:
        spool.add(turn(1))
        whole = path.stat().st_size
        spool.add(turn(2))
    for size in range(whole, path.stat().st_size, 7):
        torn = path.with_name(f"torn{size}.jsonl")
        torn.write_bytes(path.read_bytes()[:size])
        with closing(opened(torn)) as spool:
            assert list(spool.turns) == [1]
            spool.add(turn(2, "again"))
        with closing(opened(torn)) as spool:
            assert spool.turns == {1: turn(1), 2: turn(2, "again")}


@pytest.mark.parametrize("content", ["my diary", "my diary\n", '{"turn": 1}\n', "[]\n", '{"vicw_window": 9}\n'])
def test_a_file_that_is_no_spool_is_left_as_it_is(path: Path, content: str) -> None:
    path.write_text(content)
    with pytest.raises(SpoolError, match="Name another file"):
        opened(path)
    assert path.read_text() == content


def test_a_corrupt_spool_line_is_named(path: Path) -> None:
    with closing(opened(path)) as spool:
        spool.add(turn(1))
    path.write_text(path.read_text() + "spoiled\n" + '{"left": [1]}\n')
    with pytest.raises(SpoolError, match=r"chat\.jsonl:4 is not a line"):
        opened(path)


def test_the_spool_of_another_conversation_is_refused(path: Path) -> None:
    opened(path, flow_id="monday").close()
    with pytest.raises(SpoolError, match="has context 'chat', not 'other'"):
        opened(path, context="other")
    with pytest.raises(SpoolError, match="has flow_id 'monday', not 'tuesday'"):
        opened(path, flow_id="tuesday")
    with closing(opened(path)) as spool:
        assert spool.flow_id == "monday"


def test_a_spool_in_use_is_refused_until_it_is_closed(path: Path) -> None:
    with closing(opened(path)), pytest.raises(SpoolError, match="in use by another window"):
        opened(path)
    opened(path).close()


def test_a_spool_of_obsolete_lines_is_compacted(path: Path) -> None:
    with closing(opened(path)) as spool:
        spool.add(turn(1))
        for number in range(2, 702):  # three lines each
            spool.add(turn(number))
            spool.note("stored", [number])
            spool.note("left", [number])
        assert path.read_bytes().count(b"\n") < 1100
        with pytest.raises(SpoolError, match="in use"):
            opened(path)
    with closing(opened(path)) as spool:
        assert (list(spool.turns), spool.next_number) == ([1], 702)
    assert [found.name for found in path.parent.iterdir()] == ["chat.jsonl"]


def test_a_full_disk_rejects_the_turn_but_not_the_next_one(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write

    def half(file: int, data: bytes) -> int:
        if len(data) < 20:
            raise OSError(28, "No space left on device")
        return write(file, data[: len(data) // 2])

    with closing(opened(path)) as spool:
        spool.add(turn(1))
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", half)
            with pytest.raises(SpoolError, match="No space left on device"):
                spool.add(turn(2, "long " * 100))
            spool.note("stored", [1])
        spool.add(turn(2, "again"))
    with closing(opened(path)) as again:
        assert again.turns == {1: turn(1), 2: turn(2, "again")}


def test_a_turn_whose_fsync_fails_is_not_kept(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(file: int) -> None:
        raise OSError(5, "Input/output error")

    with closing(opened(path)) as spool:
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", broken)
            with pytest.raises(SpoolError, match="Input/output error"):
                spool.add(turn(1, "long " * 100))
        assert spool.turns == {}
        spool.add(turn(1))
    with closing(opened(path)) as again:
        assert again.turns == {1: turn(1)}


def test_a_turn_of_several_lines_keeps_the_indentation_of_its_first() -> None:
    pasted = "\n    if ready:\n        go()\n"
    assert Turn(1, "user", pasted, WHEN).text == "    if ready:\n        go()"
    assert Turn(1, "user", "  go\n", WHEN).text == "go"
