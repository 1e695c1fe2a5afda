"""The dates of WhatsApp exports, as phones of many locales write them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import pytest

from vicw_readers.people.message import Assumed, ChatMessage, Unread
from vicw_readers.people.whatsapp.chat import whatsapp_chat

HALF_PAST_TWO = datetime(2024, 3, 18, 14, 56)

PHONES = {
    "en-US, Android": "3/18/24, 2:56 PM - Ana: ",
    "en-US, iOS": "[3/18/24, 2:56:00\u202fPM] Ana: ",
    "en-GB, Android": "18/03/2024, 14:56 - Ana: ",
    "en-GB, iOS": "[18/03/2024, 14:56:00] Ana: ",
    "en-IN": "18/03/24, 2:56 pm - Ana: ",
    "en-AU": "18/3/24, 2:56 pm - Ana: ",
    "en-CA": "2024-03-18, 2:56 p.m. - Ana: ",
    "en-ZA": "2024/03/18, 14:56 - Ana: ",
    "de-DE": "18.03.24, 14:56 - Ana: ",
    "de-DE, iOS": "[18.03.24, 14:56:00] Ana: ",
    "fr-FR": "18/03/2024, 14:56 - Ana: ",
    "fr-CA": "2024-03-18, 14 h 56 - Ana: ",
    "es-ES": "18/3/24, 14:56 - Ana: ",
    "es-MX": "18/03/24, 2:56 p.\u00a0m. - Ana: ",
    "es-CO, iOS": "[18/03/24, 2:56:00\u202fp.\u00a0m.] Ana: ",
    "pt-BR": "18/03/2024 14:56 - Ana: ",
    "it-IT, iOS": "[18/03/24, 14:56:00] Ana: ",
    "nl-NL": "18-03-2024 14:56 - Ana: ",
    "pl-PL": "18.03.2024, 14:56 - Ana: ",
    "ru-RU": "18.03.2024, 14:56 - Ana: ",
    "uk-UA": "18.03.24, 14:56 - Ana: ",
    "bg-BG": "18.03.24 г., 14:56 - Ana: ",
    "cs-CZ": "18.03.24 14:56 - Ana: ",
    "sk-SK": "18. 3. 2024, 14:56 - Ana: ",
    "hu-HU": "2024. 03. 18. 14:56 - Ana: ",
    "fi-FI": "18.3.2024 klo 14.56 - Ana: ",
    "sv-SE": "2024-03-18 14:56 - Ana: ",
    "da-DK": "18.03.2024 14.56 - Ana: ",
    "tr-TR": "18.03.2024 14:56 - Ana: ",
    "el-GR": "18/3/24, 2:56 μ.μ. - Ana: ",
    "ar-EG": "\u200f١٨\u200f/٣\u200f/٢٠٢٤، ٢:٥٦ م - Ana: ",
    "ar-EG, iOS": "[١٨\u200f/٣\u200f/٢٠٢٤، ٢:٥٦:٠٠\u00a0م] Ana: ",
    "fa-IR": "۲۰۲۴/۳/۱۸، ۱۴:۵۶ - Ana: ",
    "he-IL": "18.3.2024, 14:56 - Ana: ",
    "hi-IN": "18/3/24, 2:56 pm - Ana: ",
    "mr-IN": "१८/३/२४, २:५६ PM - Ana: ",
    "th-TH, Buddhist years": "18/3/2567 14:56 - Ana: ",
    "en-TH, iOS": "[18/3/2567 BE, 14:56:00] Ana: ",
    "vi-VN": "18/03/2024, 14:56 - Ana: ",
    "vi-VN, iOS": "[14:56:00, 18/03/2024] Ana: ",
    "id-ID": "18/03/24 14.56 - Ana: ",
    "ms-MY": "18/03/24, 2:56 PTG - Ana: ",
    "ja-JP": "2024/03/18, 14:56 - Ana: ",
    "ja-JP, 12 hours": "[2024/03/18 午後2:56:00] Ana: ",
    "ja-JP, era": "[R6/3/18, 14:56:00] Ana: ",
    "ko-KR": "2024. 3. 18. 오후 2:56, Ana : ",
    "ko-KR, iOS": "[2024. 3. 18. 오후 2:56:00] Ana: ",
    "zh-CN": "2024/3/18 14:56 - Ana: ",
    "zh-CN, words": "[2024年3月18日 下午2:56:00] Ana: ",
    "zh-TW": "[2024/3/18 下午2:56:00] Ana: ",
    "lt-LT": "2024-03-18, 14:56 - Ana: ",
    "lv-LV": "18.03.24. 14:56 - Ana: ",
}


def read(*lines: str, name: str = "WhatsApp Chat with Ana.txt") -> list[ChatMessage | Unread | Assumed]:
    return list(whatsapp_chat(lambda: [f"{line}\n" for line in lines], name))


def times(records: Sequence[ChatMessage | Unread | Assumed]) -> list[datetime | None]:
    return [one.timestamp for one in records if isinstance(one, ChatMessage)]


@pytest.mark.parametrize("head", PHONES.values(), ids=PHONES)
def test_the_time_of_a_phone_is_read(head: str) -> None:
    records = read(head + "the kettle boils")
    [message] = [one for one in records if isinstance(one, ChatMessage)]
    assert (message.timestamp, message.speaker, message.text) == (HALF_PAST_TWO, "Ana", "the kettle boils")


def test_there_are_phones_of_over_twenty_locales() -> None:
    assert len({name.split(",")[0] for name in PHONES}) > 20


@pytest.mark.parametrize(
    ("written", "hour"),
    [
        ("12:05 am", 0),
        ("12:05 pm", 12),
        ("1:05 pm", 13),
        ("11:05 AM", 11),
        ("上午12:05", 0),
        ("中午12:05", 12),
        ("中午1:05", 13),
    ],
)
def test_halves_of_the_day(written: str, hour: int) -> None:
    [message] = read(f"[13/1/2024, {written}] Ana: hello")
    assert isinstance(message, ChatMessage)
    assert message.timestamp == datetime(2024, 1, 13, hour, 5)


def test_a_day_over_twelve_anywhere_decides_for_all() -> None:
    day_first = read("01/02/2024, 10:00 - Ana: one", "03/02/2024, 10:00 - Bo: two", "13/02/2024, 10:00 - Ana: three")
    assert times(day_first) == [datetime(2024, 2, day, 10) for day in (1, 3, 13)]
    month_first = read("1/2/24, 10:00 AM - Ana: one", "1/13/24, 10:00 AM - Ana: two")
    assert times(month_first) == [datetime(2024, 1, day, 10) for day in (2, 13)]
    assert not any(isinstance(one, Assumed) for one in (*day_first, *month_first))


def test_else_the_order_of_the_messages_decides() -> None:
    # As days first they would go 1 Feb, 2 Jan: backwards.
    assert times(read("02/01/2024, 10:00 - Ana: one", "01/02/2024, 10:00 - Ana: two")) == [
        datetime(2024, 1, 2, 10),
        datetime(2024, 2, 1, 10),
    ]
    assert times(read("01/02/2024, 10:00 - Ana: one", "01/03/2024, 10:00 - Ana: x", "02/01/2024, 10:00 - Ana: y")) == [
        datetime(2024, 1, 2, 10),
        datetime(2024, 1, 3, 10),
        datetime(2024, 2, 1, 10),
    ]


def test_else_the_locale_decides_and_is_named() -> None:
    assumed, message = read("1/2/24, 3:00\u202fPM - Ana: one")
    assert isinstance(assumed, Assumed)
    assert isinstance(message, ChatMessage)
    assert "en-US" in assumed.what
    assert message.timestamp == datetime(2024, 1, 2, 15)


def test_else_the_assumption_is_named() -> None:
    assumed, message = read("1/2/24, 15:00 - Ana: one")
    assert isinstance(assumed, Assumed)
    assert isinstance(message, ChatMessage)
    assert "nothing in the file says which number is the day" in assumed.what
    assert message.timestamp == datetime(2024, 2, 1, 15)


def test_a_date_that_does_not_exist_is_unread_alone() -> None:
    first, broken, last = read(
        "30/01/2024, 10:00 - Ana: one", "31/02/2024, 10:00 - Ana: two", "01/03/2024, 10:00 - Ana: three"
    )
    assert isinstance(first, ChatMessage)
    assert isinstance(last, ChatMessage)
    assert broken == Unread(2, "has no such date: 31/02/2024")


def test_another_calendar_is_unread_with_the_way_out() -> None:
    found = read("1402/12/28, 14:56 - Ana: one")
    assert any(isinstance(one, Unread) and "Gregorian" in one.reason for one in found)
