"""Category summaries: active facts as they were said, the strongest distinct ones, within bounds, each cited."""

from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from memory_assets.schema.frames import checks_of
from memory_assets.stages.recall.summaries import (
    MOST_FACTS,
    MOST_TOKENS,
    pages_to_delete,
    render_page,
    replaced_page_of,
    summarise,
)
from memory_assets_tests.factories import START, fact, frame


def test_the_strongest_facts_come_first_and_name_their_memories():
    found = summarise(
        frame(
            "memories",
            fact("a" * 12, "Backups run at night.", priority="medium", confidence=0.9),
            fact("b" * 12, "Deploys go through Buildkite.", priority="high", confidence=0.7),
            fact(
                "c" * 12,
                "Logs rotate weekly.",
                priority="medium",
                confidence=0.9,
                event_at=START + timedelta(days=1),
            ),
        )
    )
    assert found["text"].to_list() == [
        "- 🔴 Deploys go through Buildkite. [mem_bbbbbbbbbbbb]\n"
        "- 🟡 Logs rotate weekly. [mem_cccccccccccc]\n"
        "- 🟡 Backups run at night. [mem_aaaaaaaaaaaa]"
    ]
    assert found["memory_ids"].to_list() == [["b" * 12, "c" * 12, "a" * 12]]


def test_projects_people_and_categories_are_kept_apart():
    found = summarise(
        frame(
            "memories",
            fact("1", "Deploys go through Buildkite."),
            fact("2", "The blog is copied with rsync.", project="blog"),
            fact("3", "Prefers tabs.", category="preferences", scope="person"),
            fact(
                "4",
                "Prefers spaces.",
                category="preferences",
                scope="person",
                person="bob",
                project="blog",
            ),
            fact("5", "Be kind.", category="rules-conventions", scope="everyone"),
        )
    )
    assert sorted(found.select("category", "scope", "project", "person").rows()) == [
        ("operations", "project", "blog", ""),
        ("operations", "project", "shop", ""),
        ("preferences", "person", "", "ann"),
        ("preferences", "person", "", "bob"),
        ("rules-conventions", "everyone", "", ""),
    ]


def test_what_says_the_same_takes_up_one_line():
    found = summarise(
        frame(
            "memories",
            fact("1", "Deploys of the shop go through Buildkite.", confidence=0.9),
            fact("2", "The shop's deploys go through Buildkite now.", confidence=0.7),
        )
    )
    assert found["memory_ids"].to_list() == [["1"]]
    assert found["fact_count"].to_list() == [2]


def test_two_pages_that_were_replaced_in_one_second_keep_two_names():
    at = datetime(2026, 9, 2, 8, 30, tzinfo=UTC)
    names: list[str] = []
    for _ in range(11):
        names.append(replaced_page_of("operations", at, names))
    assert names[:2] == [
        "summaries/operations.20260902T083000Z.md",
        "summaries/operations.20260902T083000Z-2.md",
    ]
    assert len(set(names)) == 11
    zone = ZoneInfo("UTC")
    assert pages_to_delete(reversed(names), date(2026, 9, 2), zone) == []
    assert pages_to_delete(reversed(names), date(2026, 9, 3), zone) == names[:-1]


def test_a_contradiction_changes_only_its_category():
    before = [fact("a", "Deploy by hand."), fact("b", "Use tabs.", category="rules-conventions")]
    after = [
        fact("a", "Deploy by hand.", state="superseded"),
        fact("c", "Deploy with make deploy."),
        before[1],
    ]
    pages = [
        {
            name: render_page(name, summarise(frame("memories", *rows)).filter(category=name))
            for name in ("operations", "rules-conventions")
        }
        for rows in (before, after)
    ]
    assert pages[0]["operations"] != pages[1]["operations"]
    assert pages[0]["rules-conventions"] == pages[1]["rules-conventions"]


FACTS = st.lists(
    st.builds(
        fact,
        id=st.uuids().map(str),
        text=st.text(min_size=1, max_size=300),
        priority=st.sampled_from(["high", "medium", "low"]),
        project=st.sampled_from(["shop", "blog"]),
        confidence=st.floats(0, 1),
    ),
    max_size=40,
    unique_by=lambda one: one["id"],
)


@given(FACTS, st.randoms())
def test_a_summary_is_bounded_cites_what_it_says_and_does_not_depend_on_order(
    facts: list[dict[str, Any]], random: Any
):
    found = summarise(frame("memories", *facts))
    checks_of("category_summaries").validate(found)
    for one in found.iter_rows(named=True):
        assert 1 <= len(one["memory_ids"]) <= MOST_FACTS
        assert one["tokens"] <= MOST_TOKENS
        assert len(one["text"].splitlines()) == len(one["memory_ids"])
    random.shuffle(facts)
    assert summarise(frame("memories", *facts)).equals(found)
