"""Optional capabilities: what each adds, declared in its folder of `memory_assets/extras`.

The core imports none of them. It reads the `EXTRA` of each folder, so that a deleted folder is
simply absent. Importing a declaration is cheap: what it names is imported when it is used.
"""

import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from memory_assets.schema.extra_folders import extra_names

PACKAGE = "memory_assets.extras"


@dataclass(frozen=True)
class Place:
    """A file or folder of the store that an optional package writes and that nothing rebuilds."""

    path: str
    """Below the data folder: a folder of it, or a file of the workspace."""
    title: str
    """What people call it."""
    is_log: bool = False
    """Whether lines are only appended to it: those of two machines are merged."""


@dataclass(frozen=True)
class Inflow:
    """What a table takes in from outside the store."""

    waiting: str
    """Function that gets the store and returns since when each thing waits."""
    source: str
    """What waits, for people."""
    remedy: str
    """What to do if it waits for too long."""


@dataclass(frozen=True)
class Extra:
    """What an optional package adds; names such as `cli:app` are below its own folder."""

    name: str
    commands: Mapping[str, str] = field(default_factory=dict)
    """Group → its commands: a new group, or more commands of one that the core has."""
    answers: str = ""
    """Function that returns the type of what each command prints with `--json`."""
    uninstall: str = ""
    """Function that takes what it added to the machine out again: gets the data folder and
    `is_dry`, returns a `Removed` or None.
    """

    tables: str = ""
    """Module with the tables and jobs that it adds, `TABLES` and `JOBS` (`schema.declarations`)."""
    builders: str = ""
    """Module with the functions that build its tables, `BUILDERS` (`runs.builders`)."""
    inputs: str = ""
    """Module with the input versions of its tables, `INPUTS` (`runs.inputs`)."""
    checks: str = ""
    """Module that registers asset checks (`assets.checks.common`)."""
    verbs: str = ""
    """List of the verbs that it adds (`interfaces.verb`); each has a method of its name."""
    views: Mapping[str, str] = field(default_factory=dict)
    """Verb → the function that renders its answer, by default its fields."""
    methods: Mapping[str, str] = field(default_factory=dict)
    """Name of a method of `MemoryAgent` → a function that gets the agent and the arguments."""
    before_update: str = ""
    """Function that is called with the store before each update, and returns the store to
    update.
    """
    incoming: str = ""
    """Function that gets the store, and names the forgettings of other machines that wait there."""
    before_capture: str = ""
    """Function that is called with the store when a capture begins, and carries them out."""
    copied_to: str = ""
    """Function that gets the store, and returns the servers that have copies of what it holds."""
    server_options: str = ""
    """Class with a field for each option that it adds to `memory serve http` and `memory serve
    mcp`; its method `open` gets the host, and returns the access (`interfaces.server_access`) that
    they ask for, or None.
    """
    client: str = ""
    """Class with the verbs of `MemoryAgent` that asks a server: gets its address and a token."""
    after_update: str = ""
    """Function that is called with the store after each update."""
    before_days: str = ""
    """Function that may build days before the runs that report them: gets the `Runner`, the job and
    the stretches of days.
    """
    settings: str = ""
    """Class with the settings that it adds (`store.settings`)."""
    shared_copy: str = ""
    """Function that returns the copy of the store that several machines use, or None
    (`schema.protocols`).
    """
    vectors: str = ""
    """Function that returns the index of vectors that the store uses instead of arrays, or None."""
    deep_checks: str = ""
    """Function that yields checks of what it stores, for `memory doctor --deep`: gets the store and
    the night.
    """
    path_lists: tuple[str, ...] = ()
    """Those of its settings that name folders of this machine, separated as in PATH."""
    sources: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Table or file of the core → further tables that it is made from."""
    grains: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Kind of partitions that come and go → their column, and the function that gets the store and
    returns their keys.
    """
    inflows: Mapping[str, Inflow] = field(default_factory=dict)
    """Table → what it takes in from outside the store."""
    watched: str = ""
    """Function that gets the store and returns the files and folders outside of it that an update
    reads, present or not.
    """
    documented: Mapping[str, str] = field(default_factory=dict)
    """Kind of documents → the function that gets the store and returns what they say, as
    observations without a session; it is recalled, and in no briefing.
    """
    contradictions: str = ""
    """Function that gets the store and returns the memories that contradict a document, which every
    review shows.
    """
    listeners: Mapping[str, str] = field(default_factory=dict)
    """Event (`notify`) → the function that is called with what happened."""
    places: tuple[Place, ...] = ()
    files: tuple[str, ...] = ()
    """Files in the data folder of this machine's own state, such as locks."""
    indexes: str = ""
    """Function that gets the store and returns the indexes that it builds."""
    derived: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Table → the table and the column that its rows are made from: when words are forgotten, rows
    of other values are removed.
    """
    erase: str = ""
    """Function that gets the store once rows with forgotten words left the tables, and removes what
    was made of them.
    """

    def load(self, name: str) -> Any:
        """Returns what the name stands for, such as `cli:app`."""
        module, _, attribute = name.partition(":")
        loaded = importlib.import_module(f"{PACKAGE}.{self.name}.{module}")
        return getattr(loaded, attribute) if attribute else loaded


def loaded(field: str) -> Iterator[Any]:
    """Yields what each declaration names in the field, imported."""
    for extra in extras():
        name = getattr(extra, field)
        if name:
            yield extra.load(name)


def gather(field: str, *given: Any) -> list[Any]:
    """Returns the items that the function in the field of each declaration returns."""
    return [item for function in loaded(field) for item in function(*given)]


def first_of(field: str, *given: Any) -> Any:
    """Returns what the first function in the field returns that returns something; None where none
    does.
    """
    return next(filter(None, (function(*given) for function in loaded(field))), None)


@cache
def extras() -> tuple[Extra, ...]:
    """Returns the declarations, in the order of their names."""
    return tuple(importlib.import_module(f"{PACKAGE}.{name}").EXTRA for name in extra_names())


def notify(event: str, *about: Any) -> None:
    """Calls the listeners of optional capabilities: `forgotten` (store) when something was
    forgotten, `acted` (store, action, detail, reason) when a command changed something.
    """
    for extra in extras():
        if event in extra.listeners:
            extra.load(extra.listeners[event])(*about)


def further_sources(name: str) -> tuple[str, ...]:
    """Returns the tables that optional capabilities add to the sources of a table of the core."""
    return tuple(source for extra in extras() for source in extra.sources.get(name, ()))


@cache
def places() -> tuple[Place, ...]:
    """Returns what optional capabilities write into the store."""
    return tuple(place for extra in extras() for place in extra.places)


def added_folders() -> tuple[str, ...]:
    """Returns the folders among these places."""
    return tuple(place.path for place in places() if "/" not in place.path)
