"""A day's reflection is smaller than what it was made from, cites what it says and lists what it leaves out, with the reason."""

from datetime import date, timedelta

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_assets.stages.reflect.background import Background
from memory_assets.stages.reflect.bullets import render
from memory_assets.stages.reflect.reflector import condense_subjects
from memory_assets.stages.reflect.subjects import DAY as DAY_SPAN
from memory_assets.stages.reflect.subjects import subjects_of_day
from memory_assets.text.words import count_tokens
from memory_assets_tests.factories import START, frame, row

DAY = date(2026, 8, 3)


def observation(number: int, text: str = "Use uv, never pip.", **changes) -> dict:
    fitting = {
        "kind": "fact",
        "gate": "allow",
        "priority": "high",
        "author": "owner",
        "project": "tidewatch",
        "person": "mira",
    }
    fitting |= {
        "tokens": count_tokens(text),
        "event_at": START + timedelta(minutes=number),
        "category": "rules-conventions",
    }
    return row(
        "observations",
        id=f"{number:08x}-0000-5000-8000-000000000000",
        text=text,
        **{**fitting, **changes},
    )


def narrative(number: int, words: int) -> dict:
    return observation(number, "word " * words, kind="narrative")


def memory(*numbers: int, **changes) -> dict:
    """A memory of the observations of these numbers."""
    return row(
        "memories",
        **{
            "id": ids(*numbers)[0],
            "observation_ids": ids(*numbers),
            "superseded_by": None,
            **changes,
        },
    )


def reflect(*observations: dict, memories: tuple[dict, ...] = ()) -> pl.DataFrame:
    background = Background.of(frame("memories", *memories))
    return condense_subjects(
        DAY_SPAN,
        subjects_of_day(DAY, frame("observations", *observations), background),
        background,
        lambda _: None,
    )


def ids(*numbers: int) -> list[str]:
    return [observation(number)["id"] for number in numbers]


def lines_of(*observations: dict, memories: tuple[dict, ...] = ()) -> str:
    background = Background.of(frame("memories", *memories))
    (subject,) = subjects_of_day(DAY, frame("observations", *observations), background)
    return render(subject.bullets)


def test_facts_stand_by_category_the_most_important_first_each_with_its_source():
    facts = (
        observation(1, "Redis runs on port 6380.", category="operations", priority="medium"),
        observation(2, "Deploy with make deploy.", category="operations"),
        observation(3),
    )
    assert lines_of(*facts) == (
        "**operations**\n"
        "- 🔴 Deploy with make deploy. [mem_000000020000]\n"
        "- 🟡 Redis runs on port 6380. [mem_000000010000]\n"
        "**rules-conventions**\n"
        "- 🔴 Use uv, never pip. [mem_000000030000]"
    )
    (found,) = reflect(*facts).to_dicts()
    assert found["observation_ids"] == ids(2, 1, 3)
    assert (found["dropped_ids"], found["level"]) == ([], 0)
    # Lines with their ids would be longer than the facts, which stand for themselves.
    assert (found["text"], found["output_tokens"]) == ("", found["fact_tokens"])
    assert (found["day"], found["until_on"], found["reflection_ids"]) == (DAY, DAY, [])


def test_projects_and_people_are_reflected_on_apart():
    found = reflect(
        observation(1), observation(2, project="harbor"), observation(3, person="priya")
    )
    assert sorted(found.select("project", "person").rows()) == [
        ("harbor", "mira"),
        ("tidewatch", "mira"),
        ("tidewatch", "priya"),
    ]


def test_what_was_said_twice_is_one_bullet_in_its_newest_words():
    twice = (observation(1), observation(2, "Never pip; use uv."))
    assert lines_of(*twice, memories=(memory(1, 2),)).splitlines()[1:] == [
        "- 🔴 Never pip; use uv. [mem_000000010000, mem_000000020000]"
    ]


def dropped(found: dict) -> dict[str, tuple[str, str]]:
    """Why each fact was dropped and what holds it now, by id."""
    return dict(
        zip(
            found["dropped_ids"],
            zip(found["dropped_why"], found["dropped_to"], strict=True),
            strict=True,
        )
    )


def test_what_is_left_out_says_why_and_where_it_is_found():
    problem, solution, small_talk, held, old, gone = ids(1, 2, 3, 4, 5, 6)
    (found,) = reflect(
        observation(
            1,
            "The test suite fails with a timeout in test_alerts.py.",
            category="operations",
            priority="medium",
        ),
        observation(
            2,
            "Root cause of the timeout in test_alerts.py: a new engine for every test.",
            category="operations",
        ),
        observation(3, "The sky is blue.", priority="low", category="projects"),
        observation(4, "Perhaps we move to Postgres.", gate="hold"),
        observation(5, "Redis runs on port 6379."),
        observation(6, "What somebody wanted forgotten."),
        memories=(memory(5, superseded_by="the new port"), memory(6, state="forgotten")),
    ).to_dicts()
    assert found["observation_ids"] == [solution]
    assert dropped(found) == {
        problem: ("resolved", solution),
        small_talk: ("low", small_talk),
        held: ("held", held),
        old: ("replaced", "the new port"),
        gone: ("forgotten", gone),
    }


def test_held_facts_and_narratives_are_read_and_make_no_reflection_by_themselves():
    assert reflect(observation(1, gate="hold"), narrative(2, 50)).is_empty()
    (found,) = reflect(observation(1), observation(2, gate="hold"), narrative(3, 50)).to_dicts()
    assert found["fact_tokens"] == count_tokens("Use uv, never pip.")
    assert found["input_tokens"] == 2 * found["fact_tokens"] + count_tokens("word " * 50)


def plain_facts(count: int, **changes) -> list[dict]:
    """Facts that weigh about as much as their ids: not all of them fit."""
    plain = {"author": "assistant", "priority": "medium", "category": "operations"}
    return [
        observation(n, f"Port {6380 + n} is free.", **{**plain, **changes}) for n in range(count)
    ]


def test_under_pressure_the_owners_words_stay_longest_and_every_high_fact_stays():
    owners = observation(
        998, "Redis may stay on port 6380.", priority="medium", category="operations"
    )
    (found,) = reflect(*plain_facts(300), owners, observation(999)).to_dicts()
    assert found["level"] == 1
    assert found["observation_ids"][-1:] == ids(999)
    assert owners["id"] in found["observation_ids"]
    assert {why for why, _ in dropped(found).values()} == {"no room"}
    assert 0.65 < found["output_tokens"] / found["input_tokens"] <= DAY_SPAN.limit


def test_of_two_equal_facts_the_more_exact_for_its_length_stays():
    vague = [
        observation(
            n, "One of the ports is free, somebody said at some time today.", priority="medium"
        )
        for n in range(60)
    ]
    exact = observation(
        999, "`make deploy` reads PORT=6380 from .env and config/ports.toml.", priority="medium"
    )
    (found,) = reflect(*vague, exact).to_dicts()
    assert found["dropped_ids"] and exact["id"] in found["observation_ids"]


def test_under_the_highest_pressure_high_facts_are_cut_to_their_first_sentence():
    facts = [
        observation(n, f"Redis number {n} runs on a port of its own. " + "And so on. " * 9)
        for n in range(60)
    ]
    (found,) = reflect(*facts).to_dicts()
    assert found["level"] == 2
    assert (
        found["text"].splitlines()[1]
        == "- 🔴 Redis number 0 runs on a port of its own. [mem_000000000000]"
    )
    assert (found["dropped_ids"], found["output_tokens"] < found["fact_tokens"]) == ([], True)


FACTS = st.lists(
    st.builds(
        lambda text, priority, author, category, kind, gate: {
            "text": text,
            "priority": priority,
            "author": author,
            "category": category,
            "kind": kind,
            "gate": gate,
        },
        st.sampled_from(
            [
                "Use uv, never pip.",
                "The build fails.",
                "The build is fixed: a stale lock.",
                "Port 6380.",
                "word " * 60,
            ]
        ),
        st.sampled_from(["high", "medium", "low"]),
        st.sampled_from(["owner", "assistant"]),
        st.sampled_from(["operations", "rules-conventions", "projects"]),
        st.sampled_from(["fact", "fact", "fact", "narrative"]),
        st.sampled_from(["allow", "allow", "hold"]),
    ),
    max_size=60,
)


@settings(max_examples=40)
@given(facts=FACTS, order=st.randoms(use_true_random=False))
def test_every_fact_of_a_reflection_is_cited_or_listed_whatever_the_order_of_the_rows(facts, order):
    rows = [observation(number, **fact) for number, fact in enumerate(facts)]
    found = reflect(*rows)
    accounted = [
        id for one in found.to_dicts() for id in one["observation_ids"] + one["dropped_ids"]
    ]
    told = (
        {fact["id"] for fact in rows if fact["kind"] == "fact"} if not found.is_empty() else set()
    )
    assert sorted(accounted) == sorted(told)
    order.shuffle(rows)
    assert reflect(*rows).equals(found)
