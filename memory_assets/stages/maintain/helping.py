"""Counts whether memory helps: rules kept, corrections that return, memories used.

Takes tables; returns figures before and since the first day on which a session knew a rule. Fewer
than five sessions are too few to say anything.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

import polars as pl

from memory_assets.schema.frames import empty
from memory_assets.text.short_ids import short_id
from memory_assets.text.words import counted

FEWEST_SESSIONS = 5
TOO_FEW = "too few to say"
_IS_KNOWN = pl.col("known") != "before"


@dataclass(frozen=True)
class HelpInputs:
    """What the figures are counted from."""

    obedience: pl.DataFrame
    returned: pl.DataFrame
    """Column day: a row for each time that the owner said a rule again in a later session."""
    asked_again: pl.DataFrame
    """Column day: a row for each question that the owner asked in the same words in an earlier
    session.
    """
    shown: pl.DataFrame
    """Columns day, is_used, tokens: a row for each memory that a session was shown; `is_used` is
    null if nobody knows yet.
    """
    failures: pl.DataFrame
    """Columns day, minutes: repeated failures, with the time until they were cured."""
    briefing_tokens: int = 0
    """Tokens of the briefings of the last month."""
    line_count: int = 0
    """Lines of MEMORY.md."""
    used_line_count: int = 0

    @property
    def since(self) -> date | None:
        """The first day on which a session knew a rule."""
        first = self.obedience.filter(_IS_KNOWN)["day"].min()
        return first if isinstance(first, date) else None


NOTHING_JUDGED = HelpInputs(
    empty("obedience"),
    pl.DataFrame(schema={"day": pl.Date}),
    pl.DataFrame(schema={"day": pl.Date}),
    pl.DataFrame(schema={"day": pl.Date, "is_used": pl.Boolean, "tokens": pl.Int64}),
    pl.DataFrame(schema={"day": pl.Date, "minutes": pl.Float64}),
)


def help_line(inputs: HelpInputs, today: date) -> str:
    """Returns one line about the time since a session first knew a rule; empty before."""
    if inputs.since is None:
        return ""
    rules = counted(inputs.obedience.filter(_IS_KNOWN)["rule_id"].n_unique(), "rule")
    share = kept_share(inputs.obedience.filter(_IS_KNOWN))
    count, earlier_count = returned_counts(inputs, today)
    returned = f"{counted(count, 'correction')} returned ({earlier_count:,} in as many days before)"
    return f"since {inputs.since}: {rules}, kept in {share}; {returned}"


def help_sentences(inputs: HelpInputs, today: date) -> list[str]:
    """Returns what the figures say; what too few sessions say is left open."""
    line = help_line(inputs, today)
    if inputs.since is None:
        return ["No session knew a rule yet that tool calls can show."]
    judged = inputs.shown.drop_nulls("is_used")
    used = int(judged["is_used"].sum())
    is_early = pl.col("day") < inputs.since
    early = _mean(inputs.failures.filter(is_early)["minutes"])
    late = _mean(inputs.failures.filter(~is_early)["minutes"])
    return [
        f"{line[:1].upper()}{line[1:]}.",
        f"Before a session knew them, kept in {kept_share(inputs.obedience.filter(~_IS_KNOWN))}.",
        f"Of {judged.height:,} memories shown to sessions {used:,} were used; "
        f"{inputs.shown['tokens'].sum():,} tokens of them were put into contexts, and "
        f"{inputs.briefing_tokens:,} of briefings in the last month.",
        f"Questions asked in the words of an earlier session: {inputs.asked_again.height:,}.",
        f"Lines of MEMORY.md used: {inputs.used_line_count:,} of {inputs.line_count:,}.",
        f"Minutes between a repeated failure and its cure: {early} before, {late} since.",
    ]


def kept_share(rows: pl.DataFrame) -> str:
    """Returns in how many sessions all rules were kept that applied, or that they are too few."""
    sessions = rows.group_by("session_id").agg(is_kept=(pl.col("state") == "kept").all())
    return _share(sessions, " sessions")


def returned_counts(inputs: HelpInputs, today: date) -> tuple[int, int]:
    """Returns the corrections that returned since then, and in as many days before."""
    since = inputs.since or today
    first = since - (today - since) - timedelta(days=1)
    days = inputs.returned["day"]
    return int((days >= since).sum()), int(days.is_between(first, since, closed="left").sum())


def rule_rows(obedience: pl.DataFrame) -> list[Sequence[str]]:
    """Returns a table: sessions in which each rule was kept, before it was known and since, by
    project and harness.
    """
    sessions = obedience.group_by("rule_id", "project", "harness", "session_id").agg(
        is_kept=(pl.col("state") == "kept").all(), is_known=_IS_KNOWN.any()
    )
    groups = sessions.sort("rule_id", "project", "harness").group_by(
        "rule_id", "project", "harness", maintain_order=True
    )
    rows: list[Sequence[str]] = [("rule", "project", "harness", "kept before", "kept since")]
    for (rule_id, project, harness), group in groups:
        parts = [group.filter(is_known=is_known) for is_known in (False, True)]
        shares = (_share(part) if part.height else "–" for part in parts)
        rows.append((short_id(str(rule_id)), str(project), str(harness), *shares))
    return rows


def _share(sessions: pl.DataFrame, unit: str = "") -> str:
    share = f"{sessions['is_kept'].sum():,} of {sessions.height:,}{unit}"
    return share if sessions.height >= FEWEST_SESSIONS else f"{share} ({TOO_FEW})"


def _mean(minutes: pl.Series) -> str:
    mean = minutes.mean()
    is_enough = len(minutes) >= FEWEST_SESSIONS and isinstance(mean, float)
    return f"{mean:.1f}" if is_enough else TOO_FEW
