"""What if: makes a range of days otherwise in a branch beside today's tables, shows what differs, and adopts or drops it.

`estimate` says what it would cost, `make` makes the branch, `show` compares it with what it began from, `adopt` writes its
settings into `memory.toml` and makes today's tables by them, `drop` deletes it. The same days are made by the same steps in
the branch and, once adopted, in the store itself (`launch.rematerialise`), so the result is the one that was shown as far as
nothing was added meanwhile. Every step can be killed: a branch is made on where it stopped, an adoption is finished by the
next run, and nothing is paid twice.
"""

import os
import re
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from memory_assets.adapters.git_workspace import GitWorkspace
from memory_assets.errors import QuestionError, SettingsError, StoreError, UnknownBranchError
from memory_assets.runs import launch
from memory_assets.runs.compare import STANDING, Comparison, compare_memories, compare_observations, reworded
from memory_assets.runs.days import days_between
from memory_assets.runs.staleness import stale_days
from memory_assets.schema.records import MEMORY_MD
from memory_assets.services import branches
from memory_assets.services.branches import Branch, BranchFolder, branches_of
from memory_assets.services.health.status import keep_status
from memory_assets.services.model_questions import Consultation
from memory_assets.services.models import open_model
from memory_assets.services.prices import cost_of, prices_of
from memory_assets.services.review import rules_of, workspace_of
from memory_assets.services.which_store import is_sample
from memory_assets.stages.distill.model.answers import AnswerStore
from memory_assets.stages.distill.model.questions import prompt_hash
from memory_assets.stages.distill.standards import standards_of
from memory_assets.stages.triage.decisions import RULES as BY_RULES
from memory_assets.stages.triage.projects import memory_files
from memory_assets.stages.triage.run import entry_statuses, retire
from memory_assets.store.settings import RULES, Settings, changed_settings
from memory_assets.store.settings_file import Value, write_settings
from memory_assets.store.store import Store
from memory_assets.text.files import text_of

MAY_DIFFER = (
    "model", "model_url", "observer_prompt", "taxonomy", "least_useful", "facts_per_session", "trust_after",
)  # fmt: skip
"""Settings that change what is made of the same windows; the others concern what windows there are, or other machines."""

OF_A_MODEL = ("model_url", "observer_prompt")
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}", re.I)
_COUNTED = ("calls", "answered", "input_tokens", "output_tokens")


@dataclass(frozen=True)
class Setting:
    """A setting that differs, today's value and the branch's."""

    name: str
    before: Any
    after: Any


@dataclass(frozen=True)
class Cost:
    """Calls of a model, with their tokens and price in US dollars; no price where that of the model is unknown."""

    calls: int
    input_tokens: int
    output_tokens: int
    usd: float | None


@dataclass(frozen=True)
class Estimate:
    """What a what-if would take; nothing was made."""

    name: str
    days: tuple[date, ...]
    settings: tuple[Setting, ...]
    answered: int
    """Calls about windows that are answered already: they cost nothing."""
    cost: Cost
    """Calls about windows; what their days say together is asked after that, where a model is named."""
    usd_in_batches: float | None


@dataclass(frozen=True)
class Listed:
    """A branch, briefly."""

    name: str
    first: date
    last: date
    settings: Mapping[str, str]
    state: branches.State


@dataclass(frozen=True)
class Side:
    """A file of memory, as it was and as it would be."""

    path: str
    before: str
    after: str


@dataclass(frozen=True)
class WhatIf:
    """A branch beside what it began from."""

    name: str
    days: tuple[date, ...]
    settings: tuple[Setting, ...]
    observations: Comparison
    """Allowed facts of these days."""
    memories: Comparison
    files: tuple[Side, ...]
    """MEMORY.md, and the files of projects that differ."""
    cost: Cost
    seconds: float
    other_days: int
    """Days outside the range that would be made anew, too, once it is adopted."""


@dataclass(frozen=True)
class Adopted:
    """What adopting did."""

    name: str
    settings: tuple[Setting, ...]
    path: Path
    """The file that holds the settings now."""
    jobs: tuple[str, ...]
    cost: Cost
    seconds: float


@dataclass(frozen=True)
class Dropped:
    """A branch that is gone."""

    name: str


def estimate(store: Store, first: date | None, last: date | None, changes: Mapping[str, str], name: str | None) -> Estimate:
    """Returns what a what-if would cost; asks nobody and makes nothing."""
    settings, days = _checked(store, changes), _days(store, first, last)
    known = _named(name or _name_of(changes))
    differing = _differing(store.settings, settings, changes)
    if settings.model == RULES:
        return Estimate(known, tuple(days), differing, 0, Cost(0, 0, 0, 0.0), 0.0)
    found = Consultation(Store(settings, store.root), settings.model).costs([str(day) for day in days]).days
    calls, answered, sent, told = (sum(getattr(day, what) for day in found) for what in _COUNTED)
    cost = Cost(calls - answered, sent, told, _total(day.usd for day in found))
    return Estimate(known, tuple(days), differing, answered, cost, _total(day.usd_in_batches for day in found))


def make(store: Store, first: date | None, last: date | None, changes: Mapping[str, str], name: str | None) -> WhatIf:
    """Makes the branch, or makes it on where it was killed, and returns it beside what it began from."""
    settings, days = _checked(store, changes), _days(store, first, last)
    open_model(Store(settings, store.root))  # a key that is missing is told before anything is made
    place = BranchFolder(store, _named(name or _name_of(changes)))
    kept = {name: str(_plain(getattr(settings, name))) for name in changes}
    branch = _begun(place, Branch(place.name, days[0], days[-1], kept, time.time(), _made_by(settings)))
    started = time.monotonic()
    launch.rematerialise(place.open(settings), days, retire=lambda: _leave(place, settings))
    seconds = branch.seconds + time.monotonic() - started
    place.write(replace(place.read(), state="made", seconds=seconds))
    return show(store, place.name)


def show(store: Store, name: str) -> WhatIf:
    """Returns the branch beside what it began from; raises `StoreError` where it is not made to its end."""
    place, branch, settings = _made(store, name)
    days = _days_of(store, branch)
    before, after = place.tables_before, place.open(settings).tables
    was, now = (tables.read("observations", map(str, days)) for tables in (before, after))
    return WhatIf(
        name=branch.name,
        days=tuple(days),
        settings=_differing(store.settings, settings, branch.changes),
        observations=compare_observations(was, now),
        memories=compare_memories(before.read("memories"), after.read("memories"), reworded(was, now)),
        files=_sides(place),
        cost=_paid(store, settings, branch.began_at),
        seconds=round(branch.seconds, 1),
        other_days=_other_days(store, settings, days),
    )


def listed(store: Store) -> tuple[Listed, ...]:
    """Returns the branches of the store."""
    found = [place.read() for place in branches_of(store)]
    return tuple(Listed(one.name, one.first, one.last, one.changes, one.state) for one in found)


def adopt(store: Store, name: str) -> Adopted:
    """Makes the branch's settings today's, and today's tables by them; the branch goes when all is done."""
    place, branch, settings = _made(store, name)
    _check_environment(branch.changes, settings)
    if branch.made_by != _made_by(settings):
        raise StoreError(
            f"The prompt, the taxonomy or this release's rules changed since '{name}' was made, so it shows something else. "
            f"Drop it (`memory lab what-if drop {name}`), and make it again."
        )
    open_model(today := Store(settings, store.root))
    began, differing = time.time(), _differing(store.settings, settings, branch.changes)
    place.write(replace(branch, state="adopting"))  # from here on the next run finishes what is killed
    path = write_settings({name: _plain(getattr(settings, name)) for name in branch.changes})
    ran = launch.rematerialise(today, _days_of(today, branch), retire=lambda: _retire(today, branch.leaving))
    keep_status(today, is_sample=is_sample(settings))
    branches.drop(place)
    return Adopted(name, differing, path, tuple(ran.jobs), _paid(today, settings, began), round(ran.seconds, 1))


def finish(store: Store) -> Store:
    """Finishes the adoption that was killed, where there is one, and returns the store with the settings of now."""
    for place in branches_of(store):
        branch = place.read()
        if branch.state == "adopting":
            adopt(store, place.name)
            return Store(changed_settings(store.settings, branch.changes), store.root)
    return store


def drop(store: Store, name: str) -> Dropped:
    """Deletes the branch; what was paid for it stays among the stored answers."""
    branches.drop(BranchFolder(store, _named(name)))
    return Dropped(name)


def _checked(store: Store, changes: Mapping[str, str]) -> Settings:
    """Returns today's settings with the changes; raises `SettingsError` where these say nothing, or nothing usable."""
    unknown = [name for name in changes if name not in MAY_DIFFER]
    if not changes or unknown:
        told = f"{', '.join(unknown)} cannot be tried on past days." if unknown else "Nothing differs: name settings."
        raise SettingsError(f"{told} Those that can, as in --set least_useful=0.6: {', '.join(MAY_DIFFER)}.")
    settings = changed_settings(store.settings, changes)
    if all(getattr(settings, name) == getattr(store.settings, name) for name in changes):
        raise SettingsError(f"Nothing differs: {', '.join(changes)} is so already.")
    if settings.model == RULES and any(name in OF_A_MODEL for name in changes):
        raise SettingsError("No model is named, so nobody would be asked. Add --set model=NAME, such as claude-haiku-4-5.")
    _made_by(settings)
    return settings


def _days(store: Store, first: date | None, last: date | None) -> list[date]:
    days = days_between(store.tables, first, last)
    if days:
        return days
    known = days_between(store.tables, None, None)
    there = (
        f"there are some from {known[0]} to {known[-1]}" if known else "there are none at all; `memory ingest` takes them in"
    )
    raise StoreError(f"There are no transcripts between {first or 'the first day'} and {last or 'the last day'}; {there}.")


def _days_of(store: Store, branch: Branch) -> list[date]:
    return days_between(store.tables, branch.first, branch.last)


def _named(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise QuestionError(f"'{name}' cannot be the name of a branch: use letters, digits, dots, dashes and underscores.")
    return name


def _name_of(changes: Mapping[str, str]) -> str:
    words = "-".join(f"{name}-{value.rsplit('/', 1)[-1]}" for name, value in changes.items())
    return re.sub(r"[^A-Za-z0-9._]+", "-", words).strip("-.")[:80] or "what-if"


def _made_by(settings: Settings) -> str:
    """Returns the hash of the prompt and the version of the standards; raises `SettingsError` where one cannot be read."""
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
        f"There is a branch '{place.name}' already, {known.first} to {known.last} with {_in_words(known.changes)}. "
        f"`memory lab what-if show {place.name}` or `drop {place.name}` it, or give this one another --name."
    )


def _made(store: Store, name: str) -> tuple[BranchFolder, Branch, Settings]:
    place = BranchFolder(store, _named(name))
    branch = place.read()
    if branch.state == "making":
        again = f"memory lab what-if --from {branch.first} --to {branch.last} {_in_words(branch.changes)} --name {name}"
        raise StoreError(f"The branch '{name}' is not made to its end. `{again}` goes on where it stopped.")
    return place, branch, changed_settings(store.settings, branch.changes)


def _in_words(changes: Mapping[str, str]) -> str:
    return " ".join(f"--set {name}={value}" for name, value in changes.items())


def _leave(place: BranchFolder, settings: Settings) -> bool:
    """Notes which lines that rules promoted nothing says any more, and has them go with the branch's next triage."""
    branch = place.open(settings)
    before, rules = GitWorkspace(place.before / "workspace"), rules_of(settings)
    was, now = (entry_statuses(before, branch.ledger, tables, rules) for tables in (place.tables_before, branch.tables))
    leaving = [
        one.promotion.target
        for one, then in zip(was, now, strict=True)
        if one.promotion and one.promotion.actor == BY_RULES and _stands(one.memory) and not _stands(then.memory)
    ]
    place.write(replace(place.read(), leaving=tuple(leaving)))
    return _retire(branch, leaving)


def _retire(store: Store, proposal_ids: Collection[str]) -> bool:
    """Has the lines of these proposals go, as far as nothing says them in this store; returns whether any has to."""
    with store.lock():
        workspace, rules = workspace_of(store), rules_of(store.settings)
        standing = entry_statuses(workspace, store.ledger, store.tables, rules)
        ours = ((one.promotion.target, one.memory) for one in standing if one.promotion)
        silent = [id for id, memory in ours if id in proposal_ids and not _stands(memory)]
        retire(silent, workspace, store.ledger, store.tables, rules)
    return bool(silent)


def _stands(memory: Mapping[str, Any] | None) -> bool:
    """Returns whether the memory behind a line is there; one that another replaced is asked about as ever."""
    return memory is not None and memory["state"] in (*STANDING, "superseded")


def _sides(place: BranchFolder) -> tuple[Side, ...]:
    before, after = place.before / "workspace", place.root / "workspace"
    paths = dict.fromkeys([*memory_files(before), *memory_files(after)])
    sides = [Side(path, text_of(before / path), text_of(after / path)) for path in paths]
    return tuple(side for side in sides if side.path == MEMORY_MD or side.before != side.after)


def _paid(store: Store, settings: Settings, since: float) -> Cost:
    """Returns what the answers cost that came since the moment."""
    if settings.model == RULES:
        return Cost(0, 0, 0, 0.0)
    answers, prices = AnswerStore(store.answers), prices_of(settings)
    names = [path.stem for path in answers.root.glob("*.json") if path.stat().st_mtime >= since]
    said = [answers.read_named(name).answer for name in names]
    sent = sum(one.input_tokens + one.cache_read_tokens + one.cache_write_tokens for one in said)
    return Cost(len(said), sent, sum(one.output_tokens for one in said), _total(cost_of(one, prices) for one in said))


def _total(prices: Iterable[float | None]) -> float | None:
    known = list(prices)
    return None if None in known else round(sum(price for price in known if price is not None), 6)


def _other_days(store: Store, settings: Settings, days: Sequence[date]) -> int:
    """Returns how many days outside the range adopting would make anew."""
    due = set(stale_days(Store(settings, store.root), "process_days")) - set(stale_days(store, "process_days"))
    return len(due - set(days))


def _differing(today: Settings, settings: Settings, names: Iterable[str]) -> tuple[Setting, ...]:
    return tuple(Setting(name, _plain(getattr(today, name)), _plain(getattr(settings, name))) for name in names)


def _check_environment(changes: Iterable[str], settings: Settings) -> None:
    """Raises `SettingsError` where a variable would go on to say something else than the file."""
    for name in changes:
        variable = f"MEMORY_{name.upper()}"
        value, wanted = os.environ.get(variable), getattr(settings, name)
        if value and getattr(changed_settings(settings, {name: value}), name) != wanted:
            raise SettingsError(
                f"{variable}={value} is set in the environment, which overrides memory.toml. Set it to {wanted}, or unset it "
                "where the memory runs (the Dagster UI, too), then adopt again."
            )


def _plain(value: Any) -> Value:
    return str(value) if isinstance(value, Path) else value
