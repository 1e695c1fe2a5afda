"""How phones write dates, by locale: Unicode CLDR's short patterns, and the words for the halves of a day."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

LOCALES: Mapping[str, tuple[str, str]] = {
    "ar-EG": ("d/M/y", "ص/م"),
    "bg-BG": ("d.MM.yy", ""),
    "bn-BD": ("d/M/yy", "am/pm"),
    "cs-CZ": ("dd.MM.yy", ""),
    "da-DK": ("dd.MM.y", ""),
    "de-CH": ("dd.MM.yy", ""),
    "de-DE": ("dd.MM.yy", ""),
    "el-GR": ("d/M/yy", "π.μ./μ.μ."),
    "en-AU": ("d/M/yy", "am/pm"),
    "en-CA": ("y-MM-dd", "a.m./p.m."),
    "en-GB": ("dd/MM/y", ""),
    "en-IE": ("dd/MM/y", ""),
    "en-IN": ("dd/MM/yy", "am/pm"),
    "en-NZ": ("d/MM/yy", "am/pm"),
    "en-SG": ("d/M/yy", "am/pm"),
    "en-US": ("M/d/yy", "AM/PM"),
    "en-ZA": ("y/MM/dd", ""),
    "es-AR": ("d/M/yy", ""),
    "es-CL": ("dd-MM-yy", ""),
    "es-CO": ("d/MM/yy", "a. m./p. m."),
    "es-ES": ("d/M/yy", ""),
    "es-MX": ("dd/MM/yy", "a.m./p.m."),
    "et-EE": ("dd.MM.yy", ""),
    "fa-IR": ("y/M/d", ""),
    "fi-FI": ("d.M.y", ""),
    "fil-PH": ("M/d/yy", "AM/PM"),
    "fr-CA": ("y-MM-dd", ""),
    "fr-CH": ("dd.MM.yy", ""),
    "fr-FR": ("dd/MM/y", ""),
    "he-IL": ("d.M.y", ""),
    "hi-IN": ("d/M/yy", "am/pm"),
    "hr-HR": ("dd.MM.y", ""),
    "hu-HU": ("y.MM.dd", ""),
    "id-ID": ("dd/MM/yy", ""),
    "it-IT": ("dd/MM/yy", ""),
    "ja-JP": ("y/MM/dd", ""),
    "ko-KR": ("yy.M.d", "오전/오후"),
    "lt-LT": ("y-MM-dd", ""),
    "lv-LV": ("dd.MM.yy", ""),
    "ms-MY": ("d/MM/yy", "PG/PTG"),
    "nb-NO": ("dd.MM.y", ""),
    "nl-BE": ("d/MM/y", ""),
    "nl-NL": ("dd-MM-y", ""),
    "pl-PL": ("d.MM.y", ""),
    "pt-BR": ("dd/MM/y", ""),
    "pt-PT": ("dd/MM/yy", ""),
    "ro-RO": ("dd.MM.y", ""),
    "ru-RU": ("dd.MM.y", ""),
    "sk-SK": ("d.M.y", ""),
    "sl-SI": ("d.MM.yy", ""),
    "sr-RS": ("d.M.yy", ""),
    "sv-SE": ("y-MM-dd", ""),
    "th-TH": ("d/M/yy", ""),
    "tr-TR": ("d.MM.y", ""),
    "uk-UA": ("dd.MM.yy", ""),
    "vi-VN": ("dd/MM/y", ""),
    "zh-CN": ("y/M/d", ""),
    "zh-HK": ("d/M/y", "上午/下午"),
    "zh-TW": ("y/M/d", "上午/下午"),
}
"""Locale to its pattern (fields as in CLDR: two letters are padded with 0, ``yy`` has two digits) and its words for the
halves of a day, "" where it has 24 hours. Spaces between the fields do not count."""


class DayHalf(Enum):
    """The part of a day that a 12-hour clock needs; noon is from 11 to 2."""

    MORNING = "morning"
    AFTERNOON = "afternoon"
    NOON = "noon"


DAY_HALVES: Mapping[str, DayHalf] = {
    **dict.fromkeys(
        (
            *(
                "am",
                "a.m.",
                "a. m.",
                "a.m",
                "in the morning",
                "오전",
                "午前",
                "上午",
                "凌晨",
                "清晨",
                "早上",
                "ص",
                "صباحًا",
            ),
            *(
                "ق.ظ.",
                "قبل‌ازظهر",
                "לפנה״צ",
                'לפנה"צ',
                "AM",
                "SA",
                "π.μ.",
                "πμ",
                "vorm.",
                "fm",
                "f.m.",
                "de.",
                "ÖÖ",
                "PG",
            ),
            *(
                "ap.",
                "dop.",
                "дп",
                "пр.об.",
                "ДП",
                "पूर्वाह्न",
                "सुबह",
                "পূর্বাহ্ণ",
                "முற்பகல்",
                "ก่อนเที่ยง",
                "da manhã",
                "PD",
                "priekšp.",
            ),
        ),
        DayHalf.MORNING,
    ),
    **dict.fromkeys(
        (
            *(
                "pm",
                "p.m.",
                "p. m.",
                "p.m",
                "in the afternoon",
                "in the evening",
                "at night",
                "오후",
                "午後",
                "下午",
                "晚上",
            ),
            *(
                "م",
                "مساءً",
                "ب.ظ.",
                "بعدازظهر",
                "אחה״צ",
                'אחה"צ',
                "PM",
                "CH",
                "μ.μ.",
                "μμ",
                "nachm.",
                "em",
                "e.m.",
                "du.",
                "ÖS",
            ),
            *(
                "PTG",
                "ip.",
                "odp.",
                "пп",
                "сл.об.",
                "ПП",
                "अपराह्न",
                "शाम",
                "অপরাহ্ণ",
                "பிற்பகல்",
                "หลังเที่ยง",
                "da tarde",
                "da noite",
            ),
            *("MD", "pēcp."),
        ),
        DayHalf.AFTERNOON,
    ),
    **dict.fromkeys(("中午", "noon"), DayHalf.NOON),
}
"""Words for the halves of a day, as phones write them. Spaces may be narrow or unbreakable."""


def day_half(word: str) -> DayHalf:
    """Return the half of the day that a word of `DAY_HALVES` means, whatever its case and spaces. Raises KeyError."""
    return _FOLDED[_folded(word)]


def _folded(word: str) -> str:
    return "".join(word.split()).casefold()


_FOLDED = {_folded(word): half for word, half in DAY_HALVES.items()}
