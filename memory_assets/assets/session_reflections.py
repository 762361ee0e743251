"""Session reflection as an asset: what each long session established, for itself alone; the briefing hands it out."""

import dagster as dg
import polars as pl

from memory_assets.assets.checks import no_secrets_check, rows_check, schema_check
from memory_assets.assets.glue import table_asset, write_whole
from memory_assets.stages.reflect.background import Background
from memory_assets.stages.reflect.session import MOST_TOKENS, SESSION_VERSION, long_sessions, reflect_on_sessions
from memory_assets.store.store import Store

GROUP = "reflect"


@table_asset(
    "session_reflections", group=GROUP, version=SESSION_VERSION, daily=False, deps=["windows", "observations", "memories"]
)
def session_reflections(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]) -> dg.MaterializeResult:
    """What a session that outgrew a third of its context established, condensed for its own next start."""
    with store.lock():
        frame = reflect_on_store(store)
        told = {"tokens_most": max(frame["tokens"], default=0), "facts_told": int(frame["told_count"].sum())}
        return write_whole(store, "session_reflections", frame, SESSION_VERSION, **told)


def reflect_on_store(store: Store) -> pl.DataFrame:
    """Returns the table `session_reflections`, from the days on which its sessions were observed."""
    settings, tables = store.settings, store.tables
    sessions = long_sessions(tables.read("windows"), context_tokens=settings.context_tokens, now=settings.clock())
    days = [day.isoformat() for day in sessions["days"].explode().unique().sort()]
    observed = tables.scan("observations", days).filter(pl.col("session_id").is_in(sessions["session_id"].implode()))
    memories = tables.read("memories", columns=["id", "observation_ids", "session_ids", "superseded_by", "state"])
    return reflect_on_sessions(sessions, observed.collect(), Background.of(memories))


def _citing_others(store: Store, parts: list[str] | None) -> pl.DataFrame:
    cited = store.tables.read("session_reflections", columns=["session_id", "observation_ids"]).explode("observation_ids")
    known = store.tables.read("observations", columns=["id", "session_id"])
    return cited.join(known, left_on=["observation_ids", "session_id"], right_on=["id", "session_id"], how="anti")


def _too_long(store: Store, parts: list[str] | None) -> pl.DataFrame:
    return store.tables.read("session_reflections", columns=["session_id", "tokens"]).filter(pl.col("tokens") > MOST_TOKENS)


ASSETS = [session_reflections]
CHECKS = [
    schema_check("session_reflections"),
    no_secrets_check("session_reflections"),
    rows_check(
        "session_reflections", "of_its_own_session", "Every line rests on observations of the session itself.", _citing_others
    ),
    rows_check("session_reflections", "short_enough", f"No block has more than {MOST_TOKENS} tokens.", _too_long),
]
