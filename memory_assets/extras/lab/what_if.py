"""Builds a range of days with other settings in a branch of the store, then adopts or drops it.

`estimate` returns the cost, `make` builds the branch, `show` compares it with the tables it started
from, `adopt` writes its settings into `memory.toml` and rebuilds the store with them, `drop`
deletes it. Branch and store are built by the same steps (`launch.rematerialise`), so an adoption
gives the result that was shown, unless something was added meanwhile.

Every step can be killed. A branch is continued where it stopped, the next run finishes an adoption,
and no model is paid twice.
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

import polars as pl

from memory_assets.adapters.git_workspace import GitWorkspace
from memory_assets.errors import QuestionError, SettingsError, StoreError, UnknownBranchError
from memory_assets.extras.lab import branches, compare
from memory_assets.extras.lab.branches import Branch, BranchFolder, branches_of
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
from memory_assets.stages.distill.model.answer_rows import total_price
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
"""Settings that change what is built from the same windows. Other settings change the windows
themselves, or concern other machines.
"""

OF_A_MODEL = frozenset(("model_url", "reflector_url", "observer_prompt"))
"""Settings that change nothing without a model."""

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
    """Calls of a model, with their tokens and their price in US dollars, None if it is unknown."""

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
    """Calls about windows whose answer is stored: they cost nothing."""
    cost: BranchCost
    """Calls about windows; where a model reflects, it is called for their days as well."""
    usd_in_batches: float | None


@dataclass(frozen=True)
class Side:
    """The text of MEMORY.md, or of a project's file, before the branch was built and after."""

    path: str
    before: str
    after: str


@dataclass(frozen=True)
class WhatIf:
    """A branch compared with the tables it started from."""

    name: str
    days: tuple[date, ...]
    settings: tuple[SettingChange, ...]
    observations: compare.Comparison
    """Allowed facts of these days."""
    memories: compare.Comparison
    """Those that rest on facts of these days."""
    files: tuple[Side, ...]
    """MEMORY.md, and the projects' files that differ."""
    cost: BranchCost
    seconds: float
    other_days: int
    """Number of days outside the range that adopting would rebuild, too."""


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
    prices = [*(day.usd_in_batches for day in costs.days), *(step.usd for step in costs.others)]
    cost = BranchCost(costs.calls, sent, received, costs.usd)
    return Estimate(name, days, differing, answered, cost, total_price(prices))


def make(
    store: Store,
    first: date | None,
    last: date | None,
    changes: Mapping[str, str],
    name: str | None,
) -> WhatIf:
    """Builds the branch, or continues after a kill; returns it compared with its first tables."""
    settings = _checked(store, changes)
    days = _days(store, first, last)
    _open_models(settings, store)  # a missing key fails here, before anything is built
    place = BranchFolder(store, _checked_name(name or _name_of(changes)))
    values = {name: str(_plain(getattr(settings, name))) for name in changes}
    versions = _versions_of(settings)
    request = Branch(place.name, days[0], days[-1], values, time.time(), versions)
    branch = _begin_or_continue(place, request)
    run = launch.rematerialise(
        place.open(settings), days, retire=lambda: _retire_unsupported(place, settings)
    )
    place.write(replace(place.read(), state="made", seconds=branch.seconds + run.seconds))
    _log(store, "create", f"Built the branch {place.name} for {days[0]} to {days[-1]}", branch)
    return show(store, place.name)


def show(store: Store, name: str) -> WhatIf:
    """Returns the branch compared with the tables it started from.

    Raises `StoreError` where it is not complete.
    """
    place, branch, settings = _open_complete(store, name)
    days = days_between(store.tables, branch.first, branch.last)
    past = place.past_tables
    present = place.open(settings).tables
    old_facts = past.read("observations", map(str, days))
    new_facts = present.read("observations", map(str, days))
    # Notes and facts of other days are as they were; what was saved since the build is no change.
    facts = [*old_facts["id"], *new_facts["id"]]
    is_of_days = pl.col("observation_ids").list.set_intersection(facts).list.len() > 0
    memories = compare.compare_memories(
        past.read("memories").filter(is_of_days),
        present.read("memories").filter(is_of_days),
        compare.reworded(old_facts, new_facts),
        (compare.held_reasons(old_facts), compare.held_reasons(new_facts)),
    )
    stale_after = _stale_days(Store(settings, store.root))
    return WhatIf(
        name=branch.name,
        days=tuple(days),
        settings=_differing(store.settings, settings, branch.changes),
        observations=compare.compare_observations(old_facts, new_facts),
        memories=memories,
        files=_sides(place),
        cost=_paid(store, settings, branch.began_at),
        seconds=round(branch.seconds, 1),
        other_days=len(stale_after - _stale_days(store) - set(days)),
    )


def list_branches(store: Store) -> tuple[Branch, ...]:
    """Returns the branches of the store."""
    return tuple(place.read() for place in branches_of(store))


def adopt(store: Store, name: str) -> Adopted:
    """Writes the branch's settings, rebuilds the store with them, then deletes the branch."""
    place, branch, settings = _open_complete(store, name)
    _check_environment(branch.changes, settings)
    if branch.made_by != _versions_of(settings):
        raise StoreError(
            f"The prompt, the taxonomy or this release's rules changed since the branch '{name}' "
            f"was built. Drop it (`memory lab what-if drop {name}`), and build it again."
        )
    changed_store = _open_models(settings, store)
    start = time.time()
    differing = _differing(store.settings, settings, branch.changes)
    # From here on, the next run finishes an interrupted adoption.
    place.write(replace(branch, state="adopting"))
    path = write_settings({name: _plain(getattr(settings, name)) for name in branch.changes})
    days = days_between(changed_store.tables, branch.first, branch.last)
    run = launch.rematerialise(
        changed_store, days, retire=lambda: _retire(changed_store, branch.leaving)
    )
    keep_status(changed_store, is_sample=is_sample(settings))
    _log(store, "configure", f"Adopted the branch {name}", branch)
    branches.drop(place)
    cost = _paid(changed_store, settings, start)
    return Adopted(name, differing, path, tuple(run.jobs), cost, round(run.seconds, 1))


def drop(store: Store, name: str) -> None:
    """Deletes the branch. Answers of models that were paid for stay in the store."""
    place = BranchFolder(store, _checked_name(name))
    branches.drop(place)
    notify("acted", store, "configure", f"Dropped the branch {name}", "a what-if")


def _log(store: Store, action: str, detail: str, branch: Branch) -> None:
    """Notifies the listeners of what was done with the branch."""
    changes = ", ".join(f"{name}={value}" for name, value in branch.changes.items())
    notify("acted", store, action, f"{detail}: {changes}", "a what-if")


def _checked(store: Store, changes: Mapping[str, str]) -> Settings:
    """Returns the store's settings with the changes.

    Raises `SettingsError` where the changes cannot be used or change nothing.
    """
    unknown = [name for name in changes if name not in MAY_DIFFER]
    if not changes or unknown:
        problem = "No setting was given."
        if unknown:
            problem = f"{', '.join(unknown)} cannot be tried on past days."
        names = ", ".join(MAY_DIFFER)
        raise SettingsError(
            f"{problem} Give one of these, as in --set facts_per_session=1: {names}."
        )
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
    """Returns the days with transcripts in the range; raises `StoreError` where there are none."""
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
    """Returns the hash of the prompt and the version of the standards.

    Raises `SettingsError` where a file of the settings cannot be read.
    """
    return f"{prompt_hash(settings.observer_prompt)} {standards_of(settings).version}"


def _begin_or_continue(place: BranchFolder, request: Branch) -> Branch:
    """Creates the branch, or returns the unfinished one of the same request.

    Raises `StoreError` where another branch has the name.
    """
    try:
        branch = place.read()
    except UnknownBranchError:
        return branches.begin(place, request)
    if branch.state == "making" and _request_of(branch) == _request_of(request):
        return branch
    contents = f"{branch.first} to {branch.last} with {_as_options(branch.changes)}"
    raise StoreError(
        f"There is a branch '{place.name}' already, {contents}. Run `memory lab what-if show "
        f"{place.name}` or `drop {place.name}`, or give this one another --name."
    )


def _open_complete(store: Store, name: str) -> tuple[BranchFolder, Branch, Settings]:
    """Returns the folder, the record and the settings of a branch; raises `StoreError` for an
    unfinished one.
    """
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


def _retire_unsupported(place: BranchFolder, settings: Settings) -> bool:
    """Removes from the branch the lines that rules promoted and that lost their memory in it.

    Their proposals are noted in the branch's record, for an adoption. Returns whether a line was
    removed.
    """
    branch = place.open(settings)
    workspace = GitWorkspace(place.past / "workspace")
    triage = Triage(workspace, branch.ledger, place.past_tables, branch.archive, rules_of(settings))
    old_entries = triage.entry_statuses()
    new_entries = replace(triage, tables=branch.tables).entry_statuses()
    leaving = []
    for old, new in zip(old_entries, new_entries, strict=True):
        is_lost = _exists(old.memory) and not _exists(new.memory)
        if is_lost and old.promotion and old.promotion.actor == BY_RULES:
            leaving.append(old.promotion.target)
    place.write(replace(place.read(), leaving=tuple(leaving)))
    return _retire(branch, leaving)


def _retire(store: Store, proposal_ids: Collection[str]) -> bool:
    """Removes the lines of these proposals that have no memory in this store; returns whether there
    was one.
    """
    with store.lock():
        triage = triage_of(store)
        unsupported = [entry for entry in triage.entry_statuses() if not _exists(entry.memory)]
        targets = [entry.promotion.target for entry in unsupported if entry.promotion]
        removed = [id for id in targets if id in proposal_ids]
        triage.retire(removed)
    return bool(removed)


def _exists(memory: Mapping[str, Any] | None) -> bool:
    """Returns whether the memory of a line exists.

    A superseded memory does, because a person decides about its line.
    """
    return memory is not None and memory["state"] in (*VALID_STATES, "superseded")


def _sides(place: BranchFolder) -> tuple[Side, ...]:
    past = place.past / "workspace"
    present = place.root / "workspace"
    paths = dict.fromkeys([*memory_files(past), *memory_files(present)])
    sides = [Side(path, text_of(past / path), text_of(present / path)) for path in paths]
    return tuple(side for side in sides if side.path == MEMORY_MD or side.before != side.after)


def _paid(store: Store, settings: Settings, since: float) -> BranchCost:
    """Returns the cost of the answers of models that came since the moment."""
    if not settings.uses_models:
        return FREE
    entries = answers_since(store, since)
    prices = prices_of(settings)
    sent = 0
    received = 0
    for entry in entries:
        answer = entry.answer
        sent += answer.input_tokens + answer.cache_read_tokens + answer.cache_write_tokens
        received += answer.output_tokens
    usd = total_price(cost_of(entry.answer, prices, entry.key.model) for entry in entries)
    return BranchCost(len(entries), sent, received, usd)


def _open_models(settings: Settings, store: Store) -> Store:
    """Returns the store with these settings; raises `ModelSetupError` where their models cannot be
    asked.
    """
    opened = Store(settings, store.root)
    for role in get_args(Role):
        open_model(opened, role)
    return opened


def _stale_days(store: Store) -> set[date]:
    return set(stale_days(store, "process_days"))


def _differing(
    present: Settings, settings: Settings, names: Iterable[str]
) -> tuple[SettingChange, ...]:
    values = ((name, getattr(present, name), getattr(settings, name)) for name in names)
    return tuple(SettingChange(name, _plain(old), _plain(new)) for name, old, new in values)


def _check_environment(changes: Iterable[str], settings: Settings) -> None:
    """Raises `SettingsError` where an environment variable overrides the file with another
    value.
    """
    for name in changes:
        variable = f"MEMORY_{name.upper()}"
        value = os.environ.get(variable)
        target = getattr(settings, name)
        if value and getattr(changed_settings(settings, {name: value}), name) != target:
            raise SettingsError(
                f"{variable}={value} is set in the environment, which overrides memory.toml. Set "
                f"it to {target}, or unset it wherever memory runs (the Dagster UI, too), then "
                "adopt again."
            )


def _plain(value: Any) -> Value:
    """Returns the value of a setting as `memory.toml` has it."""
    return str(value) if isinstance(value, Path) else value
