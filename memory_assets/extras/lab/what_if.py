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
from memory_assets.schema.records import MEMORY_MD, VALID_STATES
from memory_assets.schema.vocabulary import SlogAction
from memory_assets.services.health.status import keep_status
from memory_assets.services.models.model_budget import answers_since
from memory_assets.services.models.model_questions import Consultation
from memory_assets.services.models.open_models import open_model
from memory_assets.services.models.prices import cost_of, prices_of
from memory_assets.services.review.open_triage import rules_of, triage_of
from memory_assets.services.settings.which_store import is_sample
from memory_assets.services.slog import log_own
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
    "optional_categories",
    "least_useful", "facts_per_session", "trust_after",
)  # fmt: skip
"""Settings that change what is built from the same windows; the others change the windows, or
concern other machines.
"""

OF_A_MODEL = ("model_url", "reflector_url", "observer_prompt")
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
    settings, days = _checked(store, changes), _days(store, first, last)
    name, differing = (
        _checked_name(name or _name_of(changes)),
        _differing(store.settings, settings, changes),
    )
    model = settings.model_of("observer")
    if model == RULES:
        return Estimate(name, tuple(days), differing, 0, FREE, 0.0)
    costs = Consultation(Store(settings, store.root), model).costs([str(day) for day in days])
    found, steps = costs.days, costs.others
    sent, received = (
        sum(getattr(one, what) for one in (*found, *steps))
        for what in ("input_tokens", "output_tokens")
    )
    cost, answered = (
        BranchCost(costs.calls, sent, received, costs.usd),
        sum(day.answered for day in found),
    )
    in_batches = _total([*(day.usd_in_batches for day in found), *(step.usd for step in steps)])
    return Estimate(name, tuple(days), differing, answered, cost, in_batches)


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
    settings, days = _checked(store, changes), _days(store, first, last)
    _open_models(settings, store)  # fails before anything is built where a key is missing
    place = BranchFolder(store, _checked_name(name or _name_of(changes)))
    kept = {name: str(_plain(getattr(settings, name))) for name in changes}
    branch = _begun(
        place, Branch(place.name, days[0], days[-1], kept, time.time(), _versions_of(settings))
    )
    ran = launch.rematerialise(place.open(settings), days, retire=lambda: _leave(place, settings))
    place.write(replace(place.read(), state="made", seconds=branch.seconds + ran.seconds))
    _log(store, "create", f"Built the branch {place.name} for {days[0]} to {days[-1]}", branch)
    return show(store, place.name)


def show(store: Store, name: str) -> WhatIf:
    """Returns the branch compared with the tables it started from; raises `StoreError` where it is
    not complete.
    """
    place, branch, settings = _made(store, name)
    days = days_between(store.tables, branch.first, branch.last)
    before, after = place.tables_before, place.open(settings).tables
    was, now = (tables.read("observations", map(str, days)) for tables in (before, after))
    return WhatIf(
        name=branch.name,
        days=tuple(days),
        settings=_differing(store.settings, settings, branch.changes),
        observations=compare_observations(was, now),
        memories=compare_memories(
            before.read("memories"),
            after.read("memories"),
            reworded(was, now),
            (held_reasons(was), held_reasons(now)),
        ),
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
            "The prompt, the taxonomy or this release's rules changed since the branch "
            f"'{name}' was built. "
            f"Drop it (`memory lab what-if drop {name}`), and build it again."
        )
    today = _open_models(settings, store)
    began, differing = time.time(), _differing(store.settings, settings, branch.changes)
    # From here on, the next run finishes an interrupted adoption.
    place.write(replace(branch, state="adopting"))
    path = write_settings({name: _plain(getattr(settings, name)) for name in branch.changes})
    days = days_between(today.tables, branch.first, branch.last)
    ran = launch.rematerialise(today, days, retire=lambda: _retire(today, branch.leaving))
    keep_status(today, is_sample=is_sample(settings))
    _log(store, "configure", f"Adopted the branch {name}", branch)
    branches.drop(place)
    return Adopted(
        name, differing, path, tuple(ran.jobs), _paid(today, settings, began), round(ran.seconds, 1)
    )


def finish(store: Store) -> Store:
    """Finishes an interrupted adoption, where there is one, and returns the store with its present
    settings.
    """
    for place in branches_of(store):
        branch = place.read()
        if branch.state == "adopting":
            adopt(store, place.name)
            return Store(changed_settings(store.settings, branch.changes), store.root)
    return store


def drop(store: Store, name: str) -> None:
    """Deletes the branch; the answers that were paid for stay in the store."""
    place = BranchFolder(store, _checked_name(name))
    branches.drop(place)
    log_own(store, "configure", f"Dropped the branch {name}", "a what-if")


def _log(store: Store, action: SlogAction, detail: str, branch: Branch) -> None:
    """Writes into the slog what was done with the branch."""
    changes = ", ".join(f"{name}={value}" for name, value in branch.changes.items())
    log_own(store, action, f"{detail}: {changes}", "a what-if")


def _checked(store: Store, changes: Mapping[str, str]) -> Settings:
    """Returns the store's settings with the changes; raises `SettingsError` where these change
    nothing or cannot be used.
    """
    unknown = [name for name in changes if name not in MAY_DIFFER]
    if not changes or unknown:
        problem = (
            f"{', '.join(unknown)} cannot be tried on past days."
            if unknown
            else "No setting was given."
        )
        raise SettingsError(
            f"{problem} Give one of these, as in --set least_useful=0.6: {', '.join(MAY_DIFFER)}."
        )
    settings = changed_settings(store.settings, changes)
    if all(getattr(settings, name) == getattr(store.settings, name) for name in changes):
        raise SettingsError(
            f"No setting would change: {', '.join(changes)} already has that value."
        )
    if not settings.uses_models and any(name in OF_A_MODEL for name in changes):
        raise SettingsError(
            "No model is configured, so these settings change nothing. Add --set "
            "model=NAME, such as claude-haiku-4-5."
        )
    _versions_of(settings)
    return settings


def _days(store: Store, first: date | None, last: date | None) -> list[date]:
    days = days_between(store.tables, first, last)
    if days:
        return days
    known = days_between(store.tables, None, None)
    hint = (
        f"there are some from {known[0]} to {known[-1]}"
        if known
        else "run `memory ingest` to read them"
    )
    raise StoreError(
        f"There are no transcripts between {first or 'the first day'} and "
        f"{last or 'the last day'}; {hint}."
    )


def _checked_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise QuestionError(
            f"'{name}' cannot be the name of a branch: use letters, digits, dots, dashes "
            "and underscores."
        )
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
        known = place.read()
    except UnknownBranchError:
        return branches.begin(place, wanted)
    same = ("first", "last", "changes", "made_by")
    if known.state == "making" and all(getattr(known, one) == getattr(wanted, one) for one in same):
        return known
    raise StoreError(
        f"There is a branch '{place.name}' already, {known.first} to {known.last} with "
        f"{_as_options(known.changes)}. "
        f"Run `memory lab what-if show {place.name}` or `drop {place.name}`, or give this "
        "one another --name."
    )


def _made(store: Store, name: str) -> tuple[BranchFolder, Branch, Settings]:
    place = BranchFolder(store, _checked_name(name))
    branch = place.read()
    if branch.state == "making":
        again = (
            f"memory lab what-if --from {branch.first} --to {branch.last} "
            f"{_as_options(branch.changes)} --name {name}"
        )
        raise StoreError(
            f"The branch '{name}' is not complete. `{again}` continues where it stopped."
        )
    return place, branch, changed_settings(store.settings, branch.changes)


def _as_options(changes: Mapping[str, str]) -> str:
    return " ".join(f"--set {name}={value}" for name, value in changes.items())


def _leave(place: BranchFolder, settings: Settings) -> bool:
    """Notes the lines promoted by rules that lost their memory, and removes them with the branch's
    next triage.
    """
    branch = place.open(settings)
    before, rules = GitWorkspace(place.before / "workspace"), rules_of(settings)
    sides = (
        Triage(before, branch.ledger, tables, branch.archive, rules)
        for tables in (place.tables_before, branch.tables)
    )
    was, now = (side.entry_statuses() for side in sides)
    leaving = [
        one.promotion.target
        for one, then in zip(was, now, strict=True)
        if one.promotion
        and one.promotion.actor == BY_RULES
        and _exists(one.memory)
        and not _exists(then.memory)
    ]
    place.write(replace(place.read(), leaving=tuple(leaving)))
    return _retire(branch, leaving)


def _retire(store: Store, proposal_ids: Collection[str]) -> bool:
    """Removes those lines of these proposals that have no memory in this store; returns whether
    there are any.
    """
    with store.lock():
        triage = triage_of(store)
        ours = (
            (one.promotion.target, one.memory) for one in triage.entry_statuses() if one.promotion
        )
        removed = [id for id, memory in ours if id in proposal_ids and not _exists(memory)]
        triage.retire(removed)
    return bool(removed)


def _exists(memory: Mapping[str, Any] | None) -> bool:
    """Returns whether the memory of a line exists; a superseded one does: a person decides about
    its line.
    """
    return memory is not None and memory["state"] in (*VALID_STATES, "superseded")


def _sides(place: BranchFolder) -> tuple[Side, ...]:
    before, after = place.before / "workspace", place.root / "workspace"
    paths = dict.fromkeys([*memory_files(before), *memory_files(after)])
    sides = [Side(path, text_of(before / path), text_of(after / path)) for path in paths]
    return tuple(side for side in sides if side.path == MEMORY_MD or side.before != side.after)


def _paid(store: Store, settings: Settings, since: float) -> BranchCost:
    """Returns the cost of the answers that came since the moment."""
    if not settings.uses_models:
        return FREE
    kept, prices = answers_since(store, since), prices_of(settings)
    found = [one.answer for one in kept]
    sent = sum(one.input_tokens + one.cache_read_tokens + one.cache_write_tokens for one in found)
    usd = _total(cost_of(one.answer, prices, one.key.model) for one in kept)
    return BranchCost(len(found), sent, sum(one.output_tokens for one in found), usd)


def _open_models(settings: Settings, store: Store) -> Store:
    """Returns the store with the settings after opening its models; raises `ModelSetupError` where
    one cannot be asked.
    """
    opened = Store(settings, store.root)
    for role in get_args(Role):
        open_model(opened, role)
    return opened


def _total(prices: Iterable[float | None]) -> float | None:
    known = list(prices)
    return None if None in known else round(sum(price for price in known if price is not None), 6)


def _stale_days(store: Store) -> set[date]:
    return set(stale_days(store, "process_days"))


def _differing(
    today: Settings, settings: Settings, names: Iterable[str]
) -> tuple[SettingChange, ...]:
    return tuple(
        SettingChange(name, _plain(getattr(today, name)), _plain(getattr(settings, name)))
        for name in names
    )


def _check_environment(changes: Iterable[str], settings: Settings) -> None:
    """Raises `SettingsError` where an environment variable overrides the file with another
    value.
    """
    for name in changes:
        variable = f"MEMORY_{name.upper()}"
        value, wanted = os.environ.get(variable), getattr(settings, name)
        if value and getattr(changed_settings(settings, {name: value}), name) != wanted:
            raise SettingsError(
                f"{variable}={value} is set in the environment, which overrides "
                f"memory.toml. Set it to {wanted}, or unset it "
                "wherever memory runs (the Dagster UI, too), then adopt again."
            )


def _plain(value: Any) -> Value:
    return str(value) if isinstance(value, Path) else value
