"""Optional capabilities: each declares what it adds in its folder of `memory_assets/extras`.

The core does not import these folders by name. It reads the constant `EXTRA` of each folder that
exists, so a folder can be deleted. Importing a declaration is cheap: the modules that it names are
imported when they are used.
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
    """A file or folder of the store that an optional package writes and that cannot be rebuilt."""

    path: str
    """A folder in the data folder (`library`), or a file of the workspace (`workspace/…`)."""
    title: str
    """Its name for people."""
    is_log: bool = False
    """Whether lines are only appended to it, so that the lines of two machines can be merged."""


@dataclass(frozen=True)
class Inflow:
    """Data from outside the store that a table is built from."""

    name: str
    """Its name in Dagster's lineage."""
    waiting: str
    """Function that gets the store and returns since when each item waits."""
    source: str
    """Name of what waits, for people."""
    remedy: str
    """What a person does if it waits for too long."""


@dataclass(frozen=True)
class Extra:
    """What an optional package adds.

    A name such as `cli:app` means the attribute `app` of the module `cli` in its folder; where a
    module is asked for, the name is the module's alone.
    """

    name: str
    commands: Mapping[str, str] = field(default_factory=dict)
    """Group → the commands that it adds to the group, which may be new."""
    answers: str = ""
    """Function that returns command → type of what it prints with `--json`."""
    uninstall: str = ""
    """Function that removes what it added to the machine: gets the data folder and `is_dry`,
    returns a `Removed` or None.
    """

    tables: str = ""
    """Module whose `TABLES` and `JOBS` it adds (`schema.declarations`)."""
    builders: str = ""
    """Module whose `BUILDERS` build its tables (`runs.builders`)."""
    inputs: str = ""
    """Module whose `INPUTS` compute the input versions of its tables (`runs.inputs`)."""
    checks: str = ""
    """Module that registers asset checks (`assets.checks.common`)."""
    verbs: str = ""
    """List of the verbs that it adds (`interfaces.verb`); `methods` has a method for each."""
    views: Mapping[str, str] = field(default_factory=dict)
    """Verb → the function that renders its answer; without one, the fields are printed."""
    methods: Mapping[str, str] = field(default_factory=dict)
    """Name of a method of `MemoryAgent` → a function that gets the agent and the arguments."""
    before_update: str = ""
    """Function that gets the store before each update, and returns the store to update."""
    after_update: str = ""
    """Function that gets the store after each update."""
    before_capture: str = ""
    """Function that gets the store before each capture."""
    before_days: str = ""
    """Function that may build days before the runs that report them: gets the `Runner`, the job and
    the stretches of days.
    """
    incoming: str = ""
    """Function that gets the store, and returns the forgettings of other machines that wait in
    it.
    """
    copied_to: str = ""
    """Function that gets the store, and returns the servers that hold copies of its content."""
    server_options: str = ""
    """Class with a field for each option that it adds to `memory serve http` and `memory serve
    mcp`. Its method `open` gets the host; it returns the access (`interfaces.server_access`) that
    the options ask for, or None.
    """
    client: str = ""
    """Class with the verbs of `MemoryAgent` that asks a server: gets its address and a token."""
    settings: str = ""
    """Class with the settings that it adds (`store.settings`)."""
    shared_copy: str = ""
    """Function that gets the store, and returns its `SharedCopy` (`schema.protocols`) or None."""
    vectors: str = ""
    """Function that gets the store, and returns its index of vectors, or None: then it uses arrays.
    """
    deep_checks: str = ""
    """Function that gets the store and the night, and yields checks of what it stores, for `memory
    doctor --deep`.
    """
    path_lists: tuple[str, ...] = ()
    """Its settings that are lists of folders, separated as in PATH."""
    sources: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Table or file of the core → further tables that it is made from."""
    grains: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Kind of partitions that are added and removed → their column, and the function that gets the
    store and returns their names.
    """
    inflows: Mapping[str, Inflow] = field(default_factory=dict)
    """Table → the data from outside the store that it is built from."""
    edited_files: str = ""
    """Function that gets the store, and returns the files outside of it in which people edit lines
    that it wrote; a triage reads them.
    """
    amendments: str = ""
    """Function that gets the store and its triage, and returns the amendments that these edits ask
    for (`stages.triage.amendments`).
    """
    watched: str = ""
    """Function that gets the store, and returns the files and folders outside of it that an update
    reads; they need not exist.
    """
    documented: Mapping[str, str] = field(default_factory=dict)
    """Kind of documents → the function that gets the store, and returns the facts in them as
    observations without a session. These are recalled, but are in no briefing.
    """
    contradictions: str = ""
    """Function that gets the store, and returns the memories that contradict a document; every
    review shows them.
    """
    listeners: Mapping[str, str] = field(default_factory=dict)
    """Event → the function that `notify` calls for it."""
    places: tuple[Place, ...] = ()
    files: tuple[str, ...] = ()
    """Files in the data folder with state of this machine, such as locks."""
    indexes: str = ""
    """Function that gets the store and returns the indexes that it builds."""
    derived: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Table → the table and the column with the values that its rows were computed from. When words
    are forgotten, rows of values that are no longer there are removed.
    """
    erase: str = ""
    """Function that gets the store after rows with forgotten words left the tables, and removes
    what was derived from these rows.
    """

    def load(self, name: str) -> Any:
        """Imports and returns what the name stands for: `cli:app`, or a module."""
        module, _, attribute = name.partition(":")
        loaded = importlib.import_module(f"{PACKAGE}.{self.name}.{module}")
        return getattr(loaded, attribute) if attribute else loaded


def loaded(field: str) -> Iterator[Any]:
    """Imports and yields what each declaration names in this field."""
    for extra in extras():
        name = getattr(extra, field)
        if name:
            yield extra.load(name)


def gather(field: str, *arguments: Any) -> list[Any]:
    """Calls the functions that the declarations name in this field; returns all their items."""
    return [item for function in loaded(field) for item in function(*arguments)]


def first_of(field: str, *arguments: Any) -> Any:
    """Calls the functions that the declarations name in this field; returns the first result that
    is not None or empty, None without one.
    """
    return next(filter(None, (function(*arguments) for function in loaded(field))), None)


@cache
def extras() -> tuple[Extra, ...]:
    """Returns the declarations, in the order of their names."""
    return tuple(importlib.import_module(f"{PACKAGE}.{name}").EXTRA for name in extra_names())


def notify(event: str, *arguments: Any) -> None:
    """Calls the listeners of optional capabilities to an event: `forgotten` (arguments: store) when
    something was forgotten, `acted` (store, action, detail, reason) when a command changed
    something.
    """
    for extra in extras():
        if event in extra.listeners:
            extra.load(extra.listeners[event])(*arguments)


def further_sources(name: str) -> tuple[str, ...]:
    """Returns the tables that optional capabilities add to the sources of a table or file of the
    core.
    """
    return tuple(source for extra in extras() for source in extra.sources.get(name, ()))


@cache
def places() -> tuple[Place, ...]:
    """Returns the files and folders that optional capabilities write into the store."""
    return tuple(place for extra in extras() for place in extra.places)


def added_folders() -> tuple[str, ...]:
    """Returns the folders among these places."""
    return tuple(place.path for place in places() if "/" not in place.path)
