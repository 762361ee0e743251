"""Answers of models, well formed and not: never an exception, always a path, nothing lost that can be read."""

import json
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_assets.stages.distill.model.parser import ParsedFact, parse_answer

SEGMENTS = """<observations>
Date: 2026-03-02

<segment>
<narrative>The tests could not reach the database. The mount was stale.</narrative>
<facts>
- 🔴 [gate=allow confidence=0.92 category=jc:operations] Both NFS mounts require sudo to unmount when stale
- 🟡 (09:41) [gate=hold confidence=0.61 category=system-architecture] The volume needs an explicit server,
  and a path
- ✅ Fixtures moved to Parquet
</facts>
</segment>
<segment><narrative>Release notes.</narrative><facts></facts></segment>
</observations>
<current-task>
Primary: the mount
Secondary: none
</current-task>
<suggested-response>Unmount it.</suggested-response>"""

SUDO = "Both NFS mounts require sudo to unmount when stale"


def test_segments_are_read_with_all_that_the_model_says_of_a_fact():
    answer = parse_answer(SEGMENTS)
    assert answer.path == "segments"
    assert [segment.narrative for segment in answer.segments] == [
        "The tests could not reach the database. The mount was stale.",
        "Release notes.",
    ]
    assert answer.facts == (
        ParsedFact(SUDO, "high", None, "allow", 0.92, "operations"),
        ParsedFact(
            "The volume needs an explicit server, and a path",
            "medium",
            "09:41",
            "hold",
            0.61,
            "system-architecture",
            day=date(2026, 3, 2),
        ),
        ParsedFact("Fixtures moved to Parquet", "medium", is_done=True),
    )
    assert answer.current_task == "Primary: the mount\nSecondary: none"
    assert answer.suggested_response == "Unmount it."


def test_flat_answers_are_read():
    answer = parse_answer(
        "<observations>\nDate: 2026-02-15\n\n* 🔴 (09:15) slog is for infra only\n* 🟢 (early in session) maybe later\n</observations>"
    )
    assert answer.path == "flat"
    assert [(fact.text, fact.priority, fact.time) for fact in answer.facts] == [
        ("slog is for infra only", "high", "09:15"),
        ("maybe later", "low", None),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "- 🔴 Use uv here",
        "*🔴* Use uv here",
        "🔴 Use uv here",
        "1. 🔴 **Use uv here**",
        "  •   🔴 Use uv here",
        "🔴\ufe0f (9:15) Use uv here",
    ],
)
def test_marks_are_found_wherever_models_put_them(line: str):
    (fact,) = parse_answer(line).facts
    assert (fact.text, fact.priority) == ("Use uv here", "high")


@pytest.mark.parametrize(
    "text",
    [
        "Checkpoints are in /srv/checkpoints/<id> and `<hash>` names the commit",
        "Loop while i < n and stop at <end>",
        "`docs/**/*.md` and src/**/*.py are formatted",
        "__init__.py of the package imports nothing",
        "The `<summary>` element needs a <details> parent",
        "Escape `<` as `&lt;` in the report",
    ],
)
def test_only_the_tags_of_the_answers_own_form_are_markup(text: str):
    raw = f"<observations><segment><narrative>Work.</narrative>\n<facts>\n- 🔴 [gate=allow] {text}\n</facts></segment></observations>"
    assert [fact.text for fact in parse_answer(raw).facts] == [text]


def test_escaped_brackets_of_a_fact_are_read():
    raw = "<observations>\n- 🔴 [gate=allow] Paths end with &lt;id&gt; &amp; a dot\n</observations>"
    assert [fact.text for fact in parse_answer(raw).facts] == ["Paths end with <id> & a dot"]


@pytest.mark.parametrize(
    ("stamp", "time"),
    [
        ("(09:41)", "09:41"),
        ("(9:41 PM)", "21:41"),
        ("(12:05 am)", "00:05"),
        ("(09:41:07)", "09:41"),
        ("(09:41-09:50)", "09:41"),
        ("(2026-03-04 09:41)", "09:41"),
        ("(25:99)", None),
        ("(after lunch, maybe)", None),
        ("(??)", None),
    ],
)
def test_a_bad_time_does_not_cost_the_annotations(stamp: str, time: str | None):
    (fact,) = parse_answer(
        f"- 🔴 {stamp} [gate=allow confidence=0.9 category=operations] Use uv here"
    ).facts
    assert (fact.text, fact.time, fact.gate, fact.confidence, fact.category) == (
        "Use uv here",
        time,
        "allow",
        0.9,
        "operations",
    )


def test_plain_text_is_one_held_fact():
    answer = parse_answer("I am sorry, nothing worth keeping here.")
    assert (answer.path, answer.facts) == (
        "raw",
        (ParsedFact("I am sorry, nothing worth keeping here.", gate="hold"),),
    )


def test_structured_answers_are_read():
    answer = parse_answer(
        json.dumps(
            {
                "hasMemory": True,
                "observations": "* 🔴 (10:00) Use uv\n* 🟡 CI runs lint",
                "usedObservationIds": ["mem_abc"],
                "currentTask": "the docs",
                "suggestedContinuation": "go on",
            }
        )
    )
    assert answer.path == "structured"
    assert [(fact.text, fact.priority) for fact in answer.facts] == [
        ("Use uv", "high"),
        ("CI runs lint", "medium"),
    ]
    assert (answer.current_task, answer.suggested_response) == ("the docs", "go on")


def test_a_cut_structured_answer_keeps_its_whole_facts():
    raw = '{"observations": [{"text": "Use uv", "priority": "high"}, {"text": "CI runs li'
    assert [fact.text for fact in parse_answer(raw).facts] == ["Use uv"]


@pytest.mark.parametrize("note", ["gate=maybe", "confidence=2000", "confidence=x", "category="])
def test_notes_that_make_no_sense_are_as_good_as_absent(note: str):
    (fact,) = parse_answer(f"- 🔴 [{note} gate=] Use uv").facts
    assert (fact.gate, fact.confidence) == (None, None)


pieces = st.sampled_from(
    [
        "<observations>",
        "</observations>",
        "<segment>",
        "</segment>",
        "<narrative>",
        "<facts>",
        "</facts>",
        "- 🔴 ",
        "* 🟡 (09:15) ",
        "[gate=allow ",
        "confidence=0.9]",
        "&lt;",
        "{",
        '"text": "',
        "```",
        "\n",
        "✅",
        "<current-task>",
        "Date: ",
    ]
)


@given(
    st.one_of(st.text(), st.lists(st.one_of(pieces, st.text(max_size=8)), max_size=60).map("".join))
)
def test_no_answer_ever_raises(raw: str):
    answer = parse_answer(raw)
    assert answer.path in ("segments", "structured", "flat", "list", "raw", "empty")
    assert all(fact.text.strip() for fact in answer.facts)


def recorded() -> list[Path]:
    folder = Path(__file__).resolve().parents[5] / "shared" / "data" / "recorded"
    return sorted(folder.glob("*.answer.xml"))


@pytest.mark.skipif(not recorded(), reason="no recorded answers on this machine")
def test_recorded_answers_are_read_whole():
    for path in recorded():
        raw = path.read_text(encoding="utf-8")
        answer = parse_answer(raw)
        marked = [
            line for line in raw.splitlines() if line.lstrip("*- ").startswith(("🔴", "🟡", "🟢"))
        ]
        assert (answer.path, len(answer.facts)) == ("segments", len(marked)), path.name
        assert all(fact.gate and fact.category and fact.confidence for fact in answer.facts), (
            path.name
        )
        assert answer.current_task and answer.suggested_response, path.name
