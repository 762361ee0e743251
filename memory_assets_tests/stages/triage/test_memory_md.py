"""MEMORY.md: lines are added, and every byte that was there stays, in order."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_assets.stages.triage.memory_md import (
    Entry,
    change,
    insert,
    read_entries,
    render_outline,
)

LINE = "- (2026-08-03) Use uv, never pip."
FILES = st.lists(
    st.sampled_from(
        [
            b"## Hard Rules",
            b"## hard rules ",
            b"# Top",
            b"- (2026-01-02) kept",
            b"",
            b"  by hand\t",
            b"\xff\xfe",
            "ünï".encode(),
            b"```",
        ]
    ),
    max_size=12,
)
ENDINGS = st.sampled_from([b"\n", b"\r\n"])


def test_an_entry_goes_to_the_end_of_its_section():
    content = (
        b"# MEMORY\n\n## Hard Rules\n\n- (2026-01-02) one\n\n## Patterns\n- (2026-01-03) two\n"
    )
    assert insert(content, "Hard Rules", LINE) == (
        b"# MEMORY\n\n## Hard Rules\n\n- (2026-01-02) one\n"
        + LINE.encode()
        + b"\n\n## Patterns\n- (2026-01-03) two\n"
    )


def test_the_file_keeps_its_own_line_endings():
    assert (
        insert(b"## Hard Rules\r\n- by hand\r\n", "Hard Rules", LINE)
        == b"## Hard Rules\r\n- by hand\r\n" + LINE.encode() + b"\r\n"
    )


def test_entries_are_dated_lines_of_a_section_and_nothing_else():
    content = "## A\n- (2026-08-03) one\n- undated\n* (2026-02-30) no such day\n### inner\n- (2026-08-04)  two \n"
    assert read_entries(content) == [
        Entry(2, "A", date(2026, 8, 3), "one"),
        Entry(6, "A", date(2026, 8, 4), "two"),
    ]


def test_the_outline_counts_the_entries_of_each_section_and_holds_no_words_of_the_file():
    own = "## Hard Rules\n\n- (2026-08-03) one\n- (2026-08-04) two\n\n## My salary\n\n- (2026-08-05) three\n"
    outline = render_outline(
        {"MEMORY.md": own, "projects/shop.md": "# Shop\n", "projects/a.md": "- (2026-08-06) four"},
        ["Hard Rules"],
    )
    assert outline.splitlines()[2:] == [
        "| MEMORY.md | Hard Rules | 2 | 2026-08-03 | 2026-08-04 |",
        "| MEMORY.md | a section of your own | 1 | 2026-08-05 | 2026-08-05 |",
        "| projects/shop.md | no entries yet | 0 | | |",
        "| projects/a.md | no section | 1 | 2026-08-06 | 2026-08-06 |",
    ]
    assert not [
        word
        for word in ("salary", "one", "four")
        if f" {word}" in outline.replace("no entries", "")
    ]


def test_a_heading_inside_a_section_takes_no_entry_that_is_not_its_own():
    content = b"## Hard Rules\n- one\n\n### Git\n- two\n"
    assert (
        insert(content, "Hard Rules", LINE)
        == b"## Hard Rules\n- one\n" + LINE.encode() + b"\n\n### Git\n- two\n"
    )


def test_what_stands_in_a_block_of_code_is_no_section_and_no_entry():
    content = b"```\n## Hard Rules\n- (2026-01-02) no entry\n```\n"
    assert read_entries(content.decode()) == []
    assert (
        insert(content, "Hard Rules", LINE)
        == content + b"\n## Hard Rules\n\n" + LINE.encode() + b"\n"
    )


@given(content=st.binary(max_size=200), section=st.sampled_from(["Hard Rules", "New"]))
def test_of_any_bytes_at_all_none_is_lost(content, section):
    changed = insert(content, section, LINE, ["New", "Hard Rules"])
    assert (
        any(
            changed[:at] + changed[len(changed) - len(content) + at :] == content
            for at in range(len(content) + 1)
        )
        or not content
    )
    assert LINE in [line.strip() for line in changed.decode("utf-8", "replace").split("\n")]


@given(
    lines=FILES,
    ending=ENDINGS,
    has_last_ending=st.booleans(),
    section=st.sampled_from(["Hard Rules", "Patterns", "New"]),
)
def test_a_hand_written_byte_survives_every_insertion(lines, ending, has_last_ending, section):
    content = ending.join(lines) + (ending if has_last_ending else b"")
    changed = insert(content, section, LINE, ["New", "Hard Rules", "Patterns"])
    assert changed.count(LINE.encode()) == content.count(LINE.encode()) + 1
    rest = iter(changed.splitlines())
    assert all(any(line == other for other in rest) for line in content.splitlines()), (
        "a line is gone or moved"
    )
    sections = {
        e.section.casefold()
        for e in read_entries(changed.decode("utf-8", "replace"))
        if e.text == "Use uv, never pip."
    }
    assert sections == {section.casefold()}


OLD = "- (2026-01-02) Use pip."


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "## Hard Rules\n- (2026-01-02) Use pip.\n- by hand\n",
            f"## Hard Rules\n{LINE}\n- by hand\n",
        ),
        ("## Hard Rules\r\n- (2026-01-02) Use pip.  \r\n", f"## Hard Rules\r\n{LINE}\r\n"),
        ("## Hard Rules\n- (2026-01-02) Use pip.", f"## Hard Rules\n{LINE}"),
        ("\ufeff- (2026-01-02) Use pip.\n", f"\ufeff{LINE}\n"),
        (
            "```\n- (2026-01-02) Use pip.\n```\n- (2026-01-02) Use pip.\n",
            f"```\n- (2026-01-02) Use pip.\n```\n{LINE}\n",
        ),
    ],
)
def test_a_line_is_replaced_in_its_place_and_no_other_byte_changes(before: str, after: str):
    assert change(before.encode(), "Hard Rules", LINE, OLD) == after.encode()


def test_a_line_that_says_what_another_entry_says_goes_instead_of_being_doubled():
    before = f"{OLD}\n* (2026-07-01) use uv, never pip\n".encode()
    assert change(before, "Hard Rules", LINE, OLD) == b"* (2026-07-01) use uv, never pip\n"


@given(
    lines=st.lists(
        st.one_of(FILES.map(lambda parts: b" ".join(parts)), st.just(OLD.encode())), max_size=10
    ),
    ending=ENDINGS,
    has_last_ending=st.booleans(),
    new=st.sampled_from([LINE, ""]),
)
def test_a_replacement_touches_one_line_of_any_file(lines, ending, has_last_ending, new):
    content = ending.join(lines) + (ending if has_last_ending and lines else b"")
    changed = change(content, "Hard Rules", new, OLD)
    if changed is None:
        return
    before, after = content.split(ending), changed.split(ending)
    places = [number for number, line in enumerate(before) if line.strip() == OLD.encode()]
    ways = [
        [*before[:at], *there, *before[at + 1 :]] for at in places for there in ([new.encode()], [])
    ]
    assert after in ways
