"""The settings: defaults, the data folder's `memory.toml`, the user's, the environment (`MEMORY_`
prefix).

Each source overrides the ones before it. Files in the working folder are never read (`places`). A
relative path in a file is relative to the file's folder. Numbers that define a rule (merge
similarity, decay rate) are constants and not settings.
"""

import getpass
import json
import os
import re
import tomllib
from collections.abc import Mapping
from datetime import UTC, date, datetime
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError
from pydantic_settings import BaseSettings, InitSettingsSource, NoDecode, SettingsConfigDict
from pydantic_settings.exceptions import SettingsError as SettingsSourceError

from memory_assets.errors import SettingsError
from memory_assets.store.places import default_data, find_data, settings_files, user_settings_file

RULES = "rules"
"""Value of the setting `model` for no model."""

NO_MODEL = ("none", "no", "off", "false", "null", "0")
"""Rejected as model names: the user means no model, and a name would send transcripts to a server.
"""

HARNESS_MODELS: dict[str, dict[str, str]] = {
    "claude-code": {"observer": "haiku", "reflector": "sonnet"},
    "codex": {},
}
"""Harness → the model it is asked to use in each role where the setting names none; Codex then uses
its own default.
"""

Role = Literal["observer", "reflector"]
"""The observer extracts facts and rewrites questions; the reflector condenses, reviews and answers
with citations.
"""

ALL_PROJECTS = "*"
"""In `model_projects`: every project, also later ones."""

TokenKind = Literal["input", "output", "cache_write", "cache_read"]

USUAL_EMBEDDING_MODEL = "all-MiniLM-L6-v2"
"""Name of the built-in embedding model; any other names a folder."""

PATHS = ("data", "gold", "observer_prompt", "taxonomy")
"""Settings that are a path."""

SECTIONS = {
    "preferences": "{owner}",
    "rules-conventions": "Hard Rules",
    "system-architecture": "System Architecture",
    "operations": "Patterns",
    "memory-system": "Conventions",
    "projects": "Projects",
    "people-relationships": "People",
    "health": "{owner}",
    "hobbies": "{owner}",
}

TTL_DAYS = {
    "preferences": 180,
    "people-relationships": 180,
    "projects": 90,
    "operations": 90,
    "system-architecture": 90,
    "memory-system": 90,
    "rules-conventions": 0,
    "health": 365,
    "hobbies": 60,
}
"""Exposed days without a recall after which a memory of the category is stale; 0: never
(`stages.maintain.states`).
"""

_SERVER = re.compile(r"https?://(\[[0-9a-fA-F:]+\]|[\w.-]+)(:\d{1,5})?/?")
_OBJECTS = re.compile(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[\w.=-]+)*/?")
_ADDRESS = re.compile(r"https?://[^\s/?#]+(/[^\s?#]*)?")


UTC_NAMES = tuple(
    "Etc/UTC Etc/UCT Etc/Universal Etc/Zulu Etc/GMT Etc/Greenwich UCT Universal Zulu GMT "
    "Greenwich".split()
)
"""Other names of UTC; a store must not become stale by another name of the same zone."""


def local_zone() -> str:
    """Returns the name of the system's time zone."""
    from tzlocal import get_localzone_name

    return _check_zone(get_localzone_name() or "UTC")


def _check_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise ValueError(
            f"'{name}' is not a time zone; use a name such as Europe/Berlin or UTC"
        ) from None
    return canonical_zone(name)


def canonical_zone(name: str) -> str:
    """Returns the name of the zone; one for all names of UTC."""
    return "UTC" if name in UTC_NAMES else name


def _check_model(name: str) -> str:
    if name.lower() == RULES:
        return RULES
    if not name or name.lower() in NO_MODEL:
        raise ValueError(f"use '{RULES}' for no model, or a name such as claude-haiku-4-5")
    if not name.isprintable() or " " in name:
        raise ValueError(
            f"a model's name contains no blanks; use '{RULES}', or a name such as claude-haiku-4-5"
        )
    if name.endswith(":"):
        raise ValueError(f"give a model after the colon, as in {name}haiku, or leave the colon out")
    return name


def harness_of(model: str) -> str | None:
    """Returns the harness that answers for the model (`claude-code`, `codex`, also with `:MODEL`),
    or None.
    """
    name = model.partition(":")[0]
    return name if name in HARNESS_MODELS else None


def _parse_names(names: Any) -> Any:
    """Returns a list of names from a TOML or JSON list, or from names separated by commas."""
    if not isinstance(names, str):
        return names
    if names.lstrip().startswith("["):
        try:
            return json.loads(names)
        except ValueError:
            raise ValueError('this is not a list; use a, b or ["a", "b"]') from None
    return [name.strip() for name in names.split(",") if name.strip()]


def _check_address(url: str) -> str:
    if url and not _ADDRESS.fullmatch(url):
        raise ValueError(
            "this is not a server address; use the form http://127.0.0.1:8080 or "
            "https://gateway.example"
        )
    return url.rstrip("/")


def _check_server(url: str) -> str:
    if url and not _SERVER.fullmatch(url):
        raise ValueError(
            "this is not the address of a server; use the form http://127.0.0.1:8000, "
            "without a path"
        )
    return url.rstrip("/")


def _check_objects(url: str) -> str:
    if url and not _OBJECTS.fullmatch(url):
        raise ValueError("this is not the address of a bucket; use the form s3://bucket/prefix")
    return url.rstrip("/")


def _check_prices(prices: dict[str, dict[TokenKind, float]]) -> dict[str, dict[TokenKind, float]]:
    lacking = sorted(
        name
        for name, price in prices.items()
        if not name or not {"input", "output"} <= price.keys()
    )
    if lacking:
        raise ValueError(
            f'give input and output of {lacking}, as in {{"my-model": {{"input": 1.0, '
            f'"output": 5.0}}}}'
        )
    return prices


def _check_ttls(days: dict[str, int]) -> dict[str, int]:
    if unknown := sorted(days.keys() - TTL_DAYS):
        raise ValueError(
            f"there is no category {', '.join(unknown)}; the categories are {', '.join(TTL_DAYS)}"
        )
    return {**TTL_DAYS, **days}


Zone = Annotated[str, AfterValidator(_check_zone)]
ModelName = Annotated[str, AfterValidator(_check_model)]
OptionalModelName = Annotated[str, AfterValidator(lambda name: _check_model(name) if name else "")]
Address = Annotated[str, AfterValidator(_check_address)]
ServerAddress = Annotated[str, AfterValidator(_check_server)]
ObjectsAddress = Annotated[str, AfterValidator(_check_objects)]
Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Prices = Annotated[dict[str, dict[TokenKind, Dollars]], AfterValidator(_check_prices)]
Sections = Annotated[dict[str, str], AfterValidator(lambda sections: {**SECTIONS, **sections})]
TtlDays = Annotated[dict[str, Annotated[int, Field(ge=0)]], AfterValidator(_check_ttls)]
OtherNames = Annotated[
    list[str], BeforeValidator(lambda names: [names] if isinstance(names, str) else names)
]
ProjectNames = Annotated[list[str], NoDecode, BeforeValidator(_parse_names)]
OptionalCategories = Annotated[
    list[Literal["health", "hobbies"]], NoDecode, BeforeValidator(_parse_names)
]
AbsolutePath = Annotated[Path, AfterValidator(lambda path: path.expanduser().absolute())]
OptionalPath = Annotated[
    AbsolutePath | None, BeforeValidator(lambda path: None if path == "" else path)
]


class Settings(BaseSettings):
    """All settings of the program."""

    model_config = SettingsConfigDict(
        env_prefix="MEMORY_", env_ignore_empty=True, extra="forbid", frozen=True
    )

    data: AbsolutePath = Field(
        default_factory=lambda: Path(default_data()), description="Folder that holds all state."
    )
    store: ObjectsAddress = Field(
        "",
        description="S3 address (s3://bucket/prefix) that holds the store; the data folder is "
        "then its cache. Needs `remote`.",
    )
    store_endpoint: Address = Field("", description="Another server with the S3 API.")
    sources: str = Field(
        "",
        description="Folders with transcripts, or files, separated as in PATH; each is read whole.",
    )
    adr_folders: str = Field(
        "", description="Folders of decision records, as in PATH, beside those of projects."
    )
    timezone: Zone = Field(
        default_factory=local_zone, description="The owner's time zone, for days and clock times."
    )
    date_order: Literal["auto", "dmy", "mdy"] = Field(
        "auto", description="Order in 05/06/2026; `auto`: by time zone."
    )
    owner: str = Field(
        default_factory=getpass.getuser,
        description="The person MEMORY.md is written for; sessions of this machine are theirs.",
    )
    people: dict[str, str] = Field(
        default_factory=dict, description="Home folder name → person, for sessions from elsewhere."
    )
    aliases: dict[str, OtherNames] = Field(
        default_factory=dict, description="Full name → other names for the same thing."
    )
    model: ModelName = Field(
        RULES,
        description="Model that observes and rewrites questions; `rules`: none; see docs/model.md.",
    )
    reflector_model: OptionalModelName = Field(
        "", description="Model that reflects and reviews; empty: that of `model`."
    )
    rerank: bool = Field(
        True,
        description="Whether the model also reranks what `balanced` and `deep` recall; see "
        "docs/recall.md.",
    )
    model_projects: ProjectNames = Field(
        default_factory=lambda: [ALL_PROJECTS],
        description="Projects that models may be sent; `*`: all.",
    )
    model_url: Address = Field(
        "", description="Another server with the Messages API: a gateway, a local runtime."
    )
    reflector_url: Address = Field(
        "", description="Server of `reflector_model`; empty: that of `model_url`."
    )
    model_at_once: int = Field(4, ge=1, le=64, description="Concurrent requests to the model.")
    model_timeout_seconds: float = Field(300.0, gt=0, le=3600, description="Timeout of an answer.")
    model_retries: int = Field(
        4, ge=0, le=20, description="Retries after an overload or a lost connection."
    )
    model_batches: Literal["auto", "always", "never"] = Field(
        "auto", description="Batches (half price); `auto`: from 20."
    )
    model_most_usd: float = Field(
        10.0, ge=0, description="A run that would cost more US dollars sends nothing."
    )
    model_prices: Prices = Field(
        default_factory=dict,
        description="Model → US dollars per million tokens of `input`, `output`, `cache_write` "
        "and `cache_read`.",
    )
    observer_prompt: OptionalPath = Field(
        None, description="File with another observer prompt; see docs/model.md."
    )
    least_useful: float = Field(
        0.7, ge=0, le=1, description="Usefulness below which the write gate holds a fact."
    )
    facts_per_session: int = Field(
        25,
        ge=0,
        description="Maximum facts per session that rules find; the most useful are kept. A "
        "model is asked for few.",
    )
    taxonomy: OptionalPath = Field(
        None, description="File of category words, like stages/distill/taxonomy.toml."
    )
    optional_categories: OptionalCategories = Field(
        default_factory=list, description="More categories of facts: `health`, `hobbies`."
    )
    embedding_model: str = Field(
        USUAL_EMBEDDING_MODEL, description="Local embedding model, or a folder with one."
    )
    chroma: ServerAddress = Field(
        "",
        description="Chroma server that holds the vectors of memories; empty: files of the store.",
    )
    workers: int = Field(
        1,
        ge=1,
        le=64,
        description="Processes that extract facts at once, each from days of its own.",
    )
    now: datetime | None = Field(
        None, description="A fixed clock, for tests and demonstrations (ISO 8601)."
    )
    recall_factors: list[Literal["decay", "stale", "elsewhere", "used", "tone"]] = Field(
        default_factory=lambda: ["decay", "stale", "used"],
        description="Factors of a recalled memory's rank; see docs/recall.md.",
    )
    harness_opt_outs: bool = Field(
        True, description="Whether sessions that Codex marks as not for memory are left out."
    )
    harness_memories: bool = Field(
        True, description="Whether memories of Claude Code and Codex are read and recalled."
    )
    ttl_days: TtlDays = Field(
        default_factory=lambda: dict(TTL_DAYS),
        description="Category → days with queries, without a recall, after which a memory is "
        "stale; 0: never.",
    )
    since_days: int = Field(
        14, ge=1, description="Days of this machine's transcripts to read at first."
    )
    idle_minutes: int = Field(
        60, ge=1, description="A session without a message for this long has ended."
    )
    short_turns: int = Field(
        5,
        ge=0,
        description="Of sessions with fewer user turns only corrections and rules are kept.",
    )
    context_tokens: int = Field(
        200_000, ge=8_000, description="Context size that budgets derive from."
    )
    friction_observations: int = Field(
        100, ge=0, description="Minimum observations and segments before friction is searched."
    )
    review_days: int = Field(7, ge=1, description="Days after which an undecided proposal expires.")
    trust_after: int = Field(
        0, ge=0, description="Approvals until a category is trusted (high priority only); 0: never."
    )
    sections: Sections = Field(
        default_factory=lambda: dict(SECTIONS), description="Category → section of MEMORY.md."
    )
    remote: str = Field(
        "", description="Git remote that the workspace's history is pushed to; never pulled from."
    )
    todoist_project: str = Field(
        "", description="Todoist project in which proposals become tasks; by default the Inbox."
    )
    todoist_label: str = Field(
        "memory-review", pattern=r"^[\w-]{1,60}$", description="Label of those tasks."
    )
    todoist_url: Address = Field("", description="Another server with the Todoist API.")
    gold: OptionalPath = Field(
        None, description="Folder of labelled sessions to evaluate against; see docs/operating.md."
    )
    run_days: int = Field(
        30, ge=1, description="Days for which Dagster's runs and their logs are kept."
    )
    disk_gb: float = Field(
        10.0,
        ge=0,
        allow_inf_nan=False,
        description="Gigabytes that the store may take; 0: no limit.",
    )
    writes_per_minute: int = Field(
        30, ge=1, le=10_000, description="Writes per minute of one token of a shared memory."
    )
    pushed_gb: float = Field(
        5.0,
        ge=0,
        allow_inf_nan=False,
        description="Gigabytes of transcripts that each person may push to this store; 0: no "
        "limit.",
    )
    push_url: Address = Field(
        "",
        description="Shared memory to which `memory data push` sends this machine's masked "
        "sessions.",
    )
    push_token: str = Field(
        "",
        repr=False,
        description="Token with the scope push for that server; better in MEMORY_PUSH_TOKEN.",
    )
    push_projects: ProjectNames = Field(
        default_factory=lambda: [ALL_PROJECTS],
        description="Projects that may be pushed; `*`: all, `!name`: not this one.",
    )
    reviewers: dict[str, OtherNames] = Field(
        default_factory=dict,
        description="Project → persons who may decide its proposals with a token; `*`: every "
        "project.",
    )
    port: int = Field(
        3000, ge=1, le=65535, description="Port of the Dagster UI; the next free one is taken."
    )

    @classmethod
    def settings_customise_sources(
        cls, settings_cls, init_settings, env_settings, *_: Any, **__: Any
    ):
        files = (
            InitSettingsSource(settings_cls, init_kwargs=read_file(file))
            for file in settings_files()
        )
        return init_settings, env_settings, *files

    @cached_property
    def zone(self) -> ZoneInfo:
        """The owner's time zone."""
        return ZoneInfo(self.timezone)

    def model_of(self, role: Role) -> str:
        """Returns the name of the model in the role, or `rules`; a harness without a model gets the
        usual one of the role.
        """
        name = (self.reflector_model if role == "reflector" else "") or self.model
        usual = HARNESS_MODELS.get(name, {}).get(role)
        return f"{name}:{usual}" if usual else name

    def url_of(self, role: Role) -> str:
        """Returns the address of the server of the model in the role; empty for the vendor's."""
        return (self.reflector_url if role == "reflector" else "") or self.model_url

    @property
    def uses_models(self) -> bool:
        """Whether a model is named in any role."""
        return {self.model_of("observer"), self.model_of("reflector")} != {RULES}

    def may_send(self, project: str) -> bool:
        """Returns whether what belongs to the project, or to none, may be sent to a model."""
        return not project or ALL_PROJECTS in self.model_projects or project in self.model_projects

    def may_push(self, project: str) -> bool:
        """Returns whether sessions of the project may be pushed to a shared memory."""
        names = self.push_projects
        is_any = (
            ALL_PROJECTS in names
            or project in names
            or (bool(names) and all(name.startswith("!") for name in names))
        )
        return is_any and f"!{project}" not in names

    def clock(self) -> datetime:
        """Returns the current time in UTC, or the fixed one in `now`."""
        if self.now is None:
            return datetime.now(UTC)
        return (self.now if self.now.tzinfo else self.now.replace(tzinfo=self.zone)).astimezone(UTC)

    def today(self) -> date:
        """Returns the current day in the owner's zone."""
        return self.clock().astimezone(self.zone).date()

    def source_folders(self) -> list[Path]:
        """Returns the folders and files named in `sources`."""
        return [Path(part).expanduser() for part in self.sources.split(os.pathsep) if part.strip()]


def read_settings(**overrides: Any) -> Settings:
    """Returns the settings of this process with the overrides; raises `SettingsError` with the
    wrong setting and its origin.
    """
    origin = " or ".join([*settings_files(), "the environment"])
    try:
        return Settings(**overrides)
    except ValidationError as error:
        raise SettingsError(
            f"Cannot use these settings, from {origin}:\n{_list_errors(error, is_named=True)}"
        ) from error
    except SettingsSourceError as error:
        raise SettingsError(
            f"Cannot read the settings from {origin}: {error}. Fix or remove them."
        ) from error


def read_file(file: str) -> dict[str, Any]:
    """Returns the settings in a `memory.toml`; raises `SettingsError` if it cannot be read, or must
    not set `data`.
    """
    try:
        found = tomllib.loads(Path(file).read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise SettingsError(
            f"Cannot read the settings from {file}: {error}. Fix or remove it."
        ) from error
    found = {name: from_folder(Path(file).parent, name, value) for name, value in found.items()}
    if file == user_settings_file() or "data" not in found:
        return found
    if Path(str(found.pop("data"))) != Path(find_data()):
        raise SettingsError(
            f"Cannot use `data` in {file}: the data folder must be known before this file "
            "is read. Remove that line, and "
            f"set `data` in {user_settings_file()}, or MEMORY_DATA."
        )
    return found


def changed_settings(settings: Settings, changes: Mapping[str, Any]) -> Settings:
    """Returns the settings with these changes; raises `SettingsError` with the wrong one."""
    try:
        read = Settings(**changes)
    except ValidationError as error:
        raise SettingsError(f"Cannot try these settings:\n{_list_errors(error)}") from error
    return settings.model_copy(update={name: getattr(read, name) for name in changes})


def from_folder(folder: Path, name: str, value: Any) -> Any:
    """Returns the setting with relative paths resolved against the folder."""
    if not isinstance(value, str) or not value:
        return value
    if name in ("sources", "adr_folders"):
        return os.pathsep.join(
            str(folder / Path(part).expanduser())
            for part in value.split(os.pathsep)
            if part.strip()
        )
    is_path = name in PATHS or (name == "embedding_model" and value != USUAL_EMBEDDING_MODEL)
    return str(folder / Path(value).expanduser()) if is_path else value


def _list_errors(error: ValidationError, *, is_named: bool = False) -> str:
    """Returns one line per wrong setting, with the name of its environment variable if wanted."""
    named = [
        (one, f" (MEMORY_{str(one['loc'][0]).upper()})" if is_named else "")
        for one in error.errors()
    ]
    return "\n".join(
        f"  {'.'.join(map(str, one['loc']))}{name}: {one['msg']} (got {one['input']!r})"
        for one, name in named
    )
