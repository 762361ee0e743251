"""The rules of the second look for secrets: every text column of every table and every text file is read; places are named."""

from pathlib import Path

from memory_assets.stages.maintain.checks import (
    check_secrets,
    secrets_in_files,
)
from memory_assets_tests.factories import message
from memory_assets_tests.small_store import DAY, WINDOW, small_store, write

TOKEN = "ghp_R4nd0mLettersAndD1g1tsThatNobodyHas7"


def test_a_secret_in_a_table_is_named_by_part_and_column_and_never_shown():
    store = small_store()
    write(
        store,
        "messages",
        DAY.isoformat(),
        message(f"use {TOKEN} for now", 0, line=0, window_id=WINDOW),
    )
    check = check_secrets(store.tables, store.root)
    assert not check.passed
    assert check.found == f"1 in messages/{DAY}: text (1)"
    assert TOKEN not in str(check)


def test_a_secret_in_any_file_of_the_store_is_named(tmp_path: Path):
    for name in (
        "ledger/2026.jsonl",
        "answers/ab/cd.json",
        "workspace/MEMORY.md",
        "workspace/memory/2026-04-08.md",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'{{"text": "{TOKEN}"}}\n', "utf-8")
    (tmp_path / "workspace" / "REVIEW.md").write_text("nothing here\n", "utf-8")
    assert list(secrets_in_files(tmp_path)) == [
        ("answers/ab/cd.json", 1),
        ("ledger/2026.jsonl", 1),
        ("workspace/MEMORY.md", 1),
        ("workspace/memory/2026-04-08.md", 1),
    ]
