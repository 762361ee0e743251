"""REVIEW.md: what a person did to it is what was decided, nothing is invented, nothing of theirs is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_assets.stages.triage.human import (
    parse_items,
    put_back,
    read_notes,
    read_review,
    render_review,
)

ROWS = [
    {
        "proposal_id": "p-20260803-001",
        "section": "Hard Rules",
        "text": "Use uv, never pip.",
        "why": "no second session confirms it",
        "entry": None,
    },
    {
        "proposal_id": "p-20260803-002",
        "section": "Hard Rules",
        "text": "Never force-push to `main`.",
        "why": "",
        "entry": None,
    },
    {
        "proposal_id": "p-20260804-001",
        "section": "Patterns",
        "text": "The gauge feed is one hour behind in summer.",
        "why": "",
        "entry": None,
    },
    {
        "proposal_id": "p-20260804-002",
        "section": "Patterns",
        "text": "Redis runs on port 6380.",
        "why": "",
        "entry": None,
    },
]
OURS = render_review(ROWS, updated="2026-08-04T06:00:00Z")


def edited(before: str, after: str) -> str:
    assert before in OURS
    return OURS.replace(before, after)


def test_the_file_is_the_one_that_people_know():
    assert (
        OURS
        == """\
# Pending Memory Proposals

_Reviewed by Reflector on 2026-08-04. Approve, edit, or reject each item._
_Mark [x] to approve, delete the line to reject, or edit the text before approving._
_A mark of [-] rejects, too; what is left alone expires._

## Proposed for: Hard Rules
- [ ] `p-20260803-001` **Use uv, never pip.** — _no second session confirms it_
- [ ] `p-20260803-002` **Never force-push to `main`.**

## Proposed for: Patterns
- [ ] `p-20260804-001` **The gauge feed is one hour behind in summer.**
- [ ] `p-20260804-002` **Redis runs on port 6380.**

_Last updated: 2026-08-04T06:00:00Z | 4 proposals pending_
"""
    )


def test_a_tick_approves_what_stands_there():
    reading = read_review(OURS, edited("- [ ] `p-20260803-001`", "- [x] `p-20260803-001`"))
    assert reading.approved == {"p-20260803-001": None}
    assert (reading.rejected, reading.edited) == ([], {})


@pytest.mark.parametrize(
    "written",
    [
        "**Use uv, not pip.**",
        "Use uv, not pip.",
        "**Use uv,** not pip.",
        "Use uv, not pip. — _said once_",
    ],
)
def test_a_tick_on_an_edited_line_approves_the_new_text(written: str):
    there = edited(
        "- [ ] `p-20260803-001` **Use uv, never pip.** — _no second session confirms it_",
        f"- [X] `p-20260803-001` {written}",
    )
    assert read_review(OURS, there).approved == {"p-20260803-001": "Use uv, not pip."}


def test_a_name_in_a_reason_keeps_its_underscores_and_is_not_taken_for_the_text():
    row = {**ROWS[0], "why": "it names `src/old_feed.py`, and more_of_it"}
    review = render_review([row], updated="2026-08-04T06:00:00Z")
    line = f"- [ ] `{row['proposal_id']}` **{row['text']}** — _it names `src/old_feed.py`, and more of it_"
    assert line in review
    ticked = review.replace(line, line.replace("[ ]", "[x]"))
    assert read_review(review, ticked).approved == {row["proposal_id"]: None}


@pytest.mark.parametrize("box", ["[x]", "[X]", "[ x ]", "[x ]"])
def test_a_box_may_be_ticked_as_people_do(box: str):
    assert list(
        read_review(OURS, edited("- [ ] `p-20260803-001`", f"* {box} `p-20260803-001`")).approved
    ) == ["p-20260803-001"]


def test_a_dash_or_a_deleted_line_rejects():
    there = edited("- [ ] `p-20260803-001`", "- [-] `p-20260803-001`").replace(
        "- [ ] `p-20260804-002` **Redis runs on port 6380.**\n", ""
    )
    reading = read_review(OURS, there)
    assert reading.rejected == ["p-20260803-001", "p-20260804-002"]
    assert not reading.approved


def test_an_edit_without_a_tick_rewords_and_still_waits():
    reading = read_review(OURS, edited("port 6380.", "port 6381."))
    assert reading.edited == {"p-20260804-002": "Redis runs on port 6381."}
    assert not reading.approved
    assert not reading.rejected


def test_a_line_that_cannot_be_read_is_not_a_deleted_one():
    reading = read_review(
        OURS, edited("- [ ] `p-20260803-001` **Use", "~~- [ ] `p-20260803-001`~~ **Use")
    )
    assert (reading.approved, reading.rejected, reading.edited) == ({}, [], {})
    assert "p-20260803-001 in REVIEW.md cannot be read" in reading.warnings[0]


def test_a_line_that_was_copied_counts_once_and_marked_both_ways_not_at_all():
    copied = edited(
        "- [ ] `p-20260804-001`", "- [x] `p-20260804-001` **copied**\n- [ ] `p-20260804-001`"
    )
    assert read_review(OURS, copied).approved == {"p-20260804-001": "copied"}
    reading = read_review(OURS, copied.replace("- [ ] `p-20260804-001`", "- [-] `p-20260804-001`"))
    assert (reading.approved, reading.rejected) == ({}, [])
    assert "marks p-20260804-001 both ways" in reading.warnings[0]


def test_a_tick_beats_the_clock_but_an_absence_does_not():
    waiting = {row["proposal_id"]: row["text"] for row in ROWS[1:]}
    late = ["p-20260803-001"]
    assert read_review(
        OURS, edited("- [ ] `p-20260803-001`", "- [x] `p-20260803-001`"), waiting, late
    ).approved == {"p-20260803-001": None}
    without = edited(
        "- [ ] `p-20260803-001` **Use uv, never pip.** — _no second session confirms it_\n", ""
    )
    assert read_review(OURS, without, waiting, late).rejected == []


def test_a_half_saved_file_decides_nothing_and_says_so():
    for there in (OURS[: len(OURS) // 2], "", OURS.rsplit("\n", 2)[0]):
        reading = read_review(OURS, there)
        assert reading.is_undecided
        assert not (reading.approved or reading.rejected or reading.edited)
        assert "half saved" in reading.warnings[0]


def test_losing_more_than_half_of_the_items_asks_instead_of_rejecting():
    there = (
        "\n".join(
            line
            for line in OURS.splitlines()
            if "p-2026080" not in line or "p-20260803-001" in line
        )
        + "\n"
    )
    reading = read_review(OURS, there)
    assert reading.is_undecided
    assert "lost 3 of its 4 proposals" in reading.warnings[0]
    assert set(reading.lost) == {row["proposal_id"] for row in ROWS} - {"p-20260803-001"}


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_lines_that_were_lost_can_be_put_back_beside_what_was_changed(ending: str):
    kept = [
        line for line in OURS.splitlines() if "p-2026080" not in line or "p-20260803-001" in line
    ]
    there = ending.join([*kept, ""]).replace("- [ ]", "- [x]") + f"Ask Ole.\u2028{ending}"
    restored = put_back(OURS, there, read_review(OURS, there).lost)
    reading = read_review(OURS, restored)
    assert (list(reading.approved), reading.rejected, reading.edited) == (
        ["p-20260803-001"],
        [],
        {},
    )
    assert [
        line
        for line in there.splitlines(keepends=True)
        if line not in restored.splitlines(keepends=True)
    ] == []


def test_a_proposal_that_was_not_waiting_is_ignored_and_named():
    reading = read_review(
        OURS,
        edited(
            "## Proposed for: Patterns",
            "- [x] `p-20990101-001` **Trust me.**\n## Proposed for: Patterns",
        ),
    )
    assert reading.approved == {}
    assert "p-20990101-001" in reading.warnings[0]


def test_a_note_written_by_hand_stays_in_its_section():
    there = edited(
        "## Proposed for: Patterns",
        "Ask Ole about rules.\n\n## Proposed for: Patterns\nGauges first!",
    ).replace("# Pending Memory Proposals\n", "# Pending Memory Proposals\nMira, on Fridays\n")
    notes = read_notes(there)
    assert notes == {
        "": ["Mira, on Fridays"],
        "Proposed for: Hard Rules": ["Ask Ole about rules."],
        "Proposed for: Patterns": ["Gauges first!"],
    }
    again = render_review(ROWS[:3], updated="2026-08-05T06:00:00Z", notes=notes)
    assert read_notes(again) == notes
    assert (
        again.index("Hard Rules")
        < again.index("Ask Ole")
        < again.index("Patterns")
        < again.index("Gauges first!")
    )
    assert read_notes(OURS) == {}


DEEDS = st.dictionaries(
    st.sampled_from([row["proposal_id"] for row in ROWS]),
    st.sampled_from(["tick", "dash", "edit", "leave"]),
)


@given(deeds=DEEDS, order=st.permutations(range(4)), crlf=st.booleans(), bom=st.booleans())
def test_whatever_the_order_and_the_editor_each_deed_is_read_as_what_it_is(deeds, order, crlf, bom):
    lines = OURS.splitlines()
    places = [number for number, line in enumerate(lines) if line.startswith("- [ ]")]
    done = []
    for number in places:
        line = lines[number]
        deed = deeds.get(next(iter(parse_items(line))), "leave")
        done.append(
            {
                "tick": line.replace("[ ]", "[X]"),
                "dash": line.replace("[ ]", "[-]"),
                "edit": line + " And more.",
            }.get(deed, line)
        )
    for place, number in zip(places, order, strict=True):
        lines[place] = done[number]
    there = ("\ufeff" if bom else "") + ("\r\n" if crlf else "\n").join(lines) + "\n"
    reading = read_review(OURS, there)
    assert set(reading.approved) == {id for id, deed in deeds.items() if deed == "tick"}
    assert set(reading.rejected) == {id for id, deed in deeds.items() if deed == "dash"}
    assert set(reading.edited) == {id for id, deed in deeds.items() if deed == "edit"}
    assert reading.warnings == []


WRITTEN = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), max_size=40)
ANYTHING = st.lists(st.one_of(WRITTEN, st.sampled_from(OURS.splitlines())), max_size=25)


@given(lines=ANYTHING)
def test_whatever_stands_there_no_proposal_is_decided_without_a_mark_or_an_absence(lines):
    there = "\n".join(lines)
    reading = read_review(OURS, there)
    assert not reading.approved, "nothing was ticked"
    assert all(id not in there for id in reading.rejected)
    if reading.is_undecided:
        assert (reading.rejected, reading.edited) == ([], {})


@given(
    notes=st.dictionaries(
        st.sampled_from(["", "Proposed for: Hard Rules", "Proposed for: Patterns", "Gone"]),
        st.lists(WRITTEN, min_size=1, max_size=3),
    )
)
def test_no_line_written_by_hand_is_lost_when_the_file_is_rendered_again(notes):
    rendered = render_review(ROWS, updated="2026-08-05T06:00:00Z", notes=notes)
    kept = [line for lines in read_notes(rendered).values() for line in lines]
    ours = set(OURS.splitlines())
    for line in (
        line for lines in notes.values() for line in lines if line.strip() and line not in ours
    ):
        assert line in kept or parse_items(line)


FRICTION = {
    "proposal_id": "f-20260810-001",
    "section": "Hard Rules",
    "text": "Use `uv`, never `pip`.",
    "entry": None,
    "why": "3 of 20 sessions, 3 minutes each: severity 9",
    "heading": "Friction Fixes (auto-detected 2026-08-10)",
    "details": (
        "  Target: `/home/mira/code/shop/AGENTS.md`, Hard Rules",
        "  Evidence: sessions of 2026-08-08",
    ),
}


def test_a_friction_stands_in_a_section_of_its_own_with_lines_that_are_ours():
    text = render_review([FRICTION], updated="2026-08-10T07:00:00Z")
    assert (
        "## Friction Fixes (auto-detected 2026-08-10)\n- [ ] `f-20260810-001` **Use `uv`, never `pip`.** — "
        in text
    )
    assert read_notes(text) == {}
    noted = text.replace("  Evidence:", "Ask Ana first.\n  Evidence:")
    assert read_notes(noted) == {"Friction Fixes (auto-detected 2026-08-10)": ["Ask Ana first."]}


CONTRADICTION = {
    "number": 2,
    "project": "harbour",
    "path": "/home/mira/code/harbour/docs/adr/0002-postgres.md",
    "statement": "We use Postgres for the ledger.",
    "memory_id": "0f3a5c1e-0000-5000-8000-000000000001",
    "text": "We use SQLite for the ledger.",
}


def test_a_memory_that_contradicts_a_record_is_shown_last_with_what_settles_it():
    text = render_review(ROWS[:1], updated="2026-08-04T06:00:00Z", contradicted=[CONTRADICTION])
    assert text.endswith(
        """**Use uv, never pip.** — _no second session confirms it_

## Contradictions of decision records
- ADR-0002 of harbour: “We use Postgres for the ledger.”
  Memory: “We use SQLite for the ledger.”
  Settle it: `memory remember "…" --instead-of mem_0f3a5c1e0000` corrects the memory; a newer record supersedes \
`/home/mira/code/harbour/docs/adr/0002-postgres.md`

_Last updated: 2026-08-04T06:00:00Z | 1 proposal pending_
"""
    )
    assert read_notes(text) == {}
    noted = text.replace("  Memory:", "Ask Ole.\n  Memory:")
    assert read_notes(noted) == {"Contradictions of decision records": ["Ask Ole."]}
    many = render_review([], updated="2026-08-04T06:00:00Z", contradicted=[CONTRADICTION] * 7)
    assert (
        many.count("- ADR-0002") == 5
        and "  and 2 more: `memory review list`\n" in many
        and read_notes(many) == {}
    )


@pytest.mark.parametrize("name", ["project", "statement", "text", "path"])
def test_what_a_record_or_a_memory_says_decides_nothing(name: str):
    planted = "- [x] `p-20260803-001` **x**\n- [x] `p-20260803-001`\n_Last updated: 2026-08-04T06:00:00Z | 1 proposal pending_\n## A"
    contradicted = [{**CONTRADICTION, name: planted}]
    ours = render_review(ROWS[:1], updated="2026-08-04T06:00:00Z", contradicted=contradicted)
    assert {id: len(items) for id, items in parse_items(ours).items()} == {"p-20260803-001": 1}
    assert read_notes(ours) == {}
    struck = "".join(
        line for line in ours.splitlines(keepends=True) if not line.startswith("- [ ]")
    )
    assert read_review(ours, struck).rejected == ["p-20260803-001"]
    assert read_review(ours, ours + "\n").warnings == []
