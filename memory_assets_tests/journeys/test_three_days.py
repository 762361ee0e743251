"""Three simulated days with a dead daemon, a full disk and a clock set back: each fault is red in time, and nothing is doubled.

The sensors and schedules of Dagster are evaluated at each simulated hour, as its daemon does: run keys are used once, and after
a pause only the last time of each schedule is evaluated. Their runs build the tables without Dagster's machinery.
"""

import errno
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.errors import ScheduleExecutionError
from dagster._utils.schedules import get_latest_completed_cron_tick

from memory_assets.assets.automation import SCHEDULES, make_schedules
from memory_assets.definitions import assemble
from memory_assets.errors import MemoryAssetsError
from memory_assets.runs.days import RANGE_END, RANGE_START, STARTED_BY, Stretch
from memory_assets.runs.freshness import check_deadlines, find_waiting
from memory_assets.schema.tables import JOBS
from memory_assets.stages.deliver.silence import late_input
from memory_assets.store.ledger import Ledger
from memory_assets.store.store import Store
from memory_assets_tests.dagster_runs import EARLY
from memory_assets_tests.once import only_whole
from memory_assets_tests.simulated import advance, at_moment, run, store_at, write_session

START = datetime(2026, 8, 3, 10, tzinfo=UTC)
"""A Monday; the last hours are past the schedules of Thursday morning."""

HOUR = timedelta(hours=1)
SESSIONS = (1, 5, 31, 33, 63)
"""Hours at which a session ends; the clock's, not the real ones."""

DEAD, FULL, SET_BACK = range(4, 31), range(32, 59), 62
"""Hours without a daemon, with a full disk, and the one at which the clock is set back."""

BACK = timedelta(hours=2)
DAILY = {name: cron for name, _, cron, *_ in SCHEDULES if not cron.startswith("*/")}


@dataclass
class Daemon:
    """Evaluates sensors and schedules, and carries out their requests, one after the other."""

    instance: dg.DagsterInstance
    ran: list[tuple[datetime, str, str]] = field(default_factory=list)
    """When, which job, started by what: the runs that succeeded."""
    _keys: set[tuple[str, str]] = field(default_factory=set)
    _ticks: dict[str, datetime] = field(default_factory=dict)

    def tick(self, store: Store) -> None:
        """Evaluates everything at the store's moment; the sensors until they request nothing more."""
        loaded = assemble(store.settings, EARLY, store).get_repository_def()
        self._schedules(store, loaded)
        for _ in range(6):
            requested = [self._sensor(sensor, store, loaded) for sensor in loaded.sensor_defs]
            if not any(requested):
                break

    def _schedules(self, store: Store, loaded: dg.RepositoryDefinition) -> None:
        for schedule in make_schedules("UTC"):
            now = store.settings.clock()
            slot = get_latest_completed_cron_tick(str(schedule.cron_schedule), now, "UTC")
            before = self._ticks.setdefault(schedule.name, START)
            if slot > before:
                given = {"resources": {"store": store}, "repository_def": loaded}
                context = dg.build_schedule_context(
                    self.instance, scheduled_execution_time=slot, **given
                )
                try:
                    requests = schedule.evaluate_tick(context).run_requests or []
                except ScheduleExecutionError:
                    continue  # a failed tick; it is evaluated again
                self._carry_out(schedule.name, requests, store, schedule.job_name)
                self._ticks[schedule.name] = slot

    def _sensor(
        self, sensor: dg.SensorDefinition, store: Store, loaded: dg.RepositoryDefinition
    ) -> int:
        with dg.build_sensor_context(
            self.instance, repository_def=loaded, resources={"store": store}
        ) as context:
            try:
                found = sensor(context)
            except OSError:
                return 0  # a failed tick
        assert isinstance(found, dg.SensorResult)
        return self._carry_out(sensor.name, found.run_requests or [], store, None)

    def _carry_out(
        self, by: str, requests: Sequence[dg.RunRequest], store: Store, job: str | None
    ) -> int:
        count = 0
        for request in requests:
            if request.run_key and (by, request.run_key) in self._keys:
                continue
            self._keys.add((by, request.run_key or str(len(self._keys))))
            name, days = (
                request.job_name or job,
                [request.tags.get(tag, "") for tag in (RANGE_START, RANGE_END)],
            )
            assert name is not None
            is_of_days = JOBS[name].is_partitioned
            stretch = (
                Stretch(*(datetime.fromisoformat(day).date() for day in days))
                if is_of_days
                else None
            )
            try:
                run(store, name, stretch)
            except (MemoryAssetsError, OSError):
                continue  # the run failed
            self.ran.append((store.settings.clock(), name, request.tags[STARTED_BY]))
            count += 1
        return count


@contextmanager
def full_disk() -> Iterator[None]:
    """No file can be replaced, and nothing be appended to the ledger or the archive."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "replace", refuse)
        patch.setattr(Ledger, "_write", refuse)
        yield


@pytest.mark.slow
@only_whole("the tests of schedules and of freshness hold what each fault does alone")
def test_three_days_with_faults(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    sources = tmp_path / "sources"
    sources.mkdir()
    opened = store_at(
        START, sources=str(sources), owner="mira", harness_memories=False, idle_minutes=30
    )
    reds: dict[int, set[str]] = {}
    silent: dict[int, bool] = {}
    with dg.DagsterInstance.local_temp(str(tmp_path / "home")) as instance:
        daemon = Daemon(instance)
        for hour in range(73):
            offset = BACK if hour >= SET_BACK else timedelta()
            now = START + hour * HOUR - offset
            for number, at in enumerate(SESSIONS):
                if now == START + at * HOUR and hour >= at:
                    write_session(sources, number, now)
            store = at_moment(opened, now)
            if hour in FULL:
                with full_disk():
                    daemon.tick(store)
            elif hour not in DEAD:
                daemon.tick(store)
            reds[hour] = {check.name for check in check_deadlines(store) if not check.passed}
            silent[hour] = late_input(str(store.root), now.timestamp()) is not None
    end = at_moment(opened, START + 72 * HOUR - BACK)

    # Red within the deadline, green again after the fault.
    table = [("dead daemon", 5, DEAD), ("full disk", 33, FULL)]
    with capsys.disabled():
        print(
            f"\n{'fault':<14}{'input waits from':>18}{'deadline':>10}{'red from':>10}{'green from':>12}  first red"
        )
        for name, begun, hours in table:
            red = [hour for hour in range(begun, 73) if reds[hour]]
            first = red[0]
            green = next(hour for hour in range(first, 73) if not reds[hour])
            print(
                f"{name:<14}{begun:>16} h{24:>8} h{first:>8} h{green:>10} h  {', '.join(sorted(reds[first]))}"
            )
            assert begun < first <= begun + 25, name
            assert hours.stop <= green <= hours.stop + 1, name
            assert "resources" in reds[first]
    assert not any(reds[hour] for hour in range(60, 73)), (
        "the clock set back is no fault of the store"
    )

    # Everything due was done, once.
    assert [one.name for one in find_waiting(end)] == []
    starters = Counter((name, job, get_latest_completed_cron_tick(DAILY[name], at, "UTC"))
                       for at, job, by in daemon.ran for name, own, *_ in SCHEDULES
                       if own == job and name in DAILY and by in (name, "overdue_jobs"))  # fmt: skip
    assert [key for key, count in starters.items() if count > 1] == []
    assert {job for _, job, by in daemon.ran if by == "overdue_jobs"} >= {"reflect"}, (
        "what was missed did not wait for 06:00"
    )

    # The tables are those of one run at the end.
    whole = store_at(START + 72 * HOUR - BACK, data=tmp_path / "whole", sources=str(sources), owner="mira",
                     harness_memories=False, idle_minutes=30)  # fmt: skip
    for _ in range(2):
        advance(whole)
    for name in ("windows", "messages", "observations", "verdicts", "reflections"):
        made, expected = (
            store.tables.read(name).drop("^.*_at$", strict=False) for store in (end, whole)
        )
        assert made.equals(expected), name
    for name, columns in (
        ("memories", ["id", "state", "text"]),
        ("proposals", ["memory_id", "day", "section", "text"]),
    ):
        made, expected = (
            store.tables.read(name).select(columns).sort(columns) for store in (end, whole)
        )
        assert made.equals(expected), name
    numbered = [event.payload["key"] for event in end.ledger.events(["proposal.numbered"])]
    assert len(numbered) == len(set(numbered)) >= end.tables.read("proposals").height > 0
