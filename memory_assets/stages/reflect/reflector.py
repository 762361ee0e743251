"""Condenses facts: those about a project and person into a reflection or distillate, those of a
long session into a short block.

Facts are written whole, grouped by category, each with the ids of its observations. If they exceed
the room, level 1 takes the most important facts; of a day it takes every 🔴. If these are still too
long, level 2 takes only the 🔴 of the day, each cut to its first sentence. If that does not fit
either, or if the lines with their ids are not smaller than the facts, nothing is rewritten: the row
has no text, and its facts stand for themselves. If there is a model's answer, it replaces the
result of these rules. Facts that are left out are listed with the reason.

A session is long if so much of it was observed that a compaction removes what it may still need.
Its block is shown to the session after a compaction. It has one line for each memory, the oldest
first, from the session's own facts: allowed facts, and those held only because a session may not
leave so many. Facts that were replaced or resolved are left out. The short block has the most
important facts that fit; the room of the full block is half of the size that made the session long.
Blocks are always made from observations, never from an earlier block.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import chain
from typing import Any

import polars as pl

from memory_assets.schema import frames as schemas
from memory_assets.schema.records import SpanName
from memory_assets.schema.tables import version_of
from memory_assets.stages.distill.write_gate import NO_SHARE
from memory_assets.stages.reflect.background import Background, Exclusion
from memory_assets.stages.reflect.bullets import (
    Bullet,
    bullet_of,
    heading,
    ids_of,
    in_order,
    render,
)
from memory_assets.stages.reflect.subjects import DAY, TABLE_OF, Span, Subject, merge
from memory_assets.text.words import CHARS_A_TOKEN, count_tokens

REFLECTOR, DISTILLER = version_of("reflections"), version_of("weekly_distillates")
"""Versions of the rules that condense days, and of those that condense weeks and months."""

SESSION_VERSION = version_of("session_reflections")
_OF_CONDENSED = ("level", "reflector", "prompt_hash", "cost_usd", "problem")
_OF_SESSION = "session_id day project person window_count observed_tokens".split()

REFLECTED_SHARE = 0.325
"""Share of the context from which on a session is long, in tokens of observed messages. Of 56 real
sessions 37 reach it. In tokens of observations, a fiftieth of the messages, none would."""

TARGET_SHARE = 0.5
"""Size of the full block, as a share of the tokens that make a session long (DUET: half of the
trigger)."""

MOST_TOKENS = 500
"""Size of the short block. With a briefing of 2,000 tokens these are the 2,500 that Codex takes at
the start of a session.
"""

RESUMED_WITHIN = timedelta(days=30)
"""Age at which harnesses delete transcripts; an older session cannot be resumed."""

_FIRST_SENTENCE = re.compile(r"^.{20,}?[.!?”](?=\s)", re.DOTALL)


def long_sessions(windows: pl.DataFrame, *, context_tokens: int, now: datetime) -> pl.DataFrame:
    """Returns the long sessions that may still go on, with the columns of their last window."""
    observed = windows.filter(pl.col("day").is_not_null(), status="observed")
    sessions = (
        observed.sort("ended_at", "window_id")
        .group_by("session_id")
        .agg(
            pl.col("day", "project", "person", "ended_at").last(),
            days=pl.col("day").unique(),
            window_count=pl.len().cast(pl.Int64),
            observed_tokens=pl.col("chars").sum() // CHARS_A_TOKEN,
        )
    )
    is_long = pl.col("observed_tokens") >= REFLECTED_SHARE * context_tokens
    return sessions.filter(is_long, pl.col("ended_at") >= now - RESUMED_WITHIN).sort("session_id")


def session_target(context_tokens: int) -> int:
    """Returns the budget of a session's full block, in tokens."""
    return int(TARGET_SHARE * REFLECTED_SHARE * context_tokens)


def reflect_on_sessions(
    sessions: pl.DataFrame,
    observations: pl.DataFrame,
    background: Background,
    *,
    context_tokens: int,
) -> pl.DataFrame:
    """Returns the table `session_reflections`; a session without allowed facts has no row."""
    is_surplus = pl.col("gate_reason") == NO_SHARE
    facts = observations.filter(pl.col("kind") == "fact").sort("event_at", "id")
    facts = facts.with_columns(gate=pl.when(is_surplus).then(pl.lit("allow")).otherwise("gate"))
    groups = facts.group_by("session_id", maintain_order=True)
    facts_by_session = {session: group.to_dicts() for (session,), group in groups}
    rows = []
    for session in sessions.iter_rows(named=True):
        session_facts = facts_by_session.get(session["session_id"], [])
        excluded = background.excluded(session_facts)
        included_facts = (row for row in session_facts if row["id"] not in excluded)
        bullets = merge(map(bullet_of, included_facts), background)
        ranked = background.ranked(bullets, session_facts)
        fitting = _fit_session(bullets, ranked, MOST_TOKENS)
        text = _lines(fitting)
        full_text = _lines(_fit_session(bullets, ranked, session_target(context_tokens)))
        if fitting:
            rows.append(
                {
                    **{name: session[name] for name in _OF_SESSION},
                    "fact_count": len(bullets),
                    "told_count": len(fitting),
                    "text": text,
                    "observation_ids": list(chain.from_iterable(b.ids for b in fitting)),
                    "tokens": count_tokens(text),
                    "full_text": full_text,
                    "full_tokens": count_tokens(full_text),
                    "reflector": SESSION_VERSION,
                }
            )
    return schemas.frame_of("session_reflections", rows)


def _lines(bullets: Sequence[Bullet]) -> str:
    return "\n".join(bullet.line for bullet in bullets)


def _fit_session(bullets: Sequence[Bullet], ranked: Sequence[Bullet], tokens: int) -> list[Bullet]:
    """Returns the most important bullets that fit into the tokens, in the order of `bullets`."""
    room = tokens * CHARS_A_TOKEN
    fitting = set[Bullet]()
    for bullet in ranked:
        if bullet.weight <= room:
            fitting.add(bullet)
            room -= bullet.weight
    return [bullet for bullet in bullets if bullet in fitting]


@dataclass(frozen=True)
class Condensed:
    """The condensed facts of a subject, who condensed them, and at which level."""

    bullets: Sequence[Bullet]
    level: int
    reflector: str
    answers: tuple[str, ...] = ()
    """Names of the raw answers of a model."""
    prompt_hash: str | None = None
    cost_usd: float | None = None
    problem: str | None = None
    """Why a model's words are not used."""


def condense_subjects(
    span: Span,
    subjects: Iterable[Subject],
    background: Background,
    by_model: Callable[[Subject], Condensed | None],
) -> pl.DataFrame:
    """Returns the rows of the span's table.

    `by_model` returns the version of a subject that a model wrote, one without lines if all calls
    failed, or None.
    """
    rows = []
    for subject in subjects:
        condensed = by_model(subject) or condense(subject, background)
        if not condensed.bullets:
            by_rules = condense(subject, background)
            condensed = replace(condensed, bullets=by_rules.bullets, reflector=by_rules.reflector)
        rows.append(_row(subject, condensed, background))
    return schemas.frame_of(TABLE_OF[span.name], rows).sort("reflection_id")


def condense(subject: Subject, background: Background) -> Condensed:
    """Returns the subject condensed by the rules."""
    reflector = REFLECTOR if subject.span == DAY else DISTILLER
    bullets = subject.bullets
    room = subject.room
    if room is None or weigh(bullets) <= room:
        return Condensed(bullets, 0, reflector)
    keeps_high = subject.span.keeps_high
    ranked = background.ranked(bullets, subject.facts)
    fitting = in_order(_fit(ranked, room, keeps_high=keeps_high))
    if weigh(fitting) <= room or not keeps_high:
        return Condensed(fitting, 1, reflector)
    important = (bullet for bullet in bullets if bullet.priority == "high")
    cores = [replace(bullet, text=_core(bullet.text)) for bullet in important]
    return Condensed(cores if weigh(cores) <= room else bullets, 2, reflector)


def weigh(bullets: Sequence[Bullet]) -> int:
    """Returns about how many tokens the rendered bullets take."""
    return count_tokens(render(bullets))


def _fit(ranked: Sequence[Bullet], room: int, *, keeps_high: bool) -> list[Bullet]:
    """Returns the most important bullets that fit, at least one; with `keeps_high` every 🔴."""
    free_chars = room * CHARS_A_TOKEN
    fitting: list[Bullet] = []
    for bullet in ranked:
        weight = bullet.weight
        if all(bullet.category != fitting_bullet.category for fitting_bullet in fitting):
            weight += len(heading(bullet.category)) + 1
        is_required = not fitting or (keeps_high and bullet.priority == "high")
        if is_required or weight <= free_chars:
            fitting.append(bullet)
            free_chars -= weight
    return fitting


def _core(text: str) -> str:
    match = _FIRST_SENTENCE.match(text)
    return match[0] if match else text


def _row(subject: Subject, condensed: Condensed, background: Background) -> dict[str, Any]:
    """Returns the row of a subject; every fact that it does not cite is listed with the reason.

    It has no text if the lines are not smaller than the facts.
    """
    text = render(condensed.bullets)
    output_tokens = count_tokens(text)
    cited = dict.fromkeys(ids_of(condensed.bullets))
    reason = "left out" if condensed.prompt_hash else "no room"
    dropped = {
        row["id"]: subject.excluded.get(row["id"])
        or Exclusion(reason, background.memory(row["id"]))
        for row in subject.facts
        if row["id"] not in cited
    }
    tokens = {row["id"]: row["tokens"] for row in subject.facts}
    if output_tokens >= sum(tokens[id] for id in tokens.keys() - subject.excluded.keys()):
        text = ""
        output_tokens = sum(map(tokens.__getitem__, cited))
    return {
        "reflection_id": subject.id,
        "day": subject.first,
        "until_on": subject.span.last_day(subject.first),
        "project": subject.project,
        "person": subject.person,
        "text": text,
        "observation_ids": list(cited),
        "reflection_ids": list(subject.reflection_ids),
        "dropped_ids": list(dropped),
        "dropped_why": [exclusion.reason for exclusion in dropped.values()],
        "dropped_to": [exclusion.kept_as for exclusion in dropped.values()],
        "input_tokens": subject.observed_tokens,
        "fact_tokens": subject.fact_tokens,
        "output_tokens": output_tokens,
        **{name: getattr(condensed, name) for name in _OF_CONDENSED},
        "answers": list(condensed.answers),
    }


def list_dropped(span: SpanName, condensed: pl.DataFrame) -> pl.DataFrame:
    """Returns one row for each fact that the reflections or distillates of the span leave out.

    Rows that an earlier release wrote without reasons are skipped; they will be rebuilt.
    """
    lists = {"dropped_ids": "observation_id", "dropped_why": "reason", "dropped_to": "kept_as"}
    has_reasons = pl.col("dropped_why").is_not_null()
    rows = condensed.filter(has_reasons).explode(*lists, empty_as_null=False).rename(lists)
    columns = schemas.schema_of("dropped_facts").names()
    return rows.with_columns(span=pl.lit(span)).select(columns).sort("observation_id")


def find_unaccounted(
    span: SpanName, read: Iterable[str], condensed: pl.DataFrame, dropped: pl.DataFrame
) -> pl.DataFrame:
    """Returns the observations in `read` that are neither cited nor listed as dropped.

    The columns are `span` and `observation_id`.
    """
    accounted_ids = {*condensed["observation_ids"].explode(), *dropped["observation_id"]}
    ids = sorted({*read} - accounted_ids)
    columns = {"span": [span] * len(ids), "observation_id": ids}
    return pl.DataFrame(columns, dict.fromkeys(columns, pl.String))
