"""Condenses facts: about projects and people into reflections and distillates, of a long session
into a short block.

The rules keep facts whole, grouped by category, each with the ids it rests on. Where the facts
exceed the room, level 1 keeps the most important ones (of a day every 🔴), and level 2 of a day the
🔴 alone, each cut to its first sentence. A small day is kept whole; where no level is short enough,
every notable fact is kept and a check warns. A model's answer, where there is one, replaces that of
the rules. Facts left out are listed with the reason.

A session is long once so much of it was observed that a compaction removes what it may still need.
Its block, for when it goes on after a compaction, has only the session's own facts: allowed ones,
and those held only because a session may not leave so many. It has all of them where there is room,
else the most important ones; one line for each memory, the oldest first, and none for what was
replaced or resolved since. The full block has half of what made the session long as its room. The
observations do not change, so that the next compaction condenses them again and nothing is
condensed twice.
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
"""Versions of the rules that condense a day, and weeks and months from their days."""

SESSION_VERSION = version_of("session_reflections")
_OF_CONDENSED = ("level", "reflector", "prompt_hash", "cost_usd", "problem")
_OF_SESSION = ("session_id", "day", "project", "person", "window_count", "observed_tokens")

REFLECTED_SHARE = 0.325
"""Of the context, in tokens of observed messages. Observations are a fiftieth of these: in tokens
of observations none of 56 real sessions would reach it; in tokens of messages 37 do."""

TARGET_SHARE = 0.5
"""Of that share, what a session keeps in its full block after a compaction (DUET: half the
trigger).
"""

MOST_TOKENS = 500
"""Of a block. With a briefing of 2,000 tokens it makes the 2,500 that Codex takes at the start of a
session.
"""

RESUMED_WITHIN = timedelta(days=30)
"""Harnesses delete transcripts after that time; such a session cannot be resumed."""

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
    is_own = pl.col("gate_reason") == NO_SHARE
    facts = observations.filter(pl.col("kind") == "fact").sort("event_at", "id")
    facts = facts.with_columns(gate=pl.when(is_own).then(pl.lit("allow")).otherwise("gate"))
    groups = facts.group_by("session_id", maintain_order=True)
    facts_by_session = {session: group.to_dicts() for (session,), group in groups}
    rows = []
    for session in sessions.iter_rows(named=True):
        session_facts = facts_by_session.get(session["session_id"], [])
        excluded = background.excluded(session_facts)
        facts_left = (row for row in session_facts if row["id"] not in excluded)
        bullets = merge(map(bullet_of, facts_left), background)
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
    """Returns the most important bullets that fit, in their order in time."""
    room = tokens * CHARS_A_TOKEN
    fitting = set[Bullet]()
    for bullet in ranked:
        if bullet.weight <= room:
            fitting.add(bullet)
            room -= bullet.weight
    return [bullet for bullet in bullets if bullet in fitting]


@dataclass(frozen=True)
class Condensed:
    """What is written of a subject, by whom, and the level of pressure that it took."""

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
    """Returns the rows of the span's table; `by_model` gives a model's version of a subject, or
    None.
    """
    rows = []
    for subject in subjects:
        condensed = by_model(subject) or condense(subject, background)
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
    """Returns the most important bullets that fit, one at least; with `keeps_high` every 🔴."""
    characters_left = room * CHARS_A_TOKEN
    fitting: list[Bullet] = []
    for bullet in ranked:
        is_first = all(bullet.category != fitting_bullet.category for fitting_bullet in fitting)
        weight = bullet.weight + (len(heading(bullet.category)) + 1 if is_first else 0)
        if weight <= characters_left or not fitting or (keeps_high and bullet.priority == "high"):
            fitting.append(bullet)
            characters_left -= weight
    return fitting


def _core(text: str) -> str:
    match = _FIRST_SENTENCE.match(text)
    return match[0] if match else text


def _row(subject: Subject, condensed: Condensed, background: Background) -> dict[str, Any]:
    """Returns the row, with the reason for every fact that is left out and the memory that has
    it.
    """
    text = render(condensed.bullets)
    cited = dict.fromkeys(ids_of(condensed.bullets))
    reason = "left out" if condensed.prompt_hash else "no room"
    dropped = {
        row["id"]: subject.excluded.get(row["id"])
        or Exclusion(reason, background.memory(row["id"]))
        for row in subject.facts
        if row["id"] not in cited
    }
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
        "output_tokens": count_tokens(text),
        **{name: getattr(condensed, name) for name in _OF_CONDENSED},
        "answers": list(condensed.answers),
    }


def list_dropped(span: SpanName, condensed: pl.DataFrame) -> pl.DataFrame:
    """Returns one row for each fact that the reflections, or the distillates of that span, leave
    out.

    Rows of an earlier release have no reasons; they are rebuilt, and listed then.
    """
    lists = {"dropped_ids": "observation_id", "dropped_why": "reason", "dropped_to": "kept_as"}
    listed = condensed.filter(pl.col("dropped_why").is_not_null())
    rows = listed.explode(*lists, empty_as_null=False).rename(lists)
    columns = schemas.schema_of("dropped_facts").names()
    return rows.with_columns(span=pl.lit(span)).select(columns).sort("observation_id")


def find_unaccounted(
    span: SpanName, read: Iterable[str], condensed: pl.DataFrame, dropped: pl.DataFrame
) -> pl.DataFrame:
    """Returns the observations that were read and are neither cited nor listed as dropped: `span`
    and `observation_id`.
    """
    lost = sorted({*read} - {*condensed["observation_ids"].explode(), *dropped["observation_id"]})
    columns = {"span": [span] * len(lost), "observation_id": lost}
    return pl.DataFrame(columns, dict.fromkeys(columns, pl.String))
