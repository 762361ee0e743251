"""What-if: builds a range of days with other settings in a branch of the store, shows the
differences, adopts or drops it.

`estimate` returns the cost, `make` builds the branch, `show` compares it with the tables it started
from, `adopt` writes its settings into `memory.toml` and rebuilds the store with them, `drop`
deletes it. The branch and, after adopting, the store are built by the same steps
(`launch.rematerialise`), so the result is the one that was shown, unless something was added
meanwhile. Every step can be killed: a branch continues where it stopped, the next run finishes an
adoption, and nothing is paid twice.
"""

import os
import re
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from operator import attrgetter
from pathlib import Path
from typing import Any, get_args

from memory_assets.adapters.git_workspace import GitWorkspace
from memory_assets.errors import QuestionError, SettingsError, StoreError, UnknownBranchError
from memory_assets.extras.lab import branches
from memory_assets.extras.lab.branches import Branch, BranchFolder, branches_of
from memory_assets.extras.lab.compare import (
    Comparison,
    compare_memories,
    compare_observations,
    held_reasons,
    reworded,
)
from memory_assets.runs import launch
from memory_assets.runs.days import days_between
from memory_assets.runs.staleness import stale_days
from memory_assets.schema.extras import notify
from memory_assets.schema.records import MEMORY_MD, VALID_STATES
from memory_assets.services.health.status import keep_status
from memory_assets.services.models.model_budget import answers_since
from memory_assets.services.models.model_questions import Consultation
from memory_assets.services.models.open_models import open_model
from memory_assets.services.models.prices import cost_of, prices_of
from memory_assets.services.review.open_triage import rules_of, triage_of
from memory_assets.services.settings.which_store import is_sample
from memory_assets.stages.distill.model.questions import prompt_hash
from memory_assets.stages.distill.standards import standards_of
from memory_assets.stages.triage.decisions import RULES as BY_RULES
from memory_assets.stages.triage.projects import memory_files
from memory_assets.stages.triage.run import Triage
from memory_assets.store.settings import RULES, Role, Settings, changed_settings
from memory_assets.store.settings_file import Value, write_settings
from memory_assets.store.store import Store
from memory_assets.text.files import text_of

MAY_DIFFER = (
    "model", "model_url", "reflector_model", "reflector_url", "observer_prompt", "taxonomy",
    "optional_categories", "least_useful", "facts_per_session", "trust_after",
)  # fmt: skip
"""Settings that change what is built from the same windows; the others change the windows, or
concern other machines.
"""

OF_A_MODEL = frozenset(("model_url", "reflector_url", "observer_prompt"))
_request_of = attrgetter("first", "last", "changes", "made_by")
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}", re.I)


@dataclass(frozen=True)
class SettingChange:
    """A setting that differs, with its value in the store and in the branch."""

    name: str
    before: Any
    after: Any


@dataclass(frozen=True)
class BranchCost:
    """Calls of a model, with their tokens and price in US dollars; no price where that of the model
    is unknown.
    """

    calls: int
    input_tokens: int
    output_tokens: int
    usd: float | None


FREE = BranchCost(0, 0, 0, 0.0)


@dataclass(frozen=True)
class Estimate:
    """The cost of a branch that was not built."""

    name: str
    days: tuple[date, ...]
    settings: tuple[SettingChange, ...]
    answered: int
    """Calls about windows with a stored answer: they cost nothing."""
    cost: BranchCost
    """Calls about windows; calls for the reflections of their days follow, where a model is
    configured.
    """
    usd_in_batches: float | None


@dataclass(frozen=True)
class Side:
    """A file of memory in the store and in the branch."""

    path: str
    before: str
    after: str


@dataclass(frozen=True)
class WhatIf:
    """A branch compared with the tables it started from."""

    name: str
    days: tuple[date, ...]
    settings: tuple[SettingChange, ...]
    observations: Comparison
    """Allowed facts of these days."""
    memories: Comparison
    files: tuple[Side, ...]
    """MEMORY.md, and the files of projects that differ."""
    cost: BranchCost
    seconds: float
    other_days: int
    """Days outside the range that adopting would rebuild too."""


@dataclass(frozen=True)
class Adopted:
    """The result of adopting a branch."""

    name: str
    settings: tuple[SettingChange, ...]
    path: Path
    """The file that holds the settings now."""
    jobs: tuple[str, ...]
    cost: BranchCost
    seconds: float


def estimate(
    store: Store,
    first: date | None,
    last: date | None,
    changes: Mapping[str, str],
    name: str | None,
) -> Estimate:
    """Returns the cost of a branch; asks no model and builds nothing."""
    settings = _checked(store, changes)
    days = tuple(_days(store, first, last))
    name = _checked_name(name or _name_of(changes))
    differing = _differing(store.settings, settings, changes)
    model = settings.model_of("observer")
    if model == RULES:
        return Estimate(name, days, differing, 0, FREE, 0.0)
    costs = Consultation(Store(settings, store.root), model).costs([str(day) for day in days])
    steps = (*costs.days, *costs.others)
    sent = sum(step.input_tokens for step in steps)
    received = sum(step.output_tokens for step in steps)
    answered = sum(day.answered for day in costs.days)
    prices = [day.usd_in_batches for day in costs.days] + [step.usd for step in costs.others]
    cost = BranchCost(costs.calls, sent, received, costs.usd)
    return Estimate(name, days, differing, answered, cost, _total(prices))


def make(
    store: Store,
    first: date | None,
    last: date | None,
    changes: Mapping[str, str],
    name: str | None,
) -> WhatIf:
    """Builds the branch, or continues where it was killed, and returns it compared with the tables
    it started from.
    """
    settings = _checked(store, changes)
    days = _days(store, first, last)
    _open_models(settings, store)  # fails before anything is built where a key is missing
    place = BranchFolder(store, _checked_name(name or _name_of(changes)))
    values = {name: str(_plain(getattr(settings, name))) for name in changes}
    versions = _versions_of(settings)
    branch = _begun(place, Branch(place.name, days[0], days[-1], values, time.time(), versions))
    run = launch.rematerialise(place.open(settings), days, retire=lambda: _leave(place, settings))
    place.write(replace(place.read(), state="made", seconds=branch.seconds + run.seconds))
    _log(store, "create", f"Built the branch {place.name} for {days[0]} to {days[-1]}", branch)
    return show(store, place.name)


def show(store: Store, name: str) -> WhatIf:
    """Returns the branch compared with the tables it started from; raises `StoreError` where it is
    not complete.
    """
    place, branch, settings = _made(store, name)
    days = days_between(store.tables, branch.first, branch.last)
    past = place.tables_before
    present = place.open(settings).tables
    was = past.read("observations", map(str, days))
    now = present.read("observations", map(str, days))
    memories = compare_memories(
        past.read("memories"),
        present.read("memories"),
        reworded(was, now),
        (held_reasons(was), held_reasons(now)),
    )
    return WhatIf(
        name=branch.name,
        days=tuple(days),
        settings=_differing(store.settings, settings, branch.changes),
        observations=compare_observations(was, now),
        memories=memories,
        files=_sides(place),
        cost=_paid(store, settings, branch.began_at),
        seconds=round(branch.seconds, 1),
        other_days=len(_stale_days(Store(settings, store.root)) - _stale_days(store) - set(days)),
    )


def listed(store: Store) -> tuple[Branch, ...]:
    """Returns the branches of the store."""
    return tuple(place.read() for place in branches_of(store))


def adopt(store: Store, name: str) -> Adopted:
    """Writes the branch's settings, rebuilds the store with them, and deletes the branch when that
    is complete.
    """
    place, branch, settings = _made(store, name)
    _check_environment(branch.changes, settings)
    if branch.made_by != _versions_of(settings):
        raise StoreError(
            f"The prompt, the taxonomy or this release's rules changed since the branch '{name}' "
            f"was built. Drop it (`memory lab what-if drop {name}`), and build it again."
        )
    today = _open_models(settings, store)
    start = time.time()
    differing = _differing(store.settings, settings, branch.changes)
    # From here on, the next run finishes an interrupted adoption.
    place.write(replace(branch, state="adopting"))
    path = write_settings({name: _plain(getattr(settings, name)) for name in branch.changes})
    days = days_between(today.tables, branch.first, branch.last)
    run = launch.rematerialise(today, days, retire=lambda: _retire(today, branch.leaving))
    keep_status(today, is_sample=is_sample(settings))
    _log(store, "configure", f"Adopted the branch {name}", branch)
    branches.drop(place)
    cost = _paid(today, settings, start)
    return Adopted(name, differing, path, tuple(run.jobs), cost, round(run.seconds, 1))


def drop(store: Store, name: str) -> None:
    """Deletes the branch; the answers that were paid for stay in the store."""
    place = BranchFolder(store, _checked_name(name))
    branches.drop(place)
    notify("acted", store, "configure", f"Dropped the branch {name}", "a what-if")


def _log(store: Store, action: str, detail: str, branch: Branch) -> None:
    """Notifies listeners of what was done with the branch."""
    changes = ", ".join(f"{name}={value}" for name, value in branch.changes.items())
    notify("acted", store, action, f"{detail}: {changes}", "a what-if")


def _checked(store: Store, changes: Mapping[str, str]) -> Settings:
    """Returns the store's settings with the changes; raises `SettingsError` where these change
    nothing or cannot be used.
    """
    unknown = [name for name in changes if name not in MAY_DIFFER]
    if not changes or unknown:
        problem = "No setting was given."
        if unknown:
            problem = f"{', '.join(unknown)} cannot be tried on past days."
        names = ", ".join(MAY_DIFFER)
        raise SettingsError(f"{problem} Give one of these, as in --set least_useful=0.6: {names}.")
    settings = changed_settings(store.settings, changes)
    if all(getattr(settings, name) == getattr(store.settings, name) for name in changes):
        names = ", ".join(changes)
        raise SettingsError(f"No setting would change: {names} already has that value.")
    if not settings.uses_models and not OF_A_MODEL.isdisjoint(changes):
        raise SettingsError(
            "No model is configured, so these settings change nothing. Add --set model=NAME, such "
            "as claude-haiku-4-5."
        )
    _versions_of(settings)
    return settings


def _days(store: Store, first: date | None, last: date | None) -> list[date]:
    days = days_between(store.tables, first, last)
    if days:
        return days
    every_day = days_between(store.tables, None, None)
    hint = "run `memory ingest` to read them"
    if every_day:
        hint = f"there are some from {every_day[0]} to {every_day[-1]}"
    between = f"{first or 'the first day'} and {last or 'the last day'}"
    raise StoreError(f"There are no transcripts between {between}; {hint}.")


def _checked_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        allowed = "letters, digits, dots, dashes and underscores"
        raise QuestionError(f"'{name}' cannot be the name of a branch: use {allowed}.")
    return name


def _name_of(changes: Mapping[str, str]) -> str:
    words = "-".join(f"{name}-{value.rsplit('/', 1)[-1]}" for name, value in changes.items())
    return re.sub(r"[^A-Za-z0-9._]+", "-", words).strip("-.")[:80] or "what-if"


def _versions_of(settings: Settings) -> str:
    """Returns the hash of the prompt and the version of the standards; raises `SettingsError` where
    one cannot be read.
    """
    return f"{prompt_hash(settings.observer_prompt)} {standards_of(settings).version}"


def _begun(place: BranchFolder, wanted: Branch) -> Branch:
    try:
        branch = place.read()
    except UnknownBranchError:
        return branches.begin(place, wanted)
    if branch.state == "making" and _request_of(branch) == _request_of(wanted):
        return branch
    what = f"{branch.first} to {branch.last} with {_as_options(branch.changes)}"
    raise StoreError(
        f"There is a branch '{place.name}' already, {what}. Run `memory lab what-if show "
        f"{place.name}` or `drop {place.name}`, or give this one another --name."
    )


def _made(store: Store, name: str) -> tuple[BranchFolder, Branch, Settings]:
    place = BranchFolder(store, _checked_name(name))
    branch = place.read()
    if branch.state == "making":
        options = f"--from {branch.first} --to {branch.last} {_as_options(branch.changes)}"
        raise StoreError(
            f"The branch '{name}' is not complete. `memory lab what-if {options} --name {name}` "
            "continues where it stopped."
        )
    return place, branch, changed_settings(store.settings, branch.changes)


def _as_options(changes: Mapping[str, str]) -> str:
    return " ".join(f"--set {name}={value}" for name, value in changes.items())


def _leave(place: BranchFolder, settings: Settings) -> bool:
    """Notes the lines promoted by rules that lost their memory, and removes them with the branch's
    next triage.
    """
    branch = place.open(settings)
    workspace = GitWorkspace(place.before / "workspace")
    rules = rules_of(settings)
    past, present = (
        Triage(workspace, branch.ledger, tables, branch.archive, rules).entry_statuses()
        for tables in (place.tables_before, branch.tables)
    )
    leaving = []
    for was, now in zip(past, present, strict=True):
        is_by_rules = was.promotion and was.promotion.actor == BY_RULES
        if was.promotion and is_by_rules and _exists(was.memory) and not _exists(now.memory):
            leaving.append(was.promotion.target)
    place.write(replace(place.read(), leaving=tuple(leaving)))
    return _retire(branch, leaving)


def _retire(store: Store, proposal_ids: Collection[str]) -> bool:
    """Removes those lines of these proposals that have no memory in this store; returns whether
    there are any.
    """
    with store.lock():
        triage = triage_of(store)
        lost = [entry for entry in triage.entry_statuses() if not _exists(entry.memory)]
        targets = [entry.promotion.target for entry in lost if entry.promotion]
        removed = [id for id in targets if id in proposal_ids]
        triage.retire(removed)
    return bool(removed)


def _exists(memory: Mapping[str, Any] | None) -> bool:
    """Returns whether the memory of a line exists; a superseded one does: a person decides about
    its line.
    """
    return memory is not None and memory["state"] in (*VALID_STATES, "superseded")


def _sides(place: BranchFolder) -> tuple[Side, ...]:
    past = place.before / "workspace"
    present = place.root / "workspace"
    paths = dict.fromkeys([*memory_files(past), *memory_files(present)])
    sides = [Side(path, text_of(past / path), text_of(present / path)) for path in paths]
    return tuple(side for side in sides if side.path == MEMORY_MD or side.before != side.after)


def _paid(store: Store, settings: Settings, since: float) -> BranchCost:
    """Returns the cost of the answers that came since the moment."""
    if not settings.uses_models:
        return FREE
    stored = answers_since(store, since)
    prices = prices_of(settings)
    sent = received = 0
    for answer in (entry.answer for entry in stored):
        sent += answer.input_tokens + answer.cache_read_tokens + answer.cache_write_tokens
        received += answer.output_tokens
    usd = _total(cost_of(entry.answer, prices, entry.key.model) for entry in stored)
    return BranchCost(len(stored), sent, received, usd)


def _open_models(settings: Settings, store: Store) -> Store:
    """Returns the store with the settings after opening its models; raises `ModelSetupError` where
    one cannot be asked.
    """
    opened = Store(settings, store.root)
    for role in get_args(Role):
        open_model(opened, role)
    return opened


def _total(prices: Iterable[float | None]) -> float | None:
    listed = list(prices)
    return None if None in listed else round(sum(filter(None, listed)), 6)


def _stale_days(store: Store) -> set[date]:
    return set(stale_days(store, "process_days"))


def _differing(
    today: Settings, settings: Settings, names: Iterable[str]
) -> tuple[SettingChange, ...]:
    values = ((name, getattr(today, name), getattr(settings, name)) for name in names)
    return tuple(SettingChange(name, _plain(old), _plain(new)) for name, old, new in values)


def _check_environment(changes: Iterable[str], settings: Settings) -> None:
    """Raises `SettingsError` where an environment variable overrides the file with another
    value.
    """
    for name in changes:
        variable = f"MEMORY_{name.upper()}"
        value = os.environ.get(variable)
        wanted = getattr(settings, name)
        if value and getattr(changed_settings(settings, {name: value}), name) != wanted:
            raise SettingsError(
                f"{variable}={value} is set in the environment, which overrides memory.toml. Set "
                f"it to {wanted}, or unset it wherever memory runs (the Dagster UI, too), then "
                "adopt again."
            )


def _plain(value: Any) -> Value:
    return str(value) if isinstance(value, Path) else value
