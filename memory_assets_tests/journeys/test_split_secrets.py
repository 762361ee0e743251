"""A secret whose name stands in another content block of the message is nowhere below the store, and the day is learnt."""

from pathlib import Path

import pytest

from memory_assets.stages.maintain.checks import check_secrets
from memory_assets.store.settings import read_settings
from memory_assets.store.store import open_store
from memory_assets_tests.journeys.test_forgotten_for_good import opened, readings
from memory_assets_tests.stages.capture.pipeline import capture
from memory_assets_tests.stages.capture.split_secrets import RULE, SECRETS, lay_out_split
from memory_assets_tests.story import open_at, run


def secrets_below(data: Path) -> list[tuple[str, str]]:
    """Returns each file of the store that holds a secret in any reading of its bytes, rows or archive, with the secret."""
    paths = [path for path in sorted(data.rglob("*")) if path.is_file()]
    told = [(path, text) for path in paths for raw in opened(path) for text in readings(raw)]
    return [
        (str(path.relative_to(data)), secret)
        for path, text in told
        for secret in SECRETS
        if secret in text
    ]


@pytest.mark.parametrize("harness", ["claude", "codex", "pi"])
def test_capture_leaves_no_secret_that_was_cut_into_blocks(harness: str, tmp_path: Path):
    store = open_store(read_settings())
    capture(store, lay_out_split(tmp_path / "transcripts") / harness)
    said = store.tables.read("messages").filter("is_user_turn")["text"].to_list()
    assert [text.split("\n")[0] for text in said[:3]] == [
        "password",
        "Thanks. My password is",
        "token:",
    ]
    assert [text.count("*") for text in said] == [12, 12, 20, 12, 12, 0]
    assert secrets_below(store.root) == []
    assert check_secrets(store.tables, store.root).passed


@pytest.mark.slow
def test_a_day_with_secrets_cut_into_blocks_is_learnt_and_leaves_none(tmp_path: Path):
    sources, data = lay_out_split(tmp_path / "transcripts"), tmp_path / "store"
    run("ingest", data, sources)
    store = open_at(data, sources)
    assert set(store.tables.read("sessions")["harness"]) == {"claude_code", "codex", "pi"}
    assert any(RULE.rstrip(".") in text for text in store.tables.read("memories")["text"])
    assert secrets_below(data) == []
    assert run("doctor", data, sources)["is_well"]
