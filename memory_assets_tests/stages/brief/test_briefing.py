"""The briefing: what matters most comes first, what is cut is named, and nothing changes it but what it tells."""

from datetime import date, timedelta

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from memory_assets.schema import frames as tables
from memory_assets.stages.brief.briefing import BUDGET_TOKENS, render_briefing, render_session
from memory_assets.text.words import CHARS_A_TOKEN
from memory_assets_tests.factories import START, frame, row

MEMORY_MD = """# MEMORY

What every session should know.

## Patterns

- (2026-08-03) Redis runs on port 6380.

## mira

- (2026-08-02) Dry, direct answers.

## Hard Rules

- (2026-08-01) Use uv, never pip.
"""


def memory(text: str = "Deploy with make deploy.", day: int = 0, **changes) -> dict:
    fitting = {
        "state": "active",
        "kind": "fact",
        "priority": "high",
        "scope": "project",
        "project": "tidewatch",
        "person": "mira",
    }
    return row("memories", id=f"m-{text}", text=text, event_at=START + timedelta(days=day), **{**fitting, **changes})


def briefing(memory_md: str = MEMORY_MD, *memories: dict, pending: int = 0, **changes) -> str:
    given = {"pending": pending, "owner": "mira", "as_of": date(2026, 8, 20), **changes}
    return render_briefing(memory_md, frame("memories", *memories), **given)


SHIP = {"project": "tidewatch", "day": date(2026, 8, 19), "task": "Ship v0.3.0.", "next_step": "Write the notes."}


def test_tasks_in_progress_name_their_project_and_day():
    other = {**SHIP, "project": "shop", "task": "Move to uv.", "next_step": ""}
    assert "- Ship v0.3.0. → Write the notes. [tidewatch, 2026-08-19]\n- Move to uv. [shop, 2026-08-19]\n" in briefing(
        tasks=[SHIP, other]
    )
    assert "Ship" not in briefing(tasks=[SHIP, other], project="shop")
    assert briefing(tasks=[{**SHIP, "task": f"Task {n}."} for n in range(9)]).count("Task ") == 3


def test_a_continued_session_is_told_what_was_in_progress():
    row = {"fact_count": 1, "told_count": 1, "session_id": "s", "text": "- 🔴 Use uv."}
    assert render_session(row, SHIP).endswith("- 🔴 Use uv.\nIn progress: Ship v0.3.0. → Write the notes.\n")
    assert "In progress" not in render_session(row)


def test_rules_come_first_then_the_owner_then_the_rest_then_task_facts_and_log():
    text = briefing(MEMORY_MD, memory(), tasks=[SHIP], log=["### 10:00 tidewatch", ""], pending=5)
    assert (
        text
        == """\
# Memory briefing (known up to 2026-08-20)
📋 5 pending memory proposals in REVIEW.md: review when ready.

What every session should know.

## Hard Rules
- (2026-08-01) Use uv, never pip.

## mira
- (2026-08-02) Dry, direct answers.

## Patterns
- (2026-08-03) Redis runs on port 6380.

## In progress
- Ship v0.3.0. → Write the notes. [tidewatch, 2026-08-19]

## Recent facts
- 🔴 (2026-08-03) Deploy with make deploy. [tidewatch]

## Last log
### 10:00 tidewatch
"""
    )


def test_without_pending_proposals_nobody_is_nudged():
    assert "📋" not in briefing()
    assert "📋 1 pending memory proposal in REVIEW.md" in briefing(pending=1)


def test_an_empty_memory_makes_a_briefing_of_one_line():
    assert render_briefing("", tables.empty("memories"), pending=0, owner="mira", as_of=None) == "# Memory briefing\n"


def test_facts_are_the_newest_high_ones_that_memory_md_does_not_hold():
    text = briefing(
        MEMORY_MD,
        memory("older", 1),
        memory("newer", 2),
        memory("not so important", priority="medium"),
        memory("replaced", state="superseded"),
        memory("a story", kind="narrative"),
        memory("Redis runs on port 6380.", 3),
    )
    assert [line for line in text.splitlines() if "🔴" in line] == [
        "- 🔴 (2026-08-05) newer [tidewatch]",
        "- 🔴 (2026-08-04) older [tidewatch]",
    ]


def test_the_full_briefing_has_all_facts_by_priority_and_last_use():
    used = START + timedelta(days=200)
    text = briefing(
        MEMORY_MD,
        memory("older", 1),
        memory("newer", 2),
        memory("asides", 2, priority="low"),
        memory("used lately", 0, priority="medium", last_used_at=used),
        memory("not used", 30, priority="medium"),
        memory("replaced", state="superseded"),
        memory("Redis runs on port 6380.", 3),
        is_full=True,
    )
    shown = text.partition("## What is known\n")[2].splitlines()
    assert [line.split(") ")[1].split(" [")[0] for line in shown if line] == [
        "used lately",
        "newer",
        "older",
        "not used",
        "asides",
    ]
    assert [line[2] for line in shown if line] == ["🟡", "🔴", "🔴", "🟡", "🟢"]
    assert "Recent facts" not in text


def test_a_cut_names_the_full_briefing_and_the_full_one_does_not():
    facts = [memory(f"Fact {number} of the harbor.") for number in range(400)]
    assert "`memory brief --full` has more." in briefing(MEMORY_MD, *facts, budget_tokens=150)
    full = briefing(MEMORY_MD, *facts, budget_tokens=1_000, is_full=True)
    assert "--full" not in full
    assert "_Cut to fit: What is known." in full
    assert 950 <= len(full) / CHARS_A_TOKEN <= 1_000


def test_what_another_person_prefers_is_theirs():
    text = briefing("", memory("tabs", scope="person", person="priya"), memory("spaces", scope="person"))
    assert "spaces" in text
    assert "tabs" not in text


def test_in_a_project_only_its_own_facts_and_the_owners_are_shown():
    text = briefing(
        "",
        memory("here"),
        memory("there", project="harbor"),
        memory("mine", project="harbor", scope="person"),
        project="tidewatch",
    )
    assert ["here" in text, "there" in text, "mine" in text] == [True, False, True]


def test_what_is_cut_is_named_and_rules_are_cut_last():
    long = MEMORY_MD.replace("- (2026-08-03) Redis", "- (2026-08-03) " + "x" * 500 + "\n- (2026-08-03) Redis")
    text = briefing(long, memory(), budget_tokens=120)
    assert "Use uv, never pip." in text
    assert "xxx" not in text
    assert "_Cut to fit: Patterns." in text
    assert len(text) <= 120 * CHARS_A_TOKEN


def test_a_byte_order_mark_and_windows_line_endings_change_nothing():
    assert briefing("\ufeff" + MEMORY_MD.replace("\n", "\r\n")) == briefing()


def test_of_many_sections_that_were_cut_a_few_are_named():
    text = briefing("".join(f"## Section {n}\n{'x' * 600}\n" for n in range(20)))
    assert "Section 12, Section 13, Section 14, Section 15 and 4 more." in text


def test_long_names_of_what_was_cut_find_room_behind_short_ones_of_what_was_not():
    short, full = "".join(f"## S{n}\n- ok\n" for n in range(4)), "## Full\n" + "- y\n" * 2_000
    long = "".join(f"## {'T' * 39}{n}\n{'x' * 9_000}\n" for n in range(5))
    text = briefing(short + full + long)
    assert len(text) <= BUDGET_TOKENS * CHARS_A_TOKEN
    assert f"_Cut to fit: Full, {'T' * 39}0, {'T' * 39}1, {'T' * 39}2 and 2 more." in text


LINES = st.lists(
    st.one_of(
        st.sampled_from(["## Section", "## S", f"## {'T' * 50}"]),
        st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=400),
    ),
    max_size=40,
)


@given(
    lines=LINES,
    facts=st.lists(st.text("ab🔴 ", min_size=1, max_size=900), max_size=15, unique=True),
    pending=st.integers(0, 99),
)
def test_it_never_exceeds_its_budget_and_the_same_state_gives_the_same_bytes(lines, facts, pending):
    memories: pl.DataFrame = frame("memories", *(memory(text, n) for n, text in enumerate(facts)))
    text = render_briefing("\n".join(lines), memories, pending=pending, owner="mira", as_of=None)
    assert len(text) <= BUDGET_TOKENS * CHARS_A_TOKEN
    assert text == render_briefing("\n".join(lines), memories.reverse(), pending=pending, owner="mira", as_of=None)
