"""How much of the observations is kept: the longer ago, the less.

A reflection covers a day, distillates a week and a month. Each keeps a share of the facts, so that a month is shorter than its
weeks and a week shorter than its days, within a limit against all that was observed, narratives and held facts included.
"""

from dataclasses import dataclass
from datetime import date, timedelta

from memory_assets.schema.records import SpanName

SMALL_TOKENS = 500
"""A day of fewer tokens passes through: its ids alone take as much as could be saved."""


@dataclass(frozen=True)
class Span:
    """A length of time that is condensed as a whole."""

    name: SpanName
    share: float
    """Of the tokens of the allowed facts."""
    limit: float
    """Of the tokens of everything that was observed."""
    keeps_high: bool
    """Whether every 🔴 fact is kept, however little room there is."""

    def share_left(self, observed_tokens: int, fact_tokens: int, *, is_small: bool = False) -> float:
        """Returns the share of the facts that is kept of so many tokens; of few facts only the limit counts."""
        limit = self.limit * observed_tokens / max(fact_tokens, 1)
        return limit if is_small else min(self.share, limit)

    def first_day(self, day: date) -> date:
        """Returns the first day of the span that the day lies in; weeks begin on Monday."""
        if self.name == "day":
            return day
        return day - timedelta(days=day.weekday()) if self.name == "week" else day.replace(day=1)

    def last_day(self, first: date) -> date:
        """Returns the last day of the span that begins on `first`."""
        if self.name == "day":
            return first
        after = first + timedelta(days=7) if self.name == "week" else (first + timedelta(days=31)).replace(day=1)
        return after - timedelta(days=1)


DAY = Span("day", share=0.9, limit=0.7, keeps_high=True)
WEEK = Span("week", share=0.7, limit=0.4, keeps_high=False)
MONTH = Span("month", share=0.5, limit=0.2, keeps_high=False)
"""Facts are kept whole or not at all, since half of one finds nothing: on thirteen labelled sessions these shares kept 0.89,
0.80 and 0.66 of the 🔴 labels, and cutting sentences instead to make room for more of them kept fewer."""
SPANS = (DAY, WEEK, MONTH)
TABLE_OF: dict[SpanName, str] = {"day": "reflections", "week": "weekly_distillates", "month": "monthly_distillates"}
