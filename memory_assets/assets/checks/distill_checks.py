"""Checks of facts: evidence, quotes, verdicts, answers of models."""

from functools import partial

import polars as pl

from memory_assets.assets.checks.capture_checks import closed_windows, messages_of_windows
from memory_assets.assets.checks.common import (
    REGISTERED,
    Days,
    TableCheck,
    check,
    problems,
    unknown,
)
from memory_assets.schema.frames import empty
from memory_assets.services.models.open_models import sendable
from memory_assets.store.settings import NOT_ASKED
from memory_assets.store.store import Store


@check("observer_answers", level="error")
def every_call_was_answered(store: Store, days: Days) -> pl.DataFrame:
    """No call failed, and no answer was cut, refused or unusable; the rules replace missing ones.
    `memory data backfill` asks again.
    """
    rows = store.tables.read("observer_answers", days)
    return rows.filter(pl.col("state") != "answered").select(
        "window_id", "ordinal", "state", "stop_reason", "problem"
    )


@check("observer_answers", level="warn")
def of_the_present_prompt(store: Store, days: Days) -> pl.DataFrame:
    """Every window that may be sent was asked about with the present model and prompt; `memory
    model cost` has the price.
    """
    from memory_assets.services.models.model_questions import asked_about
    from memory_assets.stages.distill.model import questions, short_sessions

    settings = store.settings
    model = settings.model_of("observer")
    if model in NOT_ASKED:
        return empty("observer_answers").select("window_id")
    windows = sendable(asked_about(closed_windows(store, days)), settings)
    prompts = [questions.prompt_hash(settings.observer_prompt), short_sessions.prompt_hash()]
    columns = ["window_id", "model", "prompt_hash"]
    answers = store.tables.read("observer_answers", days, columns=columns)
    present = answers.filter(pl.col("prompt_hash").is_in(prompts), model=model)
    missing = windows.join(present, on="window_id", how="anti")
    return missing.sort("day", "window_id").select("day", "window_id")


@check("segments")
def coverage(store: Store, days: Days) -> pl.DataFrame:
    """Every message of an observed window is in exactly one segment; those of short sessions are in
    one at most.
    """
    wanted = messages_of_windows(store, days, status="observed")
    closed = messages_of_windows(store, days)
    key = ["window_id", "message_id"]
    rows = store.tables.read("segments", days).select("window_id", message_id="message_ids")
    segments = rows.explode("message_id")
    return problems(
        in_no_segment=wanted.join(segments, on=key, how="anti"),
        not_in_the_window=segments.join(closed, on=key, how="anti"),
        in_several_segments=segments.filter(pl.struct(key).is_duplicated()),
    )


@check("observations")
def provenance(store: Store, days: Days) -> pl.DataFrame:
    """The evidence of every observation is among the messages of its window."""
    key = ["window_id", "message_id"]
    observations = store.tables.read("observations", days)
    evidence = observations.select("id", "window_id", message_id="message_ids")
    cited = evidence.explode("message_id").drop_nulls("message_id")
    return cited.join(store.tables.read("messages", days, columns=key), on=key, how="anti")


@check("observations")
def evidence_of_allowed_facts(store: Store, days: Days) -> pl.DataFrame:
    """Every allowed fact names the messages that it rests on; facts without evidence are held."""
    facts = store.tables.read("observations", days).filter(gate="allow")
    return facts.filter(pl.col("message_ids").list.len() == 0).select("id", "day", "category")


@check("observations")
def quotes_stand_in_their_source(store: Store, days: Days) -> pl.DataFrame:
    """The quote of every allowed fact occurs in one of its messages."""
    allowed = store.tables.read("observations", days).filter(gate="allow")
    texts = store.tables.read("messages", days, columns=["message_id", "text"])
    cited = allowed.select("id", "quote", message_id="message_ids").explode("message_id")
    pairs = cited.join(texts, on="message_id", how="left").select("id", "quote", "text")
    quoting = [
        id
        for id, quote, text in pairs.iter_rows()
        if " ".join(quote.split()) in " ".join((text or "").split())
    ]
    return allowed.filter(~pl.col("id").is_in(quoting)).select("id")


@check("observations")
def only_the_owner_makes_rules(store: Store, days: Days) -> pl.DataFrame:
    """Allowed rules and preferences rest on the owner's words."""
    facts = store.tables.read("observations", days).filter(gate="allow", kind="fact")
    rules = facts.filter(pl.col("category").is_in(["preferences", "rules-conventions"]))
    return rules.filter(pl.col("author") != "owner").select("id", "author")


@check("verdicts")
def every_observation_has_its_verdict(store: Store, days: Days) -> pl.DataFrame:
    """Every stored observation has the verdict that the gate gave it."""
    observations = store.tables.read("observations", days, columns=["id", "gate"])
    verdicts = store.tables.read("verdicts", days, columns=["candidate_id", "verdict"])
    return observations.join(
        verdicts.filter(pl.col("verdict") != "discard"),
        left_on=["id", "gate"],
        right_on=["candidate_id", "verdict"],
        how="anti",
    )


@check("triggers")
def not_before_the_message(store: Store, days: Days) -> pl.DataFrame:
    """No trigger is dated before the day of its message."""
    triggers = store.tables.read("triggers", days, columns=["trigger_id", "trigger_on", "said_at"])
    said_on = pl.col("said_at").dt.convert_time_zone(store.settings.timezone).dt.date()
    return triggers.filter(pl.col("trigger_on") < said_on)


def _without_message(table: str, key: str, store: Store, days: Days) -> pl.DataFrame:
    """Returns the rows of the table whose message does not exist."""
    rows = store.tables.read(table, days, columns=[key, "message_id"])
    return unknown(rows, store, "messages", "message_id", days)


for _table, _key in (("triggers", "trigger_id"), ("lessons", "lesson_id")):
    _judge = partial(_without_message, _table, _key)
    REGISTERED.append(TableCheck(_table, "messages_exist", "Every cited message exists.", _judge))
