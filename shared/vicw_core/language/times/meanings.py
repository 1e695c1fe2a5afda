"""What each kind of pattern means: from its words to an interval on the clock of a zone."""

from __future__ import annotations

from collections.abc import Callable

from vicw_core.language.times.days import (
    ago_today,
    coming,
    counted,
    date_of,
    date_of_figures,
    date_range,
    duration,
    every_day,
    few_ago,
    iso_date,
    iso_range,
    moment,
    near_day,
    ordinal_day,
    part_of_yesterday,
    rolling_length,
    vague,
    week_of_weekday,
    weekday_of,
    weekdays_ago,
    weeks_ago,
)
from vicw_core.language.times.matched import MatchedWords, Meaning, Question
from vicw_core.language.times.periods import (
    decade_of,
    edge_of,
    feast_of,
    half_of,
    month_of,
    period_of,
    quarter_of,
    season_of,
    week_of,
    weekday_of_month,
    year_month,
    year_of,
)


def meaning(kind: str, words: MatchedWords, asked: Question) -> Meaning | None:
    """Return what a pattern's words mean; None if nothing. Raises ValueError, OverflowError for no such time."""
    return _KINDS[kind](words, asked)


_KINDS: dict[str, Callable[[MatchedWords, Question], Meaning | None]] = {
    "ago": lambda words, asked: counted(words, asked, -1),
    "ahead": lambda words, asked: counted(words, asked, 1),
    "ago_today": ago_today,
    "bare_wd": lambda words, asked: weekday_of(words, asked, "on"),
    "coming": coming,
    "dashed": date_of_figures,
    "date": date_of,
    "date_range": date_range,
    "decade": decade_of,
    "dotted": date_of_figures,
    "dur_ago": lambda words, asked: duration(words, asked, -1),
    "dur_ahead": lambda words, asked: duration(words, asked, 1),
    "earlier": lambda words, asked: Meaning(asked.today, asked.now, "hour"),
    "edge": edge_of,
    "every": every_day,
    "feast": feast_of,
    "few_ago": few_ago,
    "half": half_of,
    "iso": iso_date,
    "iso_range": iso_range,
    "lead_month": month_of,
    "lead_wd": lambda words, asked: weekday_of(words, asked, "on"),
    "lead_year": year_of,
    "moment": moment,
    "month_which": month_of,
    "month_year": month_of,
    "near": near_day,
    "ordinal": ordinal_day,
    "part_of_last": part_of_yesterday,
    "period": period_of,
    "quarter": quarter_of,
    "rolling": lambda words, asked: rolling_length(words, asked, -1),
    "rolling_ahead": lambda words, asked: rolling_length(words, asked, 1),
    "season": season_of,
    "short_dotted": date_of_figures,
    "short_slash": date_of_figures,
    "slash": date_of_figures,
    "vague": vague,
    "wd_ago": weeks_ago,
    "wd_count_ago": weekdays_ago,
    "wd_last": lambda words, asked: weekday_of(words, asked, "last"),
    "wd_next": lambda words, asked: weekday_of(words, asked, "next"),
    "wd_of_month": weekday_of_month,
    "wd_on": lambda words, asked: weekday_of(words, asked, "on"),
    "wd_ordinal": ordinal_day,
    "wd_part": lambda words, asked: weekday_of(words, asked, "on"),
    "wd_this": lambda words, asked: weekday_of(words, asked, "this"),
    "wd_week": week_of_weekday,
    "week_of": week_of,
    "year_month": year_month,
}
