"""Marks of texts: whatever has the text has them, nothing else does, and they survive being stored."""

from __future__ import annotations

import json
import string
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vicw_core.index.full_text import text_words
from vicw_ingest.erasure.fingerprints import MIN_BYTES, WINDOW, FingerprintFinder, Fingerprints, spellings

_KEY = 0x9E3779B97F4A7C15
_SECRET = "Quirin Zeltner keeps the vermilion lockbox under the third stair of the Halde observatory."


def marks(*texts: str, key: int = _KEY) -> Fingerprints:
    made = Fingerprints(key)
    for text in texts:
        made.add_text(text)
    return made


@given(st.text(min_size=MIN_BYTES), st.binary(max_size=300), st.binary(max_size=300))
def test_a_fingerprinted_text_is_found_in_any_spelling_and_position(text: str, before: bytes, after: bytes) -> None:
    made = marks(text)
    written = {one for one in spellings(text) if len(one) >= MIN_BYTES}
    found = {mark for one in written for mark in FingerprintFinder(made).find(before + one + after)}
    assert found == made.marks


@given(st.binary(max_size=2000))
def test_data_without_the_text_has_none_of_its_fingerprints(data: bytes) -> None:
    assert FingerprintFinder(marks(_SECRET, "vermilion box")).find(data) == set()


@pytest.mark.parametrize("length", [MIN_BYTES, 15, 16, 31, WINDOW])
def test_a_short_text_is_found_whole_or_not_at_all(length: int) -> None:
    plain = Fingerprints(_KEY)
    data = string.ascii_letters.encode()
    plain.add_text(string.ascii_letters[:length])
    assert FingerprintFinder(plain).find(data)
    assert FingerprintFinder(plain).find(data[1:]) == set()
    assert FingerprintFinder(plain).find(data[: length - 1]) == set()


@pytest.mark.parametrize("start", range(44))
def test_any_47_bytes_of_a_passage_are_found(start: int) -> None:
    plain = Fingerprints(_KEY)
    plain.add_text(_SECRET)
    assert FingerprintFinder(plain).find(_SECRET.encode()[start : start + WINDOW + 15])


@pytest.mark.parametrize("text", [_SECRET, "Die Häuser der Stadt sind nicht alt", "灯塔的看守人每个星期天写信"])
def test_the_words_of_a_full_text_are_words_of_the_text(text: str) -> None:
    words = text_words(text).encode()
    assert FingerprintFinder(marks(text)).find(b"\0" + words + b"\0")
    assert not FingerprintFinder(marks(text)).find(text_words("Nobody ever wrote anything else about it").encode())


def test_a_uid_is_found_as_text_and_as_bytes() -> None:
    uid = str(uuid.uuid4())
    made = Fingerprints(_KEY)
    made.add_uid(uid)
    finder = FingerprintFinder(made)
    assert finder.find(b"x" + uuid.UUID(uid).bytes + b"y")
    assert finder.find(json.dumps({"uid": uid}).encode())
    assert finder.find(json.dumps({"uid": str(uuid.uuid4())}).encode()) == set()


def test_stored_fingerprints_load_unchanged_without_words_of_the_text() -> None:
    made = marks(_SECRET, "vermilion box")
    told = json.loads(json.dumps(made.dump()))
    assert Fingerprints.load(told) == made
    assert not any(word in json.dumps(told) for word in _SECRET.split() if len(word) > 3)


def test_fingerprints_with_different_keys_are_disjoint() -> None:
    assert marks(_SECRET).marks.isdisjoint(marks(_SECRET, key=_KEY + 2).marks)


def test_a_text_that_is_too_short_has_no_fingerprints() -> None:
    assert marks("Mara", "", "a" * (MIN_BYTES - 1)).marks == set()
