"""Causes are read from plain sentences, the right way round, and not from sentences that name none."""

import pytest

from vicw_english.causes import causes_in
from vicw_english.tagging.analysis import Analyst


@pytest.fixture(scope="module")
def analyst() -> Analyst:
    return Analyst()


@pytest.mark.parametrize(
    ("text", "cause", "effect"),
    [
        (
            "The build broke because Ana's migration deleted the users table.",
            "Ana's migration deleted the users table",
            "The build broke",
        ),
        ("Because Mira had betrayed him, he burned the bridge.", "Mira had betrayed him", "he burned the bridge"),
        ("The login page times out due to a missing index.", "a missing index", "The login page times out"),
        ("A race condition in the cache led to stale reads.", "A race condition in the cache", "stale reads"),
        ("We moved to Postgres, so the nightly job failed.", "We moved to Postgres", "the nightly job failed"),
        (
            "Her boat was smashed on the Black Teeth, so she had to swim.",
            "Her boat was smashed on the Black Teeth",
            "she had to swim",
        ),
        ("As a result of the outage, customers lost orders.", "the outage", "customers lost orders"),
        ("The amulet was a fake, which is why the spell failed.", "The amulet was a fake", "the spell failed"),
        ("After the deploy failed, Ben rolled back the release.", "the deploy failed", "Ben rolled back the release"),
        ("The server crashed when the disk was full.", "the disk was full", "The server crashed"),
        ("The root cause of the outage was a full disk.", "a full disk", "the outage"),
    ],
)
def test_causes_and_effects_are_extracted_from_plain_sentences(
    analyst: Analyst, text: str, cause: str, effect: str
) -> None:
    (found,) = causes_in(analyst.analyse([text])[0])
    assert found is not None
    assert text[found.cause.start : found.cause.end] == cause
    assert text[found.effect.start : found.effect.end] == effect
    assert 0.5 < found.certainty <= 1


@pytest.mark.parametrize(
    "text",
    [
        "The meeting is on Tuesday at ten.",
        "I like tea and my sister prefers coffee.",
        "We use Redis for the queue.",
        "So far the tests pass.",
        "It was so cold that day.",
        "She has lived there since 2010.",
        "Ok.",
        "After lunch we went for a walk.",
        "She was there when I arrived.",
    ],
)
def test_plain_sentences_without_a_cause_yield_no_cause(analyst: Analyst, text: str) -> None:
    assert list(causes_in(analyst.analyse([text])[0])) == [None]


@pytest.mark.parametrize(
    "text",
    [
        "The road leads to Rome.",
        "This door leads to the kitchen.",
        "The road that leads to Rome is old.",
        "The corridor leads to the meeting room.",
        "The results in the table are wrong.",
        "Because of is a preposition.",
        'The word "because" appears twice.',
        "He left because.",
        "Just because you can…",
        "Just because you can does not mean you should.",
        "Did it happen because the server was down?",
        "I think so because of you.",
        "The crash was not caused by the deploy.",
        "Smoking does not lead to rain.",
        "It did not fail because of the disk.",
        "It does not fail because the disk is full.",
        "It is not slow because the disk is full.",
        "Since 2019 he is here.",
        "Since Monday the build is red.",
        "He made it clear that he left.",
        "Ana made a cake for Ben.",
    ],
)
def test_cue_words_without_a_causal_meaning_yield_no_cause(analyst: Analyst, text: str) -> None:
    assert list(causes_in(analyst.analyse([text])[0])) == [None]


@pytest.mark.parametrize(
    ("text", "cause", "effect"),
    [
        ("The missing index led to slow queries.", "The missing index", "slow queries"),
        ("Smoking leads to cancer.", "Smoking", "cancer"),
        ("The alert triggered a restart.", "The alert", "a restart"),
        ("The cron job triggers the backup.", "The cron job", "the backup"),
        ("It was because of the cache.", "the cache", "It"),
        ("The outage resulted from a bad deploy.", "a bad deploy", "The outage"),
        ("Thanks to the patch, the server is stable.", "the patch", "the server is stable"),
        ("the server crashed bc the disk was full", "the disk was full", "the server crashed"),
        ("The crash was caused by a null pointer.", "a null pointer", "The crash"),
        ("The pods could not start because the token expired.", "the token expired", "The pods could not start"),
        ("The server does not respond because the disk is full.", "the disk is full", "The server does not respond"),
        ("The app won't start because the port is taken.", "the port is taken", "The app won't start"),
        ("The site is not available because of the outage.", "the outage", "The site is not available"),
        ("Because of the rain we stayed home.", "the rain", "we stayed home"),
        ("Since the key was missing, we broke the door.", "the key was missing", "we broke the door"),
        ("The film is about a storm that led to a shipwreck.", "a storm", "a shipwreck"),
        ("The storm that led to the shipwreck was named Ida.", "The storm", "the shipwreck"),
        (
            "The build did not break because the disk was full; it broke because the cache was stale.",
            "the cache was stale",
            "it broke",
        ),
        ("The trains are late because of the snow; we will walk.", "the snow", "The trains are late"),
    ],
)
def test_a_causal_cue_joins_cause_and_effect_of_its_own_clause(
    analyst: Analyst, text: str, cause: str, effect: str
) -> None:
    (found,) = causes_in(analyst.analyse([text])[0])
    assert found is not None
    assert text[found.cause.start : found.cause.end] == cause
    assert text[found.effect.start : found.effect.end] == effect
    assert found.certainty > 0.5


@pytest.mark.parametrize(
    "text",
    [
        "It did not fail because of the disk, but because of the network.",
        "It does not fail because of the disk but because of the network.",
        "It does not run because of the disk but because of the network.",
    ],
)
def test_a_denied_cause_beside_the_real_one_is_not_extracted(analyst: Analyst, text: str) -> None:
    (found,) = causes_in(analyst.analyse([text])[0])
    assert found is None or "disk" not in text[found.cause.start : found.cause.end]


def test_just_because_after_a_negation_yields_no_cause(analyst: Analyst) -> None:
    (found,) = causes_in(analyst.analyse(["It does not start just because you ask."])[0])
    assert found is None


def test_a_hedged_cause_has_a_certainty_of_one_half(analyst: Analyst) -> None:
    for text in ("It might have been caused by mice.", "Perhaps the leak led to the outage."):
        (found,) = causes_in(analyst.analyse([text])[0])
        assert found is not None
        assert found.certainty == 0.5


def test_a_root_cause_is_linked_to_a_sentence_reporting_a_failure(analyst: Analyst) -> None:
    renamed, named = "Done: ci-04 is now called forge-1.", "The root cause was a missing logrotate config."
    assert list(causes_in(analyst.analyse([f"{renamed} {named}"])[0])) == [None, None]
    text = f"The disk filled up on Friday. {renamed} {named}"
    *_, found = causes_in(analyst.analyse([text])[0])
    assert found is not None
    assert text[found.effect.start : found.effect.end] == "The disk filled up on Friday."


def test_a_because_fragment_explains_the_sentence_before(analyst: Analyst) -> None:
    text = "The build broke. Because the disk was full."
    _, found = causes_in(analyst.analyse([text])[0])
    assert found is not None
    assert text[found.cause.start : found.cause.end] == "the disk was full"
    assert text[found.effect.start : found.effect.end] == "The build broke."
    assert list(causes_in(analyst.analyse(["Because the disk was full."])[0])) == [None]


def test_therefore_takes_the_sentence_before_as_its_cause(analyst: Analyst) -> None:
    text = "The disk was full. Therefore the backup stopped."
    first, second = causes_in(analyst.analyse([text])[0])
    assert first is None
    assert second is not None
    assert text[second.cause.start : second.cause.end] == "The disk was full."
    assert text[second.effect.start : second.effect.end] == "the backup stopped"


def test_a_stated_root_cause_explains_the_sentence_before(analyst: Analyst) -> None:
    text = "Nobody could log in. The root cause was a null pointer in parse_config()."
    _, found = causes_in(analyst.analyse([text])[0])
    assert found is not None
    assert text[found.cause.start : found.cause.end] == "a null pointer in parse_config()"
    assert text[found.effect.start : found.effect.end] == "Nobody could log in."


def test_a_reason_that_names_its_effect_ignores_the_sentence_before(analyst: Analyst) -> None:
    text = "Nobody could log in. The reason I like tea is the taste."
    assert list(causes_in(analyst.analyse([text])[0])) == [None, None]


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("Cache the index in memory\n\nBecause reads were slow.", "reads were slow"),
        ("Cache the index in memory\n\nBecause of the slow reads.", "the slow reads"),
    ],
)
def test_a_because_paragraph_explains_the_paragraph_before(analyst: Analyst, text: str, cause: str) -> None:
    first, found = causes_in(analyst.analyse([text])[0])
    assert first is None
    assert found is not None
    assert text[found.cause.start : found.cause.end] == cause
    assert text[found.effect.start : found.effect.end] == "Cache the index in memory"


def test_a_because_fragment_alone_in_a_text_yields_no_cause(analyst: Analyst) -> None:
    assert list(causes_in(analyst.analyse(["Because reads were slow."])[0])) == [None]


def test_a_leading_because_clause_does_not_explain_the_sentence_before(analyst: Analyst) -> None:
    text = "I know. Because he lied she left him."
    _, found = causes_in(analyst.analyse([text])[0])
    assert found is None or text[found.effect.start : found.effect.end] != "I know."


def test_therefore_at_the_start_of_a_text_has_no_cause(analyst: Analyst) -> None:
    assert list(causes_in(analyst.analyse(["Therefore the backup stopped."])[0])) == [None]


def test_an_empty_text_yields_no_causes() -> None:
    assert list(causes_in([])) == []
