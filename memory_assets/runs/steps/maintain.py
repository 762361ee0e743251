"""Builds what the nightly, weekly and monthly runs find, change and count."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import date

import polars as pl

from memory_assets.runs.freshness import waiting_times
from memory_assets.runs.record import end_night
from memory_assets.runs.results import Markdown, Report, Rows, Run, per_partition
from memory_assets.runs.steps.embed import notes_of
from memory_assets.schema.frames import frame_of, hash_of
from memory_assets.schema.tables import table_names, version_of
from memory_assets.services.health.helping import help_inputs
from memory_assets.services.models.model_budget import priced_answers
from memory_assets.services.review.open_triage import workspace_of
from memory_assets.services.search import corpus, past_memories
from memory_assets.stages.maintain import nightly
from memory_assets.stages.maintain.health_report import (
    FOLDER,
    HealthInputs,
    build_report,
    render_html,
    render_markdown,
)
from memory_assets.stages.maintain.insights import PAGE, find_insights, render_page
from memory_assets.stages.maintain.retire import plan_archive, plan_cold
from memory_assets.store.ledger import ARCHIVED, BOOSTED, RESTORED, Event, Planned
from memory_assets.store.store import Store
from memory_assets.text.files import make_folder, text_of, write_atomically

PAID_STEPS = {
    "observer_answers": "extraction",
    "reflections": "reflection",
    "weekly_distillates": "weeks",
    "monthly_distillates": "months",
    "recalls": "recall",
}
"""By table with a column `cost_usd`, the name of its step in the health report."""
PAID_FOLDERS = {"pairs": "pairs of facts", "triage": "proposals"}
"""By folder of stored answers whose cost no table has, the name of their step."""


@per_partition
def missed(store: Store, day: str) -> Rows:
    """Lists what no run has read yet. Later steps of the same run read it."""
    unread = find_missed(store, day)
    listed = store.tables.read("missed", [day])
    rows = nightly.missed_rows(date.fromisoformat(day), unread, listed, store.settings.clock())
    figures = {f"missed_{kind}s": of_kind.height for kind, of_kind in unread.items()}
    return Rows(rows, figures, version=_version("missed", rows))


def find_missed(store: Store, day: str) -> dict[str, pl.DataFrame]:
    """Returns the sessions, messages and notes of the day that no run has read, by kind.

    Each frame has the columns `id` and `session_id`.
    """
    on = date.fromisoformat(day)
    read = store.tables.read
    windows = read("windows")
    with_messages = read("messages", [day], columns=["window_id"])["window_id"].unique()
    observed = read("segments", [day], columns=["window_id"])["window_id"].unique()
    notes = notes_of(store).filter(pl.col("day") == on)
    embedded = read("embeddings", [day], columns=["text_hash"])
    failed = read("embedding_failures", [day], columns=["text_hash"])
    tried = pl.concat([embedded, failed])
    records = read("records", columns=["resource_id", "message_id", "status"])
    resources = store.archive.resources()
    return {
        "session": nightly.unread_windows(
            windows.filter(pl.col("day") == on), with_messages, observed
        ),
        "message": nightly.messages_without_window(
            records, windows, resources, on, store.settings.zone
        ),
        "note": notes.join(tried, on="text_hash", how="anti").select("id", "session_id"),
    }


def boosts(store: Store, run: Run) -> Report:
    """Boosts the memories of the days' facts, by an event in the ledger."""
    boosted = 0
    for day in run.partitions:
        facts = store.tables.read("observations", [day])
        planned = nightly.plan_boost(date.fromisoformat(day), facts, store.ledger.events([BOOSTED]))
        boosted += _append_moves(store, planned, "nightly")
    return Report({"promoted": boosted})


@per_partition
def nightly_stats(store: Store, day: str) -> Rows:
    """Counts the memories at the end of the day and what the nightly run did."""
    on = date.fromisoformat(day)
    listed = store.tables.read("missed", [day])
    unread = pl.concat([rows.select("id") for rows in find_missed(store, day).values()])
    extracted = listed.join(unread, on="id", how="anti").height
    memories = past_memories.memories_at_end_of(store, on).filter(kind="fact")
    facts = store.tables.read("observations", [day]).filter(kind="fact")
    boosts = store.ledger.events([BOOSTED])
    row = nightly.count_night(
        on, memories, facts, boosts, missed=listed.height, extracted=extracted
    )
    frame = frame_of("nightly_stats", [row])
    mix = dict(zip(row["categories"], row["category_counts"], strict=True))
    version = _version("nightly_stats", frame)
    return Rows(frame, {"category_mix": mix}, version=version, log=[nightly.render_line(row)])


def nightly_report(store: Store, table: str, days: Sequence[str]) -> Report:
    """Notes that the nightly run has ended, and returns the counts of each day, for plots."""
    end_night(store)
    rows = store.tables.read(table, days).drop("categories", "category_counts")
    return Report(by_partition={row.pop("day").isoformat(): row for row in rows.to_dicts()})


def health_report(store: Store, _: Run) -> Report:
    """Writes the report of the month as Markdown, as a page, and its pictures as files."""
    report = build_report(health_inputs(store))
    folder = make_folder(store.workspace / FOLDER)
    page = folder / f"{report.month}.html"
    text = render_markdown(report, report.month)
    with store.lock():
        write_atomically(page, render_html(report).encode())
        write_atomically(folder / f"{report.month}.md", text.encode())
        pictures = make_folder(folder / report.month)
        for section in report.sections:
            for chart in section.charts:
                write_atomically(pictures / f"{chart.name}.svg", chart.svg.encode())
    return Report({"page": page, "report": Markdown(render_markdown(report))})


def health_inputs(store: Store) -> HealthInputs:
    """Returns what the health report is made from."""
    read = store.tables.read
    parts = {name: store.tables.parts(name) for name in table_names()}
    written = {
        name: max(info.written_at for info in of_table.values())
        for name, of_table in parts.items()
        if of_table
    }
    memories = read("memories", columns=["id", "kind", "state", "category", "first_event_at"])
    categories = memories.select("category", subject_id="id")
    return HealthInputs(
        memories=memories.filter(kind="fact"),
        observations=read("observations", columns=["day", "kind", "gate"]),
        sessions=read("sessions", columns=["session_id", "day"]).sort("day"),
        quality=read("quality"),
        recalls=read("recalls", columns=["day", "outcome", "degraded", "seconds"]),
        nights=read("nightly_stats"),
        costs=pl.concat([*_paid_rows(store), _paid_answers(store)]),
        written=written,
        waiting={name: at for name, at in waiting_times(store).items() if name in written},
        now=store.settings.clock(),
        zone=store.settings.zone,
        names=read("verifications").filter(subject="memory").join(categories, on="subject_id"),
        help=help_inputs(store),
    )


def _paid_rows(store: Store) -> Iterator[pl.DataFrame]:
    """Yields day, step and price (`usd`) of each table's rows for which a model was asked."""
    for table, step in PAID_STEPS.items():
        is_asked = pl.col("prompt_hash").is_not_null()
        if table == "recalls":
            is_asked = pl.col("model_calls") > 0
        rows = store.tables.scan(table).filter(is_asked)
        yield rows.select("day", step=pl.lit(step), usd="cost_usd").collect()


def _paid_answers(store: Store) -> pl.DataFrame:
    """Returns the same columns for the answers about pairs of facts and about proposals."""
    rows = [
        (stored.asked_at.astimezone(store.settings.zone).date(), step, usd)
        for folder, step in PAID_FOLDERS.items()
        for stored, usd in priced_answers(store, folder)
    ]
    return pl.DataFrame(rows, {"day": pl.Date, "step": pl.String, "usd": pl.Float64}, orient="row")


def archivals(store: Store, _: Run) -> Report:
    """Archives stale memories that nobody recalls, by an event in the ledger."""
    now = store.settings.clock()
    memories, _states = past_memories.memories_as_of(store, now)
    planned = plan_archive(memories, store.ledger.events([RESTORED]), now)
    return Report({"archived": _append_moves(store, planned, "weekly")})


def cold_storage(store: Store, _: Run) -> Report:
    """Moves archived memories that nobody used for six months into cold storage.

    It appends an event to the ledger, from which the next build of memories makes their state.
    """
    now = store.settings.clock()
    memories, states = past_memories.memories_as_of(store, now)
    since = dict(states.select("memory_id", "since").iter_rows())
    planned = plan_cold(memories, since, store.ledger.events([RESTORED]), now)
    return Report({"moved": _append_moves(store, planned, "monthly")})


def reembedding(store: Store, _: Run) -> Report:
    """Marks days with vectors of another model or version as stale, and both indexes for a rebuild.

    The next run of these days encodes their texts. This run rebuilds the indexes; readers use the
    old ones until the new ones are published.
    """
    embedder = corpus.open_embedder(store.settings.embedding_model)
    is_old = (pl.col("model") != embedder.name) | (pl.col("model_version") != embedder.version)
    marked: set[str] = set()
    with store.lock():
        for name in ("embeddings", "passage_vectors"):
            old_rows = store.tables.scan(name).filter(is_old)
            days = old_rows.select(pl.col("day").unique()).collect()
            for day in map(str, days["day"]):
                store.tables.write(name, day, store.tables.read(name, [day]), inputs="-")
                marked.add(day)
        for index in (corpus.open_vectors(store), corpus.open_texts(store)):
            index.rebuild_next()
    model = {"model": embedder.name, "model_version": embedder.version}
    return Report({"days_to_encode": len(marked), **model})


def _append_moves(store: Store, planned: Iterable[Planned], job: str) -> int:
    """Appends the events, each once, and returns the number of memories that they name."""
    events = store.ledger.append_once(planned, actor=job)
    return sum(len(event.payload["memory_ids"]) for event in events)


@per_partition
def insights(store: Store, _: str) -> Rows:
    """Says one cited sentence about each group of archived memories."""
    archivals = store.ledger.events([ARCHIVED])
    archived_at = {id: event.at for event in archivals for id in event.payload["memory_ids"]}
    written = store.tables.read("insights", columns=["insight_id"])["insight_id"]
    rows = find_insights(
        store.tables.read("memories"), corpus.embeddings_in_use(store), archived_at
    )
    today = store.settings.today()
    archived_today = [event for event in archivals if _day_of(store, event) == today]
    counts = {
        "archived": sum(len(event.payload["memory_ids"]) for event in archived_today),
        "insights": rows.height,
        "new_insights": len(set(rows["insight_id"]).difference(written)),
    }
    line = (
        f"Weekly run of {today}: {len(store.tables.parts('category_summaries')):,} category "
        f"summaries, {counts['archived']:,} memories archived, {counts['insights']:,} insights "
        f"({counts['new_insights']:,} new)"
    )
    return Rows(rows, counts, log=[line])


def write_insights(store: Store, table: str, _: Sequence[str]) -> Report:
    """Writes the page of insights if it changed, and commits it."""
    path = store.workspace / PAGE
    page = render_page(store.tables.read(table))
    with store.lock():
        if page == text_of(path):
            return Report({"page": path} if page else {})
        if page:
            make_folder(path.parent)
            write_atomically(path, page.encode())
        else:
            path.unlink()
        workspace_of(store).commit("Say what archived memories were about", [PAGE])
    return Report({"page": path} if page else {})


def _day_of(store: Store, event: Event) -> date:
    return event.at.astimezone(store.settings.zone).date()


def _version(table: str, rows: pl.DataFrame) -> str:
    return hash_of(version_of(table), *rows.rows())


BUILDERS = (
    missed, boosts, nightly_stats, health_report, archivals, cold_storage, reembedding,
    insights,
)  # fmt: skip
"""The functions that build the tables of their names (`runs.builders`)."""
