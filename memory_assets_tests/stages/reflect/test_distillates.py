"""Weeks and months are made from their days: the longer ago the shorter, every citation kept, nothing gone without a row."""

from datetime import date, timedelta
from random import Random

import polars as pl

from memory_assets.schema.frames import check
from memory_assets.stages.reflect.background import Background
from memory_assets.stages.reflect.reflector import condense_subjects, find_unaccounted, list_dropped
from memory_assets.stages.reflect.subjects import (
    DAY,
    MONTH,
    TABLE_OF,
    WEEK,
    Span,
    subjects_of_day,
    subjects_of_period,
)
from memory_assets.text.words import count_tokens
from memory_assets_tests.factories import PLAIN, START, frame, row

MONDAY = date(2026, 8, 3)
EVERYWHERE = "That holds on this machine, on the runners and in the images that we build."
NOTHING_KNOWN = Background.of(frame("memories"))


def fact(number: int, text: str, day: date = MONDAY, **changes) -> dict:
    plain = PLAIN | {"project": "tidewatch", "person": "mira", "tokens": count_tokens(text)}
    at = START + (day - START.date()) + timedelta(minutes=number % 600)
    return row(
        "observations",
        id=f"{number:08x}-0000-5000-8000-000000000000",
        text=text,
        day=day,
        event_at=at,
        **plain | changes,
    )


def reflect(observations: pl.DataFrame, background: Background = NOTHING_KNOWN) -> pl.DataFrame:
    days = observations.sort("day").group_by("day", maintain_order=True)
    return pl.concat(
        condense_subjects(DAY, subjects_of_day(day, own, background), background, lambda _: None)
        for (day,), own in days
    )


def distil(
    span: Span, first: date, days: pl.DataFrame, observations: pl.DataFrame, background: Background
) -> pl.DataFrame:
    return condense_subjects(
        span,
        subjects_of_period(span, first, days, observations, background),
        background,
        lambda _: None,
    )


def distil_all(span: Span, observations: pl.DataFrame, days: pl.DataFrame) -> pl.DataFrame:
    """The distillates of every week or month."""
    found = []
    for first in sorted({span.first_day(day) for day in days["day"]}):
        own = pl.col("day").is_between(first, span.last_day(first))
        found.append(distil(span, first, days.filter(own), observations.filter(own), NOTHING_KNOWN))
    return pl.concat(found)


def test_weeks_begin_on_monday_and_months_on_the_first():
    sunday = date(2026, 3, 1)
    assert (WEEK.first_day(sunday), WEEK.last_day(date(2026, 2, 23))) == (date(2026, 2, 23), sunday)
    assert (MONTH.first_day(sunday), MONTH.last_day(sunday)) == (sunday, date(2026, 3, 31))
    assert MONTH.last_day(date(2026, 2, 1)) == date(2026, 2, 28)
    assert (DAY.first_day(sunday), DAY.last_day(sunday)) == (sunday, sunday)


def test_what_two_days_say_is_one_line_in_the_newest_words():
    tuesday = MONDAY + timedelta(days=1)
    first, second = (
        fact(1, f"Use uv, never pip. {EVERYWHERE}", priority="high"),
        fact(2, f"Never pip; use uv. {EVERYWHERE}", tuesday),
    )
    memory = row(
        "memories", id=first["id"], observation_ids=[first["id"], second["id"]], superseded_by=None
    )
    observations, background = (
        frame("observations", first, second),
        Background.of(frame("memories", memory)),
    )
    days = reflect(observations, background)
    (week,) = distil(WEEK, MONDAY, days, observations, background).to_dicts()
    assert week["text"].splitlines()[1:] == [
        f"- 🔴 Never pip; use uv. {EVERYWHERE} [mem_000000010000, mem_000000020000]"
    ]
    assert week["reflection_ids"] == days["reflection_id"].to_list()
    assert (week["day"], week["until_on"]) == (MONDAY, MONDAY + timedelta(days=6))


def test_what_a_later_day_replaced_or_solved_goes_and_says_where():
    thursday = MONDAY + timedelta(days=3)
    problem = fact(1, "The gauge poller crashes with a KeyError in gauges.py.")
    solution = fact(2, "Fixed the KeyError of the gauge poller in gauges.py.", thursday)
    old, new = fact(3, "Redis runs on port 6379."), fact(4, "Redis moved to port 6380.", thursday)
    replaced = row(
        "memories",
        id=old["id"],
        observation_ids=[old["id"]],
        superseded_by=new["id"],
        state="superseded",
    )
    observations = frame("observations", problem, solution, old, new)
    days = reflect(observations)
    assert days["observation_ids"].list.len().sum() == 4
    week = distil(WEEK, MONDAY, days, observations, Background.of(frame("memories", replaced)))
    gone = (
        list_dropped("week", week)
        .filter(pl.col("reason") != "no room")
        .select("observation_id", "reason", "kept_as")
    )
    assert gone.rows() == [
        (problem["id"], "resolved", solution["id"]),
        (old["id"], "replaced", new["id"]),
    ]


def test_a_thousand_observations_over_ninety_days_grow_shorter_with_age_and_none_is_lost():
    random = Random(7)
    words = (
        "cache queue parser worker index ledger token schema window report branch bucket".split()
    )
    rows = [
        fact(
            number,
            f"`{random.choice(words)}.py` number {number} {random.choice(words)}s the {random.choice(words)} "
            f"before the {random.choice(words)} {random.choice(words)}s, since v1.{number}.",
            MONDAY + timedelta(days=number % 90),
            priority=random.choice(["high", "medium", "medium", "medium", "low"]),
            author=random.choice(["owner", "assistant", "assistant"]),
            gate=random.choice(["allow", "allow", "hold"]),
        )
        for number in range(1_000)
    ]
    narratives = [
        fact(
            5_000 + n,
            "They went on with the work of the day before. " * 9,
            MONDAY + timedelta(days=n),
            kind="narrative",
        )
        for n in range(90)
    ]
    observations = frame("observations", *rows, *narratives)
    told = {DAY: reflect(observations)}
    told |= {span: distil_all(span, observations, told[DAY]) for span in (WEEK, MONTH)}

    tokens = [told[span]["output_tokens"].sum() for span in (DAY, WEEK, MONTH)]
    observed = int(observations["tokens"].sum())
    assert tokens == sorted(tokens, reverse=True)
    for span, frame_ in told.items():
        check(TABLE_OF[span.name], frame_)
        assert frame_["output_tokens"].sum() <= span.limit * observed

    facts = {one["id"]: one for one in rows}
    read = {DAY: {id for id, one in facts.items() if one["gate"] == "allow"}}
    read |= {span: set(told[DAY]["observation_ids"].explode()) for span in (WEEK, MONTH)}
    for span, frame_ in told.items():
        assert set(frame_["observation_ids"].explode()) <= facts.keys()
        dropped = list_dropped(span.name, frame_)
        check("dropped_facts", dropped)
        assert find_unaccounted(span.name, read[span], frame_, dropped).is_empty()
        assert dropped["kept_as"].is_in(list(facts)).all()
        a_row_less = dropped.filter(pl.col("reason") == "no room")[1:]
        assert find_unaccounted(span.name, read[span], frame_, a_row_less).height >= 1
