"""Checks of the quality of facts.

Those of single facts are checks of the table `observations`, those of the share of faulty facts are
checks of `quality`. None stops a run, because one faulty fact must not block a month.
"""

from collections.abc import Collection
from typing import Any

import dagster as dg
import polars as pl

from memory_assets.assets.checks.common import Days, check, verdict
from memory_assets.assets.metadata import bars
from memory_assets.runs.steps.quality import values_of
from memory_assets.stages.maintain.fact_quality import (
    ASKED_FOR,
    count_of,
    find_faulty,
    find_junk,
    find_repeated,
    loosely_read,
    share_of,
)
from memory_assets.store.store import Store

MOST_JUNK = 0.4
"""On real sessions a sixth of the rules' candidates are junk. If nearly half are, the observer
proposes everything, and the gate lets more of it through by mistake.
"""

MOST_REPEATED = 0.02
"""The facts of one window are deduplicated. Repeats come from windows that overlap, or from answers
that repeat themselves.
"""

MOST_LOOSE = 0.05
"""If one answer in twenty has another form than the prompt asks for, the prompt no longer fits the
model.
"""

MOST_ADRIFT = 0.1
"""Of 247 facts that people wrote, none begins with `it` or `this` or as a turn of a conversation.
If one in ten does, readers stop trusting that a line can be read alone.
"""

ADRIFT = ("dangling", "conversational")
"""Faults of facts that cannot be understood alone."""


def find_allowed_with(faults: Collection[str], store: Store, days: Days) -> pl.DataFrame:
    """Returns the allowed facts of the days that have one of the faults."""
    allowed = store.tables.scan("observations", days).filter(gate="allow").collect()
    columns = ["message_id", "text", "author"]
    faulty = find_faulty(allowed, store.tables.read("messages", days, columns=columns))
    return faulty.filter(pl.col("fault").is_in(faults)).select("id", "day", "fault")


@check("observations", level="error")
def allowed_facts_are_grounded(store: Store, days: Days) -> pl.DataFrame:
    """At least half of an allowed fact's content words occur in its messages."""
    return find_allowed_with(("ungrounded",), store, days)


@check("observations", level="error")
def no_invented_clock_times(store: Store, days: Days) -> pl.DataFrame:
    """No allowed fact has a clock time that its source does not."""
    return find_allowed_with(("invented_time",), store, days)


@check("observations", level="warn")
def the_owner_is_heard(store: Store, days: Days) -> pl.DataFrame:
    """Allowed facts in the owner's name rest on a turn of the owner."""
    return find_allowed_with(("owner_unheard",), store, days)


@check("observations", level="warn")
def state_changes_name_what_they_replace(store: Store, days: Days) -> pl.DataFrame:
    """An allowed fact that says that something changed also says what it was before ("moved from A
    to B").
    """
    return find_allowed_with(("unnamed_change",), store, days)


@check("observations", level="warn")
def no_copied_tool_output(store: Store, days: Days) -> pl.DataFrame:
    """No allowed fact is a passage of tool output, of a file or of a page, word for word."""
    return find_allowed_with(("copied_output",), store, days)


@check("observations", level="warn")
def questions_outrank_no_statement(store: Store, days: Days) -> pl.DataFrame:
    """No allowed 🔴 fact rests on a question alone: statements outrank questions."""
    return find_allowed_with(("asked_only",), store, days)


@check("observations", level="warn")
def facts_are_whole_sentences(store: Store, days: Days) -> pl.DataFrame:
    """No allowed fact is joined from list items with stray commas and colons, or cut at its
    subject.
    """
    return find_allowed_with(("broken",), store, days)


def _judge(
    share: float | None, most: float, broken: pl.DataFrame, **figures: Any
) -> dg.AssetCheckResult:
    """Returns whether the share is at most the limit, with the offending rows.

    A share of no rows (None) passes.
    """
    measured = {} if share is None else {"share": round(share, 4)}
    return verdict(share is None or share <= most, broken, limit=most, **measured, **figures)


@check("quality", level="warn")
def few_candidates_are_junk(store: Store, days: Days) -> dg.AssetCheckResult:
    """At most {MOST_JUNK:.0%} of the candidates are junk.

    Warns where the observer proposes too much that the gate stops.
    """
    rows = store.tables.read("quality", days)
    junk = find_junk(store.tables.read("verdicts", days))
    share = share_of(rows, "junk", "candidates")
    return _judge(share, MOST_JUNK, junk, junk=count_of(rows, "junk"))


@check("quality", level="warn")
def few_facts_are_repeats(store: Store, days: Days) -> dg.AssetCheckResult:
    """At most {MOST_REPEATED:.0%} of the allowed facts repeat an earlier one of their day and
    scope.

    Warns where the same is allowed again and again, and names the pairs.
    """
    share = share_of(store.tables.read("quality", days), "repeated", "allow")
    repeated = find_repeated(store.tables.read("observations", days)).filter(gate="allow")
    return _judge(share, MOST_REPEATED, repeated.select("id", "day", "same_as"))


@check("quality", level="warn")
def answers_are_read_as_asked(store: Store, days: Days) -> dg.AssetCheckResult:
    """At most {MOST_LOOSE:.0%} of the candidates come from answers in another form than the prompt
    asks for.

    Warns where a model's answers had to be parsed by a fallback.
    """
    rows = store.tables.read("quality", days)
    verdicts = store.tables.read("verdicts", days, columns=["candidate_id", "day", "parse_path"])
    loose = verdicts.filter(~pl.col("parse_path").is_in(list(ASKED_FOR)))
    return _judge(loosely_read(rows), MOST_LOOSE, loose, paths=bars(values_of(rows, "parse_path")))


@check("quality", level="warn")
def allowed_facts_stand_alone(store: Store, days: Days) -> dg.AssetCheckResult:
    """At most {MOST_ADRIFT:.0%} of allowed facts refer to earlier text or begin as a turn of a
    conversation.

    Warns where facts cannot be understood without their session, and names them.
    """
    adrift = find_allowed_with(ADRIFT, store, days)
    # Each allowed fact is counted once by its priority.
    allowed = count_of(store.tables.read("quality", days), "priority")
    share = adrift["id"].n_unique() / allowed if allowed else None
    return _judge(share, MOST_ADRIFT, adrift)
