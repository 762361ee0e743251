"""REVIEW.md: what a person did to it is what was decided, nothing is invented, nothing of theirs is lost."""

from hypothesis import given
from hypothesis import strategies as st

from memory_assets.triage.human import hand_written, read_items, read_review, render_review

ROWS = [
    {
        "proposal_id": "p-20260803-001",
        "section": "Hard Rules",
        "text": "Use uv, never pip.",
        "why": "no second session confirms it",
    },
    {"proposal_id": "p-20260803-002", "section": "Hard Rules", "text": "Never force-push to `main`.", "why": ""},
    {"proposal_id": "p-20260804-001", "section": "Patterns", "text": "The gauge feed is one hour behind in summer.", "why": ""},
    {"proposal_id": "p-20260804-002", "section": "Patterns", "text": "Redis runs on port 6380.", "why": ""},
]
OURS = render_review(ROWS, updated="2026-08-04T06:00:00Z")


def edited(before: str, after: str) -> str:
    assert before in OURS
    return OURS.replace(before, after)


def test_the_file_lists_what_waits_by_section_with_our_last_line():
    assert OURS.splitlines()[4:7] == [
        "## Proposed for: Hard Rules",
        "- [ ] `p-20260803-001` Use uv, never pip. — _no second session confirms it_",
        "- [ ] `p-20260803-002` Never force-push to `main`.",
    ]
    assert OURS.endswith("\n_Last updated: 2026-08-04T06:00:00Z | 4 proposals pending_\n")


def test_a_file_nobody_touched_decides_nothing():
    for there in (OURS, OURS.replace("\n", "\r\n"), "\ufeff" + OURS):
        reading = read_review(OURS, there)
        assert (reading.approved, reading.rejected, reading.edited, reading.warnings) == ({}, (), {}, ())


def test_a_tick_approves_with_the_text_as_it_stands_there():
    reading = read_review(OURS, edited("- [ ] `p-20260803-001` Use uv, never pip.", "- [x] `p-20260803-001` Use uv, not pip."))
    assert reading.approved == {"p-20260803-001": "Use uv, not pip."}
    assert (reading.rejected, reading.edited) == ((), {})


def test_a_dash_or_a_deleted_line_rejects():
    reading = read_review(
        OURS,
        edited("- [ ] `p-20260803-001`", "- [-] `p-20260803-001`").replace(
            "- [ ] `p-20260804-002` Redis runs on port 6380.\n", ""
        ),
    )
    assert reading.rejected == ("p-20260803-001", "p-20260804-002")
    assert not reading.approved


def test_an_edit_without_a_tick_rewords_and_still_waits():
    reading = read_review(OURS, edited("port 6380.", "port 6381."))
    assert reading.edited == {"p-20260804-002": "Redis runs on port 6381."}
    assert not reading.approved
    assert not reading.rejected


def test_a_half_saved_file_decides_nothing_and_says_so():
    for there in (OURS[: len(OURS) // 2], "", OURS.rsplit("\n", 2)[0]):
        reading = read_review(OURS, there)
        assert reading.is_undecided
        assert not (reading.approved or reading.rejected or reading.edited)
        assert "half saved" in reading.warnings[0]


def test_losing_more_than_half_of_the_items_asks_instead_of_rejecting():
    there = "\n".join(line for line in OURS.splitlines() if "p-2026080" not in line or "p-20260803-001" in line) + "\n"
    reading = read_review(OURS, there)
    assert reading.is_undecided
    assert "lost 3 of its 4 proposals" in reading.warnings[0]


def test_a_proposal_that_was_not_waiting_is_ignored_and_named():
    reading = read_review(
        OURS, edited("## Proposed for: Patterns", "- [x] `p-20990101-001` Trust me.\n## Proposed for: Patterns")
    )
    assert reading.approved == {}
    assert "p-20990101-001" in reading.warnings[0]


def test_a_note_written_by_hand_is_carried_over():
    there = edited("## Proposed for: Patterns", "Ask Ole about the gauge.\n\n## Proposed for: Patterns")
    assert hand_written(there) == ["Ask Ole about the gauge."]
    assert "Ask Ole about the gauge." in render_review(ROWS, updated="now", notes=hand_written(there))
    assert hand_written(OURS) == []


DEEDS = st.dictionaries(
    st.sampled_from([row["proposal_id"] for row in ROWS]), st.sampled_from(["tick", "dash", "edit", "leave"])
)


@given(deeds=DEEDS, order=st.permutations(range(4)), crlf=st.booleans(), bom=st.booleans())
def test_whatever_the_order_and_the_editor_each_deed_is_read_as_what_it_is(deeds, order, crlf, bom):
    lines = OURS.splitlines()
    places = [number for number, line in enumerate(lines) if line.startswith("- [ ]")]
    done = []
    for number in places:
        line = lines[number]
        deed = deeds.get(next(iter(read_items(line))), "leave")
        done.append(
            {"tick": line.replace("[ ]", "[X]"), "dash": line.replace("[ ]", "[-]"), "edit": line + " And more."}.get(
                deed, line
            )
        )
    for place, number in zip(places, order, strict=True):
        lines[place] = done[number]
    there = ("\ufeff" if bom else "") + ("\r\n" if crlf else "\n").join(lines) + "\n"
    reading = read_review(OURS, there)
    assert set(reading.approved) == {id for id, deed in deeds.items() if deed == "tick"}
    assert set(reading.rejected) == {id for id, deed in deeds.items() if deed == "dash"}
    assert set(reading.edited) == {id for id, deed in deeds.items() if deed == "edit"}
    assert reading.warnings == ()
