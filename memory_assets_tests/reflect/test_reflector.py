"""A day's reflection is smaller than what it was made from, cites what it says and lists what it leaves out."""

from datetime import date, timedelta

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_assets.distill.rows import short_id
from memory_assets.reflect.reflector import SMALL_TOKENS, reflect_day
from memory_assets.tokens import count_tokens
from memory_assets_tests.factories import START, frame, row

DAY = date(2026, 8, 3)


def observation(number: int, text: str = "Use uv, never pip.", **changes) -> dict:
    fitting = {"kind": "fact", "gate": "allow", "priority": "high", "author": "owner", "project": "tidewatch", "person": "mira"}
    fitting |= {"tokens": count_tokens(text), "event_at": START + timedelta(minutes=number), "category": "rules-conventions"}
    return row("observations", id=f"{number:08x}-0000-5000-8000-000000000000", text=text, **{**fitting, **changes})


def narrative(number: int, words: int) -> dict:
    return observation(number, "word " * words, kind="narrative")


def reflect(*observations: dict, memory_of: dict[str, str] | None = None) -> pl.DataFrame:
    return reflect_day(DAY, frame("observations", *observations), memory_of or {})


def ids(*numbers: int) -> list[str]:
    return [observation(number)["id"] for number in numbers]


def test_facts_stand_by_category_the_most_important_first_each_with_its_source():
    (found,) = reflect(
        observation(1, "Redis runs on port 6380.", category="operations", priority="medium"),
        observation(2, "Deploy with make deploy.", category="operations"),
        observation(3),
    ).to_dicts()
    assert found["text"] == (
        "**operations**\n"
        "- 🔴 Deploy with make deploy. [mem_000000020000]\n"
        "- 🟡 Redis runs on port 6380. [mem_000000010000]\n"
        "**rules-conventions**\n"
        "- 🔴 Use uv, never pip. [mem_000000030000]"
    )
    assert found["observation_ids"] == ids(2, 1, 3)
    assert (found["dropped_ids"], found["level"]) == ([], 0)


def test_projects_and_people_are_reflected_on_apart():
    found = reflect(observation(1), observation(2, project="harbor"), observation(3, person="priya"))
    assert sorted(found.select("project", "person").rows()) == [
        ("harbor", "mira"),
        ("tidewatch", "mira"),
        ("tidewatch", "priya"),
    ]


def test_what_was_said_twice_is_one_bullet_in_its_newest_words():
    first, second = ids(1, 2)
    (found,) = reflect(observation(1), observation(2, "Never pip; use uv."), memory_of={first: first, second: first}).to_dicts()
    assert found["text"].splitlines()[1:] == ["- 🔴 Never pip; use uv. [mem_000000010000, mem_000000020000]"]
    assert found["observation_ids"] == [first, second]


def test_small_talk_and_solved_problems_are_left_out_and_listed():
    (found,) = reflect(
        observation(1, "The test suite fails with a timeout in test_alerts.py.", category="operations", priority="medium"),
        observation(2, "Root cause of the timeout in test_alerts.py: a new engine for every test.", category="operations"),
        observation(3, "The sky is blue.", priority="low", category="projects"),
    ).to_dicts()
    assert found["observation_ids"] == ids(2)
    assert found["dropped_ids"] == ids(1, 3)


def test_held_facts_and_days_without_facts_make_no_reflection():
    assert reflect(observation(1, gate="hold"), narrative(2, 50)).is_empty()


def test_under_pressure_the_owners_words_stay_longest_and_every_high_fact_stays():
    """Three hundred short facts weigh more with their ids than without: some have to go."""
    facts = [observation(n, "Port 6380.", author="assistant", priority="medium", category="operations") for n in range(300)]
    owners = observation(998, "Redis may stay on port 6380.", priority="medium", category="operations")
    (found,) = reflect(*facts, owners, observation(999)).to_dicts()
    assert found["level"] == 1
    assert found["observation_ids"][-1:] == ids(999)
    assert owners["id"] in found["observation_ids"]
    assert 0 < len(found["dropped_ids"]) < 300
    assert 0.7 < found["output_tokens"] / found["input_tokens"] <= 0.8


def test_under_the_highest_pressure_high_facts_are_cut_to_their_first_sentence():
    facts = [observation(n, f"Redis number {n} runs on a port of its own. " + "And so on. " * 3) for n in range(60)]
    (found,) = reflect(*facts).to_dicts()
    assert found["level"] == 2
    assert found["text"].splitlines()[1] == "- 🔴 Redis number 0 runs on a port of its own. [mem_000000000000]"
    assert (found["dropped_ids"], found["output_tokens"] < found["input_tokens"]) == ([], True)


def test_a_small_day_passes_through():
    (found,) = reflect(observation(1, "Ok.", priority="medium", author="assistant")).to_dicts()
    assert found["output_tokens"] > found["input_tokens"]
    assert (found["level"], found["observation_ids"], found["dropped_ids"]) == (0, ids(1), [])


def test_where_no_pressure_helps_everything_notable_is_kept():
    facts = [observation(n, f"Port {n}.") for n in range(300)]
    (found,) = reflect(*facts).to_dicts()
    assert found["input_tokens"] > SMALL_TOKENS
    assert (found["level"], found["dropped_ids"]) == (2, [])
    assert len(found["observation_ids"]) == 300


def test_an_id_is_shown_by_its_first_twelve_digits():
    assert short_id("0f3a5c1e-9abc-5000-8000-000000000001") == "mem_0f3a5c1e9abc"


FACTS = st.lists(
    st.builds(
        lambda text, priority, author, category, kind: {
            "text": text,
            "priority": priority,
            "author": author,
            "category": category,
            "kind": kind,
        },
        st.sampled_from(
            ["Use uv, never pip.", "The build fails.", "The build is fixed: a stale lock.", "Port 6380.", "word " * 60]
        ),
        st.sampled_from(["high", "medium", "low"]),
        st.sampled_from(["owner", "assistant"]),
        st.sampled_from(["operations", "rules-conventions", "projects"]),
        st.sampled_from(["fact", "fact", "fact", "narrative"]),
    ),
    max_size=60,
)


@settings(max_examples=40)
@given(facts=FACTS, order=st.randoms(use_true_random=False))
def test_every_allowed_fact_is_cited_or_listed_whatever_the_order_of_the_rows(facts, order):
    rows = [observation(number, **fact) for number, fact in enumerate(facts)]
    found = reflect(*rows)
    accounted = [id for one in found.to_dicts() for id in one["observation_ids"] + one["dropped_ids"]]
    assert sorted(accounted) == sorted(fact["id"] for fact in rows if fact["kind"] == "fact")
    order.shuffle(rows)
    assert reflect(*rows).equals(found)
