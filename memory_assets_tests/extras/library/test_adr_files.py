"""Decision records: both forms are read, six statuses of one word, numbers never used again, supersession that adds up."""

from datetime import date

import pytest

from memory_assets.extras.library.adr_files import AdrFile, parse_adr, read_folder

MADR = """---
status: accepted
date: 2026-02-19
deciders: [mira]
supersedes: [0001]
---

# ADR-0002: Postgres holds the ledger

## Context and Problem Statement

Two writers at once corrupted the file of the ledger.

## Decision Outcome

We use Postgres for the ledger, because it locks rows.

More.
"""
NYGARD = """# 1. SQLite holds the ledger

Date: 2025-11-03

## Status

Accepted

Superseded by [2. Postgres holds the ledger](0002-postgres.md)

## Context

We need a ledger.

## Decision

We use SQLite for the ledger.
"""


def madr(status: str, **fields: str) -> str:
    more = "".join(f"{name.replace('_', '-')}: {value}\n" for name, value in fields.items())
    return f"---\nstatus: {status}\n{more}---\n# A title\n\n## Decision\n\nWe do it.\n"


def problems_of(texts: dict[str, str]) -> dict[str, list[str]]:
    return {one.name: list(one.problems) for one in read_folder(texts) if one.problems}


def test_a_record_with_front_matter_is_read():
    assert parse_adr("0002-postgres.md", MADR) == AdrFile(
        number=2,
        name="0002-postgres.md",
        title="Postgres holds the ledger",
        status="accepted",
        decided_on=date(2026, 2, 19),
        decision="We use Postgres for the ledger, because it locks rows.",
        context="Two writers at once corrupted the file of the ledger.",
        line=7,
        supersedes=(1,),
    )


def test_a_record_with_a_section_status_is_read_with_its_relation():
    found = parse_adr("0001-sqlite.md", NYGARD)
    assert (found.title, found.status, found.superseded_by) == (
        "SQLite holds the ledger",
        "superseded",
        (2,),
    )
    assert (found.decided_on, found.decision) == (
        date(2025, 11, 3),
        "We use SQLite for the ledger.",
    )
    assert found.problems == ()


def test_only_the_last_of_a_chain_is_in_force():
    found = read_folder({"0001-sqlite.md": NYGARD, "0002-postgres.md": MADR})
    assert [(one.number, one.is_in_force, one.problems) for one in found] == [
        (1, False, ()),
        (2, True, ()),
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (madr("superseded by ADR-0002"), "status 'superseded by adr-0002' has several words; use one, and name other records in superseded-by"),
        (madr("done"), "status 'done' is none of proposed, accepted, shipped, superseded, deprecated, rejected"),
        ("# A title\n", "has no status"),
        ("---\n- a\n---\n# A title\n\n## Status\n\nAccepted\n", "front matter cannot be read: it has no fields"),
        ("---\nstatus: [\n---\n# A title\n\n## Status\n\nAccepted\n", "front matter cannot be read: it is not YAML"),
    ],
)  # fmt: skip
def test_a_wrong_status_is_a_named_problem(text: str, problem: str):
    assert problems_of({"0001-a.md": text}) == {"0001-a.md": [problem]}


def test_a_number_that_is_used_again_names_the_other_file():
    found = problems_of({"0001-a.md": madr("accepted"), "0001-b.md": madr("rejected")})
    again = "number 0001 is used again by"
    assert found == {"0001-a.md": [f"{again} 0001-b.md"], "0001-b.md": [f"{again} 0001-a.md"]}


def test_dangling_and_one_sided_supersession_is_named():
    texts = {
        "0001-a.md": madr("accepted", superseded_by='"[ADR-0009 — Other](0009-other.md)"'),
        "0002-b.md": madr("accepted", supersedes="[0001, 0007]"),
        "0003-c.md": madr("superseded"),
    }
    assert problems_of(texts) == {
        "0001-a.md": ["superseded-by names 0009, which does not exist"],
        "0002-b.md": [
            "supersedes names 0007, which does not exist",
            "supersedes 0001, whose status is not superseded",
        ],
        "0003-c.md": ["is superseded, and superseded-by is missing"],
    }


def test_secrets_are_masked_and_code_is_no_heading():
    token = "ghp_" + "k3JdY81xQm0ZtVb7WcRn52LsHf9AeU4gTpXo"
    text = f"```\n# Not this\n```\n# Keys\n\n## Status\n\naccepted\n\n## Decision\n\nThe token is {token}.\n"
    found = parse_adr("0001-a.md", text)
    assert (found.title, found.line) == ("Keys", 3)
    assert token not in found.text


@pytest.mark.parametrize(
    "text",
    ["", "---", "---\n", "---\na: &a [*a]\n---\n", f"---\n{'[' * 5_000}\n---\n", "\0", "# " * 99],
)
def test_no_content_makes_reading_fail(text: str):
    assert parse_adr("0001-a.md", text).status == ""
