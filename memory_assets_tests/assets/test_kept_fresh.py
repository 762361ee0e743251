"""What each asset says of its jobs and of what starts them, which is what the sensors and schedules do."""

from memory_assets.assets.automation import SCHEDULES, SENSORS
from memory_assets.assets.kept_fresh import starters_of
from memory_assets.schema.tables import JOBS


def test_every_job_is_started_by_something_that_exists():
    names = {sensor.name for sensor in SENSORS} | {name for name, *_ in SCHEDULES}
    for job in JOBS:
        assert starters_of(job) and starters_of(job).keys() <= names
