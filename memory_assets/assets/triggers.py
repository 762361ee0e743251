"""Triggers as an asset: days ahead, by the day on which they were named; part of the distill stage."""

import dagster as dg
import polars as pl

from memory_assets.assets.checks import no_secrets_check, rows_check, schema_check
from memory_assets.assets.glue import materialise_days, table_asset
from memory_assets.runs.pending import trigger_inputs
from memory_assets.stages.distill.dates.triggers import TRIGGERS_VERSION, Clock, find_triggers
from memory_assets.store.store import Store

GROUP = "distill"


@table_asset(
    "triggers", group=GROUP, version=TRIGGERS_VERSION, daily=True, deps=["messages", "observations", "windows", "resources"]
)
def triggers(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]) -> dg.MaterializeResult:
    """Days ahead that the owner named, resolved against the moment and zone of the message, with what to recall then."""
    days = context.partition_keys
    inputs = trigger_inputs(store, days)
    return materialise_days(context, store, "triggers", inputs=inputs.__getitem__, build=lambda day: _find(store, day))


def _find(store: Store, day: str) -> pl.DataFrame:
    settings = store.settings
    messages = store.tables.read("messages", [day])
    resources = store.tables.scan("resources").filter(pl.col("id").is_in(messages["resource_id"].unique().to_list()))
    captured = dict(resources.select("id", "created_at").collect().iter_rows())
    order = None if settings.date_order == "auto" else settings.date_order
    observations = store.tables.read("observations", [day])
    return find_triggers(messages, observations, store.tables.read("windows"), captured, Clock(settings.zone, order))


def _before_the_message(store: Store, parts: list[str] | None) -> pl.DataFrame:
    found = store.tables.read("triggers", parts, columns=["trigger_id", "trigger_on", "said_at"])
    said_on = pl.col("said_at").dt.convert_time_zone(store.settings.timezone).dt.date()
    return found.filter(pl.col("trigger_on") < said_on)


def _without_message(store: Store, parts: list[str] | None) -> pl.DataFrame:
    found = store.tables.read("triggers", parts, columns=["trigger_id", "message_id"])
    return found.join(store.tables.read("messages", parts, columns=["message_id"]), on="message_id", how="anti")


ASSETS = [triggers]
CHECKS = [
    schema_check("triggers"),
    no_secrets_check("triggers"),
    rows_check("triggers", "not_before_the_message", "No day lies before the one on which it was named.", _before_the_message),
    rows_check("triggers", "messages_exist", "The message of every trigger is there.", _without_message),
]
