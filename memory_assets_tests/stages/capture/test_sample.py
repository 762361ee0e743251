"""The sample: true to the harnesses' formats, dated back from any day, the same bytes every time, no placeholder left."""

import re
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from memory_assets.harnesses.normal_form import Parsed
from memory_assets.harnesses.readers import open_reader, session_id_of
from memory_assets.stages.capture.discover import TranscriptFile, find_transcripts
from memory_assets.stages.capture.sample import PLANTED_SECRETS, lay_out, sample_root
from memory_assets.text.masking.redact import mask
from memory_assets_tests.story import session_ids

NOW = datetime(2026, 11, 21, 5, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def laid_out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return lay_out(sample_root(), tmp_path_factory.mktemp("sample"), NOW)


@pytest.fixture(scope="module")
def parsed(laid_out: Path) -> dict[str, list[Parsed]]:
    names = {session_id: name for name, session_id in session_ids().items()}
    files = find_transcripts([laid_out])
    return {names[session_id_of(file.harness, str(file.path), ())]: read(file) for file in files}


def read(file: TranscriptFile) -> list[Parsed]:
    reader = open_reader(file.harness, str(file.path))
    return [reader.read(line) for line in file.path.read_bytes().splitlines()]


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_folder_that_was_half_filled_is_completed_with_its_first_dates(
    laid_out: Path, tmp_path: Path
) -> None:
    lay_out(sample_root(), tmp_path, NOW)
    next(iter(sorted(tmp_path.rglob("*.jsonl")))).unlink()
    lay_out(sample_root(), tmp_path, NOW + timedelta(days=1))
    assert contents(tmp_path) == contents(laid_out)


def test_the_planted_secrets_are_laid_out_and_in_no_file_of_the_sample(laid_out: Path) -> None:
    transcripts = b"".join(contents(laid_out).values()).decode()
    shipped = b"".join(contents(sample_root()).values()).decode()
    assert [name for name, secret in PLANTED_SECRETS.items() if secret not in transcripts] == []
    assert [name for name, secret in PLANTED_SECRETS.items() if secret in shipped] == []


def test_capture_masks_the_planted_secrets_and_nothing_else(laid_out: Path) -> None:
    masked = {path: mask(path.read_bytes()) for path in laid_out.rglob("*.jsonl")}
    assert [
        secret
        for secret in PLANTED_SECRETS.values()
        if any(secret.encode() in text for text, _ in masked.values())
    ] == []
    assert {path.name for path, (_, count) in masked.items() if count} == {
        f"rollout-2026-11-11T10-59-58-{session_ids()['14-deploy-fly']}.jsonl"
    }


def test_readme_lists_every_session(laid_out: Path, parsed: dict[str, list[Parsed]]) -> None:
    rows = re.findall(
        r"^\| \[(\d\da?-[\w-]+)\] \| ([\d, ]+) \| ([\w ]+) \| ([\w-]+) \|", readme(), re.MULTILINE
    )
    harnesses = {"claude_code": "Claude Code", "codex": "Codex", "pi": "pi"}
    ids = {
        session_id_of(file.harness, str(file.path), ()): harnesses[file.harness]
        for file in find_transcripts([laid_out])
    }
    assert {(name, harness, project) for name, _, harness, project in rows} == {
        (name, ids[session_id], next(Path(line.cwd).name for line in parsed[name] if line.cwd))
        for name, session_id in session_ids().items()
    }
    for name, listed, *_ in rows:
        days = {
            (date(2026, 11, 20) - line.event_at.date()).days + 1
            for line in parsed[name]
            if line.event_at
        }
        assert {int(day) for day in listed.split(",")} <= days


def readme() -> str:
    return (sample_root() / "README.md").read_text()
