"""`memory lab calibration` over a store: verdicts as they stand, and past windows ruled on again without a trace."""

import json

import pytest

from memory_assets.interfaces.cli import app as cli
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.small_store import small_store
from memory_assets_tests.stages.distill.sessions import messages, said, window, windows
from memory_assets_tests.stages.distill.test_day import CORRECTED, distilled


@pytest.fixture
def store() -> Store:
    """One distilled session without proposals."""
    opened = open_store(read_settings())
    rows, day = said(*CORRECTED), distilled()
    part = rows[0]["day"].isoformat()
    opened.tables.write("windows", "all", windows(window(rows)))
    for table, frame in (
        ("messages", messages(rows)),
        ("segments", day.segments),
        ("observations", day.observations),
    ):
        opened.tables.write(table, part, frame)
    opened.tables.write("verdicts", part, day.verdicts)
    return opened


def asked(capsys: pytest.CaptureFixture[str], *words: str) -> dict:
    assert cli.main(["lab", "calibration", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)["data"]


def test_another_limit_lists_what_it_flips_and_writes_nothing(
    store: Store, capsys: pytest.CaptureFixture[str]
):
    before = {path: path.stat().st_mtime_ns for path in store.root.rglob("*") if path.is_file()}
    data = asked(capsys, "--set", "gate.least_confident=0.95")
    allowed = store.tables.read("verdicts").filter(verdict="allow")["candidate_id"].to_list()
    assert sorted(flip["id"] for flip in data["flips"]) == sorted(allowed) != []
    assert {(flip["was"], flip["becomes"], flip["outcome"]) for flip in data["flips"]} == {
        ("allow", "hold", "unseen")
    }
    assert {
        path: path.stat().st_mtime_ns for path in store.root.rglob("*") if path.is_file()
    } == before
    assert (
        asked(capsys, "--set", "gate.least_confident=0.95", "--from", "2030-01-01")["flips"] == []
    )


def test_people_read_who_was_never_asked_and_what_flips(
    store: Store, capsys: pytest.CaptureFixture[str]
):
    assert (
        cli.main(["lab", "calibration", "--by", "reason", "--set", "gate.least_confident=0.95"])
        == 0
    )
    out = capsys.readouterr().out
    assert "not shown to anybody" in out
    assert "durable, with evidence → too little confidence" in out
    assert "rows flip with gate.least_confident=0.95; nothing was written." in out


def test_a_waiting_proposal_flips_with_the_limits_of_triage(capsys: pytest.CaptureFixture[str]):
    small_store()
    (flip,) = asked(capsys, "--set", "triage.shortest=60")["flips"]
    assert (flip["was"], flip["becomes"], flip["outcome"]) == ("pending", "rejected", "waiting")


def test_an_unknown_limit_is_not_understood_and_those_that_there_are_are_named(
    capsys: pytest.CaptureFixture[str],
):
    small_store()
    assert cli.main(["lab", "calibration", "--set", "gate.taste=1"]) == 2
    assert "gate.least_useful" in capsys.readouterr().err
