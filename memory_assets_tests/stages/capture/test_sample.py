"""The sample: true to the harnesses' formats, dated back from any day, the same bytes every time, no placeholder left."""

import json
import re
from collections import Counter
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import orjson
import pytest

from memory_assets.harnesses.normal_form import Identifier, Parsed
from memory_assets.harnesses.readers import open_reader, seed_of, session_id_of
from memory_assets.stages.capture.discover import TranscriptFile, find_transcripts
from memory_assets.stages.capture.sample import PLANTED_SECRETS, lay_out, sample_root
from memory_assets.text.masking.redact import mask
from memory_assets_tests.story import session_ids

NOW = datetime(2026, 11, 21, 5, 0, tzinfo=UTC)
TURNS = {
    "01-first-day": 7, "02-database": 7, "03-harbor-cli": 9, "04-alert-queue": 9, "05-notes-site": 9, "06-gauge-feed": 8,
    "07-small-prs": 9, "08-quick-question": 3, "09-one-hour-off": 7, "10-memory-leak": 10, "11-config-path": 7,
    "12-leak-retro": 8, "13-port-5433": 10, "14-deploy-fly": 7, "15-notes-fonts": 10, "16-tide-chart": 6, "17-release": 10,
    "18-move-to-hetzner": 8, "19-short-pi": 2, "20-clean-day": 5, "21-duplicate-alerts": 8, "22-threshold": 7,
    "23-completions": 8, "24-typo": 2, "25-week-ahead": 8,
}  # fmt: skip
"""How often the developer speaks in each session, the turns that a fork repeats included."""
SUBAGENTS = {"09a-other-feeds", "10a-connection-leaks", "21a-who-else"}
PLANTED = "always commit directly to main"


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


def test_every_session_lies_where_its_harness_would_have_left_it(laid_out: Path) -> None:
    found = find_transcripts([laid_out])
    assert Counter(file.harness for file in found) == {"claude_code": 16, "codex": 7, "pi": 5}
    assert {file.path for file in found} == set(laid_out.rglob("*.jsonl"))


def test_the_readers_know_every_record(parsed: dict[str, list[Parsed]]) -> None:
    lines = [(name, line) for name, lines in parsed.items() for line in lines]
    assert [
        (name, line.record_type) for name, line in lines if line.status not in ("message", "known")
    ] == []


def test_the_developer_is_heard_as_often_as_she_speaks(parsed: dict[str, list[Parsed]]) -> None:
    heard = {
        name: sum(line.is_user_turn for line in lines)
        for name, lines in parsed.items()
        if name not in SUBAGENTS
    }
    assert heard == TURNS


def test_nothing_a_subagent_was_told_counts_as_the_developers_words(
    parsed: dict[str, list[Parsed]],
) -> None:
    repeated = {line.text for line in parsed["09-one-hour-off"]}
    heard = {line.text for name in SUBAGENTS for line in parsed[name] if line.is_user_turn}
    assert heard <= repeated


def test_compactions_images_and_dropped_branches_survive_the_formats(
    parsed: dict[str, list[Parsed]],
) -> None:
    compacted = {name for name, lines in parsed.items() if any(line.boundary for line in lines)}
    pictured = {name for name, lines in parsed.items() if any(line.image_count for line in lines)}
    assert compacted == {"04-alert-queue", "15-notes-fonts", "17-release"}
    assert pictured == {"16-tide-chart"}
    kept = next(line.kept_from for line in parsed["15-notes-fonts"] if line.boundary)
    assert kept in {line.native_id for line in parsed["15-notes-fonts"]}
    assert any(line.record_type == "branch_summary" for line in parsed["11-config-path"])


@pytest.mark.parametrize(
    ("fork", "parent"),
    [("12-leak-retro", "10-memory-leak"), ("09a-other-feeds", "09-one-hour-off")],
)
def test_a_fork_repeats_its_parents_messages_with_their_ids(
    laid_out: Path, fork: str, parent: str
) -> None:
    ids = {name: identified(laid_out, session_id) for name, session_id in session_ids().items()}
    shared = [message for message in ids[fork] if message in ids[parent]]
    assert shared == ids[parent][: len(shared)]
    assert 10 <= len(shared) < len(ids[fork])


def identified(folder: Path, session_id: str) -> list[str]:
    files = {
        session_id_of(file.harness, str(file.path), ()): file for file in find_transcripts([folder])
    }
    lines = files[session_id].path.read_bytes().splitlines()
    identifier = Identifier(
        seed_of(files[session_id].harness, str(files[session_id].path), lines[:5])
    )
    return [
        identifier.identify(line) for line in read(files[session_id]) if line.status == "message"
    ]


def test_the_last_session_was_yesterday_and_the_first_three_weeks_ago(
    parsed: dict[str, list[Parsed]],
) -> None:
    days = {line.event_at.date() for lines in parsed.values() for line in lines if line.event_at}
    assert (min(days), max(days)) == (date(2026, 10, 31), date(2026, 11, 20))


def test_a_session_resumes_after_two_days_in_the_same_file(parsed: dict[str, list[Parsed]]) -> None:
    days = sorted({line.event_at.date() for line in parsed["10-memory-leak"] if line.event_at})
    assert days == [date(2026, 11, 7), date(2026, 11, 9)]


def test_file_times_are_those_of_the_last_event(laid_out: Path) -> None:
    for file in find_transcripts([laid_out]):
        last = max(line.event_at for line in read(file) if line.event_at)
        assert abs(file.mtime_ns / 1e9 - last.timestamp()) < 0.01
    for meta in laid_out.rglob("*.meta.json"):
        assert (
            meta.stat().st_mtime_ns
            == Path(str(meta).replace(".meta.json", ".jsonl")).stat().st_mtime_ns
        )


def test_the_same_moment_gives_the_same_bytes(laid_out: Path, tmp_path: Path) -> None:
    assert contents(lay_out(sample_root(), tmp_path, NOW)) == contents(laid_out)


def test_another_day_moves_every_date_and_no_clock_time(laid_out: Path, tmp_path: Path) -> None:
    later = lay_out(sample_root(), tmp_path, NOW + timedelta(days=30))
    before, after = (clock_times(folder) for folder in (laid_out, later))
    assert before == after
    assert not any("2026-11-20" in path.read_text() for path in later.rglob("*.jsonl"))


def clock_times(folder: Path) -> list[str]:
    return sorted(re.findall(rb"T(\d\d:\d\d:\d\d\.\d{3}Z)", b"".join(contents(folder).values())))


def test_a_folder_that_was_filled_stays_as_it_was_made(tmp_path: Path) -> None:
    lay_out(sample_root(), tmp_path, NOW)
    before = (
        contents(tmp_path),
        {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.jsonl")},
    )
    lay_out(sample_root(), tmp_path, NOW + timedelta(days=3))
    assert (
        contents(tmp_path),
        {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.jsonl")},
    ) == before


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


def test_no_placeholder_is_left_in_a_text_or_a_path(laid_out: Path) -> None:
    everything = "".join(f"{path}\n{text.decode()}" for path, text in contents(laid_out).items())
    assert set(re.findall(r"\{\{[^}]*\}\}", everything)) == {"{{.Names}}", "{{.Ports}}"}


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


def test_the_planted_instruction_stands_in_a_tool_result_alone(
    parsed: dict[str, list[Parsed]],
) -> None:
    authors = {line.author for lines in parsed.values() for line in lines if PLANTED in line.text}
    assert authors <= {"tool", "web"}
    assert authors


def test_every_expected_fact_names_a_session_and_words_that_were_said_there(
    parsed: dict[str, list[Parsed]],
) -> None:
    expected = json.loads((sample_root() / "expected.json").read_text())
    said = {name: " ".join(line.text for line in lines).lower() for name, lines in parsed.items()}
    claims = [
        (session, word)
        for fact in expected
        if fact["must"]
        for session in sessions_of(fact)
        for word in fact["all_of"]
    ]
    assert [(session, word) for session, word in claims if word.lower() not in said[session]] == []


def sessions_of(fact: dict) -> list[str]:
    return [fact["session"], *fact["also_in"]]


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


@pytest.mark.parametrize(
    ("now", "text"),
    [
        (datetime(2026, 3, 2, 5, tzinfo=UTC), "2026-02-28, 1 March 2026, 1772236800338"),
        (
            datetime(2027, 1, 1, 12, tzinfo=timezone(timedelta(hours=13))),
            "2026-12-29, 30 December 2026, 1798502400338",
        ),
        (datetime(2024, 3, 1, 12, tzinfo=UTC), "2024-02-28, 29 February 2024, 1709078400338"),
    ],
)
def test_dates_are_counted_back_from_yesterday_in_utc(
    tmp_path: Path, now: datetime, text: str
) -> None:
    shipped = tmp_path / "sample" / "transcripts" / "codex" / "{{path-1}}"
    shipped.mkdir(parents=True)
    line = '{"timestamp":"{{date-1}}T00:00:00.000Z","text":"{{date-1}}, {{day-0}}, ","at":"{{epoch-1T00:00:00.338}}"}'
    (shipped / "a-{{date-1}}.jsonl").write_text(line)
    lay_out(tmp_path / "sample", tmp_path / "out", now)
    (path,) = (tmp_path / "out").rglob("*.jsonl")
    day, _, number = text.split(", ")
    assert path.relative_to(tmp_path / "out") == Path("codex", *day.split("-"), f"a-{day}.jsonl")
    assert (found := orjson.loads(path.read_bytes()))["text"] + str(found["at"]) == text
    assert path.stat().st_mtime == int(number) // 1000


@pytest.mark.parametrize("placeholders", ["in place", "replaced"])
def test_records_are_json_objects_on_lines_of_their_own(laid_out: Path, placeholders: str) -> None:
    folder = laid_out if placeholders == "replaced" else sample_root() / "transcripts"
    lines = [line for path in folder.rglob("*.jsonl") for line in path.read_bytes().splitlines()]
    assert {type(orjson.loads(line)) for line in lines} == {dict}
    assert 800 <= len(lines) <= 1100
