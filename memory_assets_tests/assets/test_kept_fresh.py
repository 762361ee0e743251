"""What each asset says of its jobs and of what starts them, which is what the sensors and schedules do."""

import pytest

from memory_assets.assets.automation import SCHEDULES, SENSORS
from memory_assets.assets.kept_fresh import jobs_of, kept_fresh_by, starters_of
from memory_assets.schema.tables import JOBS, TABLES, tables_in


@pytest.mark.parametrize(
    ("job", "first"),
    [
        ("capture", "new_transcripts"),
        ("process_days", "new_transcripts"),
        ("reflect", "reflect_daily"),
        ("triage", "review_changes"),
        ("review", "triage_half_hourly"),
        ("monthly", "monthly"),
        ("brief", "briefing_daily"),
    ],
)
def test_what_usually_starts_a_job_comes_first(job: str, first: str):
    assert next(iter(starters_of(job))) == first


def test_every_job_is_started_by_something_that_exists():
    names = {sensor.name for sensor in SENSORS} | {name for name, *_ in SCHEDULES}
    for job in JOBS:
        assert starters_of(job) and starters_of(job).keys() <= names


def test_every_table_names_exactly_the_jobs_that_build_it():
    for table in TABLES.values():
        assert set(jobs_of(table)) == {job for job in JOBS if table in tables_in(job)}
        assert jobs_of(table)[0] == table.jobs[0]


def test_a_table_says_what_starts_its_jobs_and_how_long_input_may_wait():
    assert kept_fresh_by(TABLES["observations"]).splitlines() == [
        "- job `process_days`: the process of `memory up` (seconds after new input), sensor `new_transcripts` (every 60 seconds)",
        "- job `nightly`: schedule `nightly` (at 02:00), sensor `overdue_jobs` (if that time was missed)",
        "- by hand: `memory ingest`; input waits for 24 hours at most, then `memory doctor` fails",
    ]
