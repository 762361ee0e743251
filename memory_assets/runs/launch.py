"""Starts runs and the UI for the command line: the same jobs that the sensors start, in this process, in order.

Dagster is imported only when there is something to run, so that finding nothing to do costs no import.
"""

import os
import socket
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from memory_assets.errors import StoreError
from memory_assets.runs import pending
from memory_assets.runs.days import Stretch, stretches
from memory_assets.store.settings import RULES
from memory_assets.store.store import Store
from memory_assets.text.files import make_folder, write_atomically

if TYPE_CHECKING:
    import dagster as dg


QUIET = {"loggers": {"console": {"config": {"log_level": "ERROR"}}}}
"""Run configuration that keeps Dagster's log of a run out of the terminal; the UI has it all the same."""


IN_PART = {
    "learn_branch": ["observer_answers", "segments", "observations", "verdicts", "embeddings"],
    "fold_branch": ["merges", "memories"],
    "reflect_branch": ["reflections", "proposals"],
    "triage_branch": ["amendments", "decisions", "trust", "memory_md", "entries"],
    "propose": ["proposals"],
}
"""Jobs of less than the usual ones: in a branch of a store, everything on the way to MEMORY.md, and no index, briefing or
REVIEW.md; proposals alone, where nobody is to be asked what the day says."""


@dataclass
class Ran:
    """What one call did: the jobs it ran, in order, and how long it took in seconds."""

    jobs: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def is_nothing(self) -> bool:
        """Whether there was nothing to do."""
        return not self.jobs


def ingest(store: Store, *, reflect: bool = True) -> Ran:
    """Brings every table up to date with the transcripts, then reflects and triages; does nothing when nothing is new."""
    started = time.monotonic()
    ran = Ran()
    runner = _Runner(store, ran)
    if pending.events_wait(store) or pending.capture_is_due(store):
        runner.run("capture")
    for stretch in stretches(pending.days_to_learn(store)):
        runner.run("learn", stretch)
    if pending.fold_is_behind(store) or pending.index_is_missing(store) or pending.graph_is_behind(store):
        runner.run("fold")
    if reflect:
        for stretch in stretches(pending.days_to_reflect(store.tables)):
            runner.run("reflect", stretch)
        for job, span in pending.DISTILLING:
            if periods := pending.periods_to_distil(store, span):
                runner.run(job, Stretch(periods[0], periods[-1]))
        for stretch in stretches(pending.days_to_find_friction(store)):
            runner.run("find_friction", stretch)
        if pending.review_is_due(store):
            runner.run("triage")
        if pending.reviews_are_due(store):
            runner.run("review")
    if pending.briefing_is_behind(store):
        runner.run("brief")
    if pending.evaluation_is_behind(store):
        runner.run("evaluate")
    ran.seconds = time.monotonic() - started
    return ran


def backfill(store: Store, days: Iterable[date]) -> Ran:
    """Asks the model about the days as if for the first time, then brings everything else up to date."""
    started = time.monotonic()
    ran = Ran()
    runner = _Runner(store, ran)
    for stretch in stretches(days):
        runner.run("learn", stretch, ask_again=True)
    ran.jobs += ingest(store).jobs
    ran.seconds = time.monotonic() - started
    return ran


def rematerialise(store: Store, days: Sequence[date], *, retire: Callable[[], bool]) -> Ran:
    """Makes the days anew as the settings say now, up to MEMORY.md; asks a model about these days alone.

    In a branch of a store the other days stay as they are; else those that the settings made stale follow, as far as that takes
    no model. `retire` is called when memories are folded and returns whether lines of MEMORY.md have to go: these go before
    anybody decides what is proposed instead.
    """
    started = time.monotonic()
    ran = Ran()
    is_branch = store.origin is not None
    suffix = "_branch" if is_branch else ""
    runner = _Runner(store, ran, IN_PART)
    for stretch in stretches(days):
        runner.run(f"learn{suffix}", stretch, ask_again=True)
    others = [] if is_branch else [day for day in pending.days_to_learn(store) if day not in days]
    for stretch in stretches(others):
        runner.run("learn", stretch)
    runner.run(f"fold{suffix}")
    if retire():
        runner.run(f"triage{suffix}")
    due = pending.days_to_reflect(store.tables)
    told = due if store.settings.model == RULES else [day for day in due if day in days]
    for stretch in stretches(told):
        runner.run(f"reflect{suffix}", stretch)
    for stretch in stretches(set(due) - {*told, *others}):
        runner.run("propose", stretch)
    runner.run(f"triage{suffix}")
    if not is_branch and pending.briefing_is_behind(store):
        runner.run("brief")
    ran.seconds = time.monotonic() - started
    return ran


def triage(store: Store) -> Ran:
    """Carries out the decisions in the ledger and in REVIEW.md."""
    ran = Ran()
    _Runner(store, ran).run("triage")
    return ran


class _Runner:
    """Runs jobs in this process against the store's own Dagster instance, which is opened when first needed."""

    def __init__(self, store: Store, ran: Ran, others: Mapping[str, Sequence[str]] = MappingProxyType({})) -> None:
        self._store = store
        self._ran = ran
        self._others = others
        """Jobs beside the usual ones, with their assets."""
        self._definitions: dg.Definitions | None = None

    def run(self, job: str, stretch: Stretch | None = None, *, ask_again: bool = False) -> None:
        quieten()
        import dagster as dg

        from memory_assets.definitions import assemble
        from memory_assets.runs.jobs import LEARN, NEW_ONLY, tags_of

        if self._definitions is None:
            settings = self._store.settings
            usual = assemble(settings.timezone, settings.model, settings.observer_prompt)
            jobs = [dg.define_asset_job(name, selection=dg.AssetSelection.assets(*keys)) for name, keys in self._others.items()]
            self._definitions = dg.Definitions.merge(usual, dg.Definitions(jobs=jobs)) if jobs else usual
        with open_instance(self._store) as instance:
            result = self._definitions.resolve_job_def(job).execute_in_process(
                instance=instance,
                run_config={**QUIET, **(NEW_ONLY if job == LEARN and not ask_again else {})},
                resources={"store": self._store},
                tags=tags_of(job, stretch),
                raise_on_error=True,
            )
        if not result.success:
            raise StoreError(f"The run of '{job}' failed; see run {result.run_id} in the Dagster UI (`memory up`).")
        self._ran.jobs.append(job)


@contextmanager
def open_instance(store: Store) -> Iterator["dg.DagsterInstance"]:
    """Opens the store's Dagster instance, making its home first; two processes never initialise it at once."""
    import dagster as dg

    with store.lock():
        make_home(store)
    with dg.DagsterInstance.from_config(str(store.dagster_home)) as instance:
        yield instance


def make_home(store: Store) -> Path:
    """Makes DAGSTER_HOME with its configuration and database, where there is none yet."""
    import dagster as dg

    home = make_folder(store.dagster_home)
    if not (home / "dagster.yaml").is_file():
        content = files("memory_assets.runs").joinpath("dagster.yaml").read_bytes()
        with dg.DagsterInstance.from_config(str(home)):
            pass
        write_atomically(home / "dagster.yaml", content)
    return home


def serve(store: Store, port: int, environ: dict[str, str]) -> int:
    """Serves the Dagster UI with its sensors and schedules until it is stopped; returns its exit code."""
    import subprocess

    with store.lock():
        make_home(store)
    command = [sys.executable, "-m", "dagster", "dev", "-m", "memory_assets.definitions", "-h", "127.0.0.1", "-p", str(port)]
    variables = {**os.environ, **environ, "DAGSTER_HOME": str(store.dagster_home), "PYTHONWARNINGS": "ignore"}
    process = subprocess.Popen([*command, "--log-level", "warning"], env=variables, cwd=store.root)
    try:
        return process.wait()
    except KeyboardInterrupt:
        process.wait(timeout=30)
        return 0


def free_port(wanted: int) -> int:
    """Returns the wanted port, or the next one that nothing listens on."""
    for port in range(wanted, min(wanted + 100, 65_536)):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise StoreError(f"No port between {wanted} and {wanted + 99} is free; choose one with --port.")


def quieten() -> None:
    """Keeps Dagster's run log and its notices about beta features out of the terminal."""
    import logging
    import warnings

    import dagster as dg

    logging.getLogger("dagster").setLevel(logging.ERROR)
    for notice in (dg.BetaWarning, dg.PreviewWarning, dg.SupersessionWarning):
        warnings.filterwarnings("ignore", category=notice)
