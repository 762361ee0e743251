"""Checks of facts: evidence, quotes, verdicts, answers of models."""

import dagster as dg
import polars as pl

from memory_assets.assets.checks.common import rows_check
from memory_assets.schema.frames import empty
from memory_assets.store.settings import RULES
from memory_assets.store.store import Store


def _unanswered(store: Store, days: list[str] | None) -> pl.DataFrame:
    rows = store.tables.read("observer_answers", days)
    return rows.filter(pl.col("state") != "answered").select("window_id", "ordinal", "state", "stop_reason")


def _of_another_prompt(store: Store, days: list[str] | None) -> pl.DataFrame:
    """Returns windows that the present model was not asked about with the present prompt."""
    from memory_assets.stages.distill.model.questions import prompt_hash

    if store.settings.model == RULES:
        return empty("observer_answers").select("window_id")
    windows = store.tables.read("windows", columns=["window_id", "day", "status"])
    observed = windows.filter((pl.col("status") == "observed") & pl.col("day").is_not_null())
    if days is not None:
        observed = observed.filter(pl.col("day").cast(pl.String).is_in(days))
    current = (pl.col("model") == store.settings.model) & (pl.col("prompt_hash") == prompt_hash(store.settings.observer_prompt))
    asked = store.tables.read("observer_answers", days, columns=["window_id", "model", "prompt_hash"]).filter(current)
    return observed.join(asked, on="window_id", how="anti").sort("day", "window_id").select("day", "window_id")


def _messages_not_in_one_segment(store: Store, days: list[str] | None) -> pl.DataFrame:
    windows = store.tables.read("windows").filter((pl.col("status") == "observed") & pl.col("day").is_not_null())
    if days is not None:
        windows = windows.filter(pl.col("day").cast(pl.String).is_in(days))
    wanted = windows.select("window_id", pl.col("message_ids").alias("message_id")).explode("message_id")
    found = (
        store.tables.read("segments", days).select("window_id", pl.col("message_ids").alias("message_id")).explode("message_id")
    )
    both = ["window_id", "message_id"]
    return pl.concat(
        [
            wanted.join(found, on=both, how="anti").with_columns(problem=pl.lit("in no segment")),
            found.join(wanted, on=both, how="anti").with_columns(problem=pl.lit("not in the window")),
            found.filter(pl.struct(both).is_duplicated()).with_columns(problem=pl.lit("in several segments")),
        ]
    )


def _untraceable(store: Store, days: list[str] | None) -> pl.DataFrame:
    """Returns observations whose evidence is not among the messages of their window."""
    wanted = (
        store.tables.read("observations", days)
        .select("id", "window_id", pl.col("message_ids").alias("message_id"))
        .explode("message_id")
    )
    return wanted.join(
        store.tables.read("messages", days, columns=["window_id", "message_id"]), on=["window_id", "message_id"], how="anti"
    )


def _unquotable(store: Store, days: list[str] | None) -> pl.DataFrame:
    """Returns allowed facts whose quoted words stand in none of their messages."""
    facts = store.tables.read("observations", days).filter(pl.col("gate") == "allow").select("id", "quote", "message_ids")
    said = store.tables.read("messages", days, columns=["message_id", "text"])
    joined = facts.explode("message_ids").join(said, left_on="message_ids", right_on="message_id", how="left")
    held = [
        " ".join(row["quote"].split()) in " ".join((row["text"] or "").split())
        for row in joined.select("quote", "text").iter_rows(named=True)
    ]
    holding = joined.filter(pl.Series(held, dtype=pl.Boolean))["id"].unique()
    return facts.filter(~pl.col("id").is_in(holding.implode())).select("id")


def _rules_not_by_the_owner(store: Store, days: list[str] | None) -> pl.DataFrame:
    facts = store.tables.read("observations", days).filter((pl.col("gate") == "allow") & (pl.col("kind") == "fact"))
    return facts.filter(pl.col("category").is_in(["preferences", "rules-conventions"]) & (pl.col("author") != "owner")).select(
        "id", "author"
    )


def _without_verdict(store: Store, days: list[str] | None) -> pl.DataFrame:
    kept = store.tables.read("observations", days, columns=["id", "gate"])
    told = store.tables.read("verdicts", days, columns=["candidate_id", "verdict"]).filter(pl.col("verdict") != "discard")
    return kept.join(told, left_on=["id", "gate"], right_on=["candidate_id", "verdict"], how="anti")


def _before_the_message(store: Store, parts: list[str] | None) -> pl.DataFrame:
    found = store.tables.read("triggers", parts, columns=["trigger_id", "trigger_on", "said_at"])
    said_on = pl.col("said_at").dt.convert_time_zone(store.settings.timezone).dt.date()
    return found.filter(pl.col("trigger_on") < said_on)


def _triggers_without_message(store: Store, parts: list[str] | None) -> pl.DataFrame:
    found = store.tables.read("triggers", parts, columns=["trigger_id", "message_id"])
    return found.join(store.tables.read("messages", parts, columns=["message_id"]), on="message_id", how="anti")


def _lessons_without_message(store: Store, parts: list[str] | None) -> pl.DataFrame:
    found = store.tables.read("lessons", parts, columns=["lesson_id", "message_id"])
    return found.join(store.tables.read("messages", parts, columns=["message_id"]), on="message_id", how="anti")


CHECKS = [
    rows_check(
        "observer_answers",
        "every_call_was_answered",
        "No answer was cut, refused or refused to be asked for; the rules stand in for missing ones.",
        _unanswered,
        blocking=False,
        severity=dg.AssetCheckSeverity.WARN,
    ),
    rows_check(
        "observer_answers",
        "of_the_present_prompt",
        "Every window was asked about with the present model and prompt; `memory model cost` says what a backfill would take.",
        _of_another_prompt,
        blocking=False,
        severity=dg.AssetCheckSeverity.WARN,
    ),
    rows_check(
        "segments", "coverage", "Every message of an observed window is in exactly one segment.", _messages_not_in_one_segment
    ),
    rows_check("observations", "provenance", "Every observation rests on messages of its own window.", _untraceable),
    rows_check(
        "observations",
        "quotes_stand_in_their_source",
        "The quoted words stand in the messages they are taken from.",
        _unquotable,
    ),
    rows_check(
        "observations",
        "only_the_owner_makes_rules",
        "Allowed rules and preferences rest on the owner's words.",
        _rules_not_by_the_owner,
    ),
    rows_check(
        "verdicts", "every_observation_has_its_verdict", "What is stored is what the gate let through.", _without_verdict
    ),
    rows_check("triggers", "not_before_the_message", "No day lies before the one on which it was named.", _before_the_message),
    rows_check("triggers", "messages_exist", "The message of every trigger is there.", _triggers_without_message),
    rows_check("lessons", "messages_exist", "The message of every lesson is there.", _lessons_without_message),
]
