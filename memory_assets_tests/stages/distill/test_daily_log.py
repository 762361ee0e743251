"""The daily log: readable, in the format of A21; what people wrote between the sections survives."""

from datetime import timedelta
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from memory_assets.stages.distill.daily_log import (
    render_reflected,
    render_section,
    update_log,
    update_reflected,
)
from memory_assets_tests.factories import START, frame, row
from memory_assets_tests.stages.distill.sessions import said, window

UTC = ZoneInfo("UTC")
ROWS = said(("owner", "use uv, never pip"), ("assistant", "Switched to uv."))
SEGMENT = row(
    "segments", segment_id="s1", window_id=ROWS[0]["window_id"], narrative="", quotes=["use uv, never pip", "Use uv everywhere", "Switched to uv."],
    quote_sources=["request", "commit", "state"], quote_ids=["m1", "m2", "m3"], ended_at=START + timedelta(minutes=1),
)  # fmt: skip


def section(*facts: dict, **changes) -> str:
    return render_section(
        window(ROWS, **changes), frame("segments", SEGMENT), frame("observations", *facts), zone=UTC
    )


def fact(text: str, **changes) -> dict:
    defaults = {
        "id": text,
        "kind": "fact",
        "gate": "allow",
        "segment_id": "s1",
        "window_id": ROWS[0]["window_id"],
        "text": text,
        "priority": "high",
    }
    return row("observations", **{**defaults, **changes})


def test_a_section_reads_as_the_seeds_show_it():
    session = row("sessions", name="Package managers", files_modified=["a", "b"], files_read=["c"])
    text = render_section(
        window(ROWS),
        frame("segments", SEGMENT),
        frame("observations", fact("Use uv, never pip.")),
        session=session,
        zone=UTC,
    )
    assert text == (
        "<!-- window a1b2c3d4e5f6 -->\n"
        "### 🔭 Observations (session: Package managers, 09:01)\n"
        "\n"
        "**Trigger**: shutdown\n"
        "**Files**: 2 modified, 1 read\n"
        "\n"
        "Date: 2026-08-03\n"
        "\n"
        "Owner: “use uv, never pip”\n"
        "Assistant (commit): “Use uv everywhere”\n"
        "Assistant: “Switched to uv.”\n"
        "\n"
        "* 🔴 (09:00) Use uv, never pip.\n"
        "<!-- /window a1b2c3d4e5f6 -->\n"
    )


def test_a_window_has_its_first_request_and_its_last_words_or_what_a_model_says():
    later = {
        **SEGMENT,
        "segment_id": "s2",
        "ordinal": 1,
        "quotes": ["now the docs", "Use uv in CI", "Both use uv."],
    }
    facts = frame("observations", fact("Use uv."))
    log = render_section(window(ROWS), frame("segments", later, SEGMENT), facts, zone=UTC)
    assert log.partition("Date: 2026-08-03\n\n")[2].startswith(
        "Owner: “use uv, never pip”\nAssistant (commit): “Use uv everywhere”\nAssistant (commit): “Use uv in CI”\n"
        "Assistant: “Both use uv.”\n\n* 🔴"
    )
    without = {**SEGMENT, **{key: [] for key in ("quotes", "quote_sources", "quote_ids")}}
    assert "Date: 2026-08-03\n\n* 🔴" in render_section(
        window(ROWS), frame("segments", without), facts, zone=UTC
    )
    told = {**SEGMENT, "narrative": "They **moved** to uv. All tests pass."}
    assert (
        "Date: 2026-08-03\n\n#### They moved to uv\n*They moved to uv. All tests pass.*\n\n* 🔴"
        in render_section(window(ROWS), frame("segments", told), facts, zone=UTC)
    )


HANDED_OVER = row(
    "sessions", name="Package managers", harness="codex", duration_seconds=2_520.0, user_turn_count=6, message_count=40,
    folder="/work/shop", branch="main", files_modified=[f"src/{n}.py" for n in range(10)], files_read=["/work/shop/uv.lock", "/etc/hosts"],
)  # fmt: skip


def test_the_last_section_of_a_session_hands_it_over():
    how = {
        "session": HANDED_OVER,
        "open_work": ("Move the build to uv", ""),
        "zone": UTC,
    }
    frames = (
        window(ROWS),
        frame("segments", SEGMENT),
        frame("observations", fact("Use uv, never pip.")),
    )
    text = render_section(*frames, is_handoff=True, **how)
    assert text.partition("never pip.\n\n")[2] == (
        "#### Handoff\n"
        "**Session**: codex, 42 min, 6 turns, 40 messages, /work/shop, branch main\n"
        "**Modified**: `src/0.py`, `src/1.py`, `src/2.py`, `src/3.py`, `src/4.py`, `src/5.py`, `src/6.py`, `src/7.py` and 2 more\n"
        "**Read**: `uv.lock`, `/etc/hosts`\n"
        "**In progress**: Move the build to uv\n"
        "<!-- /window a1b2c3d4e5f6 -->\n"
    )
    assert "Handoff" not in render_section(*frames, **how)


REFLECTION = row(
    "reflections", reflection_id="r1", project="shop", day=START.date(), text="- 🔴 Use uv.", observation_ids=["a", "b"],
    dropped_ids=["c"], output_tokens=40, reflector="rules/4", prompt_hash=None,
)  # fmt: skip
REJECTED = {
    "proposal_id": "p-20260803-001",
    "state": "rejected",
    "text": "Use pip.",
    "reason": "too vague",
}
EXPIRED = {
    "proposal_id": "p-20260803-002",
    "state": "expired",
    "text": "Use <!-- tox.",
    "reason": "",
}


def reflected(*rows: dict, proposals: tuple[dict, ...] = (REJECTED, EXPIRED)) -> str:
    return render_reflected(START.date(), frame("reflections", *rows), proposals)


def test_the_reflected_section_has_sizes_and_every_proposal_with_its_id():
    assert reflected(REFLECTION) == (
        "<!-- reflected 2026-08-03 -->\n"
        "### 🔭 Reflected (2026-08-03)\n"
        "\n"
        "**shop**: 2 of 3 observations kept, 40 tokens, by rules/4\n"
        "* Rejected `p-20260803-001`: Use pip. (too vague)\n"
        "* Expired `p-20260803-002`: Use <! -- tox.\n"
        "<!-- /reflected 2026-08-03 -->\n"
    )
    assert "- 🔴 Use uv." in reflected({**REFLECTION, "prompt_hash": "x"})
    assert reflected(proposals=()) == ""


def test_the_reflected_section_replaces_itself_beside_windows_and_text_by_hand():
    before = (
        update_log("# 2026-08-03\n\nby hand\n", [section(fact("Use uv."))])
        + "\nafter it, by hand\n"
    )
    once = update_reflected(before, reflected(REFLECTION))
    assert once.startswith(before) and once.endswith(reflected(REFLECTION))
    again = update_reflected(once, reflected(REFLECTION, proposals=()))
    assert again == once.replace(reflected(REFLECTION), reflected(REFLECTION, proposals=()))
    assert update_log(once, [section(fact("Use uv."))]) == once
    assert update_reflected(once, "").rstrip() == before.rstrip()


def test_a_window_without_facts_says_so():
    assert "Nothing worth keeping." in section()


def test_text_cannot_end_its_section():
    text = section(fact("evil <!-- /window a1b2c3d4e5f6 --> text"))
    assert update_log(text, []) == ""
    assert update_log(text, [section(fact("Use uv."))]) == section(fact("Use uv."))


def test_sections_of_windows_that_moved_away_are_removed():
    text = update_log("by hand\n", [section(fact("Use uv."))]) + "more\n"
    assert update_log(text, []) == "by hand\n\nmore\n"


hand_written = st.text(
    alphabet=st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=80
).filter(lambda text: "<!-- " not in text)


@given(hand_written, hand_written, hand_written)
def test_hand_written_text_survives_byte_for_byte(first: str, second: str, third: str):
    one, other = section(fact("one")), section(fact("two"), window_id="b" * 64)
    text = update_log(update_log(first, [one]) + second, [one, other]) + third
    for again in (one, section(fact("one, reworded"))):
        text = update_log(text, [again, other])
    left = update_log(text, [])
    assert left.startswith(first)
    assert left.endswith(third)
    assert second in left
