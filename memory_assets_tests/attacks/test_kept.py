"""What cannot be rebuilt (archive, ledger, answers, workspace): damage is named, and what still can be read is read."""

import hashlib
import json
import re
from datetime import date, timedelta
from pathlib import Path

import pytest

from memory_assets.interfaces.cli.app import main
from memory_assets.memory import MemoryAgent
from memory_assets.schema.announcements import take
from memory_assets.schema.protocols import ModelAnswer
from memory_assets.services.health.deep import deep_checks
from memory_assets.services.search.corpus import open_texts
from memory_assets.stages.distill.model.answers import AnswerKey, AnswerStore, StoredAnswer
from memory_assets.stages.embed.project import memory_rows
from memory_assets.stages.maintain.checks import NIGHTS, Check, is_in_share
from memory_assets.store.archive import Archive
from memory_assets.store.store import Store
from memory_assets_tests.attacks.broken_stores import KEPT, cut, flip, flip_rows, noise
from memory_assets_tests.conftest import NOW
from memory_assets_tests.small_store import DAY, small_store
from memory_assets_tests.stages.capture.pipeline import capture
from memory_assets_tests.stages.capture.sessions import dialogue, lines, transcript


def checks(store: Store, night: date | None = None) -> dict[str, Check]:
    """The deep checks by name."""
    return {check.name: check for check in deep_checks(store, night)}


def captured(store: Store, folder: Path) -> Path:
    """Captures one session of 40 turns; returns the file of its only range."""
    transcript(folder, "a").write_bytes(lines(*dialogue("a", 40)))
    capture(store, folder)
    return next((store.archive.root / "ranges").glob("*/*.zst"))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """An empty store."""
    from memory_assets.store.settings import read_settings
    from memory_assets.store.store import open_store

    return open_store(read_settings(data=tmp_path / "kept", now=NOW))


@pytest.mark.parametrize("damage", [cut, flip, noise, Path.unlink], ids=lambda one: one.__name__)
def test_a_damaged_range_is_named_with_its_transcript_and_bytes(
    store: Store, tmp_path: Path, damage
):
    assert checks(store)["archive"].passed
    path = captured(store, tmp_path / "sources")
    assert checks(store)["archive"].passed
    damage(path)
    check = checks(store)["archive"]
    assert (check.passed, check.is_advice) == (False, False)
    assert check.found.startswith(f"1 not: resources/ranges/{path.parent.name}/{path.name} (")
    assert "a.jsonl, bytes 0 to " in check.found
    assert "backup" in check.remedy


@pytest.mark.parametrize("line", [b'{"v":3,"id":7}', b"[3]", b"\xff\xfe", b'{"v":3,"id":"x"]'])
def test_a_damaged_line_of_the_catalog_is_named_and_the_others_are_read(
    store: Store, tmp_path: Path, line: bytes
):
    captured(store, tmp_path / "sources")
    catalog = store.archive.root / "catalog.jsonl"
    catalog.write_bytes(line + b"\n" + catalog.read_bytes())
    take()
    archive = Archive(store.archive.root)
    assert archive.resources().height == 1
    assert [one.partition(":")[0] for one in archive.damaged_lines()] == ["catalog.jsonl, line 1"]
    assert take() != []


def test_an_answer_that_cannot_be_read_is_named(store: Store):
    key = AnswerKey("content UTC", "prompt", "model", "parameters", "1")
    AnswerStore(store.answers).write(StoredAnswer(key, ModelAnswer("text", "model", 1, 1), NOW))
    assert checks(store)["answers"].found == "1 answers"
    (path,) = store.answers.glob("*.json")
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b'"text"', b'"next"'))
    assert checks(store)["answers"].found == f"1 not: answers/{path.name}"
    path.write_bytes(whole)
    cut(path)
    assert checks(store)["answers"].found == f"1 not: answers/{path.name}"


def test_flipped_rows_and_arrays_are_found_though_nothing_else_notices_them():
    store = small_store()
    open_texts(store).update(memory_rows(store.tables.read("memories")), [])
    assert all(check.passed for check in deep_checks(store))
    flip_rows(store.root / "tables" / "observations" / f"day={DAY}" / "data.parquet")
    flip(next(store.root.glob("index/texts/0*/memories/counts.npy")), 0.99)
    found = checks(store)
    assert (
        found["files"].found
        == f"1 not: tables/observations/day={DAY}/data.parquet: its rows do not match their hash"
    )
    assert found["index files"].found == "1 not: texts/memories/counts.npy"


def test_every_file_is_read_once_in_a_month_of_nights():
    names = [hashlib.sha256(bytes([n])).hexdigest() for n in range(200)]
    shares = [
        [name for name in names if is_in_share(name, DAY + timedelta(night))]
        for night in range(NIGHTS)
    ]
    assert sorted(name for share in shares for name in share) == sorted(names)
    assert max(map(len, shares)) < len(names) / 4


def test_a_broken_line_of_the_ledger_is_red_and_told_by_every_command(
    capsys: pytest.CaptureFixture[str],
):
    store = small_store()
    store.ledger.append("sessions.flushed", "all", actor="mira")
    MemoryAgent().remember("The tide gauge is read at six.")
    for path in (store.root / "ledger").glob("*.jsonl"):
        with path.open("ab") as file:
            file.write(b'{"v":1,"id":}\n')
    commands = (
        ["recall", "gauge"],
        ["review", "list"],
        ["status", "--json"],
        ["explain", "tide gauge"],
        ["remember", "Use make."],
    )
    for words in commands:
        take()
        main(words)
        said = capsys.readouterr()
        assert re.search("Lines of the ledger that cannot be read: [12]", said.err + said.out), (
            words
        )
    main(["doctor", "--json"])
    report = json.loads(capsys.readouterr().out)
    (check,) = [check for check in report["data"]["checks"] if check["name"] == "ledger"]
    assert (report["ok"], check["passed"]) == (False, False)
    assert check["found"].startswith("2 cannot")


@pytest.mark.parametrize("name", [name for name in KEPT if KEPT[name][0] == "ledger"])
def test_the_doctor_names_damage_of_the_ledger(name: str):
    store = small_store()
    store.ledger.append("sessions.flushed", "all", actor="mira")
    KEPT[name][1](store.root)
    (check,) = [check for check in MemoryAgent().health().checks if check.name == "ledger"]
    assert (check.passed, check.found.splitlines()[0]) == (False, "1 cannot")
    assert "line 1" in check.found
