"""The settings and their sources: defaults, the data folder's `memory.toml`, the user's
`memory.toml`, and environment variables that begin with `MEMORY_`.

Each source overrides the sources before it. Files in the working folder are never read (`places`).
A relative path in a file is relative to the file's folder. Numbers that define a rule (merge
similarity, decay rate) are constants and not settings.
"""

import getpass
import json
import os
import tomllib
from collections.abc import Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError
from pydantic_settings import BaseSettings, InitSettingsSource, NoDecode, SettingsConfigDict
from pydantic_settings.exceptions import SettingsError as SettingsSourceError

from memory_assets.errors import SettingsError
from memory_assets.schema.extras import extras, loaded
from memory_assets.schema.setting_types import (
    ALL_PROJECTS,
    OtherNames,
    ProjectNames,
    ServerAddress,
    parse_names,
    setting,
)
from memory_assets.store import places

RULES = "rules"
"""Value of the setting `model` for no model."""

AGENT = "agent"
"""Value of the setting `model` where no model is sent anything, but agents may read sessions when
the owner asks them to (`runs.agent_answers`).
"""

NOT_ASKED = (RULES, AGENT)
"""Values of the setting `model` with which no run asks a model."""

NO_MODEL = ("none", "no", "off", "false", "null", "0")
"""Rejected as names of models: the user means no model, but a name would send transcripts to a
server.
"""

HARNESS_MODELS: dict[str, dict[str, str]] = {
    "claude-code": {"observer": "haiku", "reflector": "sonnet"},
    "codex": {},
}
"""Harness → role → the model that it is asked to use if the setting names none; without one the
harness uses its own default.
"""

Role = Literal["observer", "reflector"]
"""The observer extracts facts and rewrites questions; the reflector condenses, reviews and answers
with citations.
"""

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
"""Category → days with queries, but without a recall, after which a memory is stale; 0: never
(`stages.maintain.states`).
"""

UTC_NAMES = tuple(
    "Etc/UTC Etc/UCT Etc/Universal Etc/Zulu Etc/GMT Etc/Greenwich UCT Universal Zulu GMT "
    "Greenwich".split()
)
"""Other names of UTC. Zones are compared by one name, so that another name of the same zone does
not make a store stale.
"""


def _user_name() -> str:
    """Returns the user's name; `owner` for a user id that the system has no name for."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "owner"


def local_zone() -> str:
    """Returns the name of the system's time zone."""
    from tzlocal import get_localzone_name

    return _check_zone(get_localzone_name() or "UTC")


def _check_zone(name: str) -> str:
    """Returns the canonical name of the zone; raises `ValueError` for an unknown one."""
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise ValueError(
            f"'{name}' is not a time zone; use a name such as Europe/Berlin or UTC"
        ) from None
    return canonical_zone(name)


def canonical_zone(name: str) -> str:
    """Returns the name of the zone; `UTC` for all names of UTC."""
    return "UTC" if name in UTC_NAMES else name


def stored_zone(root: Path) -> str:
    """Returns the zone of the days of the store in the folder; empty where there is none, or where
    it is damaged; raises `OSError` where it cannot be read.
    """
    try:
        zone = json.loads((root / places.INSTANCE_FILE).read_bytes())["timezone"]
    except (FileNotFoundError, NotADirectoryError, ValueError, KeyError, TypeError):
        return ""
    return canonical_zone(zone) if isinstance(zone, str) else ""


def _check_model(name: str) -> str:
    """Returns the name of a model, or `rules`; raises `ValueError` for what cannot be a name."""
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
    """Returns the harness of a model such as `claude-code` or `codex:MODEL`; None for a model of an
    API.
    """
    name = model.partition(":")[0]
    return name if name in HARNESS_MODELS else None


def _check_prices(prices: dict[str, dict[TokenKind, float]]) -> dict[str, dict[TokenKind, float]]:
    """Returns the prices; raises `ValueError` if one lacks the input or the output price."""
    required = {"input", "output"}
    incomplete = sorted(
        name for name, price in prices.items() if not name or not required <= price.keys()
    )
    if incomplete:
        raise ValueError(
            f'give input and output of {incomplete}, as in {{"my-model": {{"input": 1.0, '
            f'"output": 5.0}}}}'
        )
    return prices


def _check_ttls(days: dict[str, int]) -> dict[str, int]:
    """Returns the days of all categories, with these; raises `ValueError` for an unknown one."""
    unknown = sorted(days.keys() - TTL_DAYS)
    if unknown:
        raise ValueError(
            f"there is no category {', '.join(unknown)}; the categories are {', '.join(TTL_DAYS)}"
        )
    return {**TTL_DAYS, **days}


Zone = Annotated[str, AfterValidator(_check_zone)]
ModelName = Annotated[str, AfterValidator(_check_model)]
OptionalModelName = Annotated[str, AfterValidator(lambda name: _check_model(name) if name else "")]
Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Prices = Annotated[dict[str, dict[TokenKind, Dollars]], AfterValidator(_check_prices)]
Sections = Annotated[dict[str, str], AfterValidator(lambda sections: {**SECTIONS, **sections})]
TtlDays = Annotated[dict[str, Annotated[int, Field(ge=0)]], AfterValidator(_check_ttls)]
OptionalCategories = Annotated[
    list[Literal["health", "hobbies"]], NoDecode, BeforeValidator(parse_names)
]
AbsolutePath = Annotated[Path, AfterValidator(lambda path: path.expanduser().absolute())]
OptionalPath = Annotated[
    AbsolutePath | None, BeforeValidator(lambda path: None if path == "" else path)
]


RENAMED = {"friction_observations": "friction_sessions"}
"""Old name of a setting → its present name."""


class CoreSettings(BaseSettings):
    """The settings without those of optional capabilities."""

    model_config = SettingsConfigDict(
        env_prefix="MEMORY_", env_ignore_empty=True, extra="forbid", frozen=True
    )

    data: AbsolutePath = setting(
        "Folder that holds all state.", default_factory=lambda: Path(places.default_data())
    )
    sources: str = setting(
        "Folders with transcripts, or files, separated as in PATH; each is read whole.", ""
    )
    timezone: Zone = setting(
        "The owner's time zone, for days and clock times.", default_factory=local_zone
    )
    date_order: Literal["auto", "dmy", "mdy"] = setting(
        "Order in 05/06/2026; `auto`: by time zone.", "auto"
    )
    owner: str = setting(
        "The person MEMORY.md is written for; sessions of this machine are theirs.",
        default_factory=_user_name,
    )
    people: dict[str, str] = setting(
        "Home folder name → person, for sessions from elsewhere.", default_factory=dict
    )
    aliases: dict[str, OtherNames] = setting(
        "Full name → other names for the same thing.", default_factory=dict
    )
    model: ModelName = setting(
        "Model that observes and rewrites questions; `rules`: none; `agent`: agents that you ask; "
        "see `memory docs model`.",
        RULES,
    )
    reflector_model: OptionalModelName = setting(
        "Model that reflects and reviews; empty: that of `model`.", ""
    )
    rerank: bool = setting(
        "Whether the model also reranks what `balanced` and `deep` recall; see "
        "`memory docs recall`.",
        True,
    )
    model_projects: ProjectNames = setting(
        "Projects that models may be sent; `*`: all.", default_factory=lambda: [ALL_PROJECTS]
    )
    model_url: ServerAddress = setting(
        "Another server with the Messages API: a gateway, a local runtime.", ""
    )
    reflector_url: ServerAddress = setting(
        "Server of `reflector_model`; empty: that of `model_url`.", ""
    )
    model_at_once: int = setting("Concurrent requests to the model.", 3, ge=1, le=64)
    model_inherits_keys: bool = setting(
        "Whether a harness asked as a model gets keys and addresses of the environment.", False
    )
    model_timeout_seconds: float = setting(
        "Seconds without a byte of an answer.", 60.0, gt=0, le=3600
    )
    model_retries: int = setting("Retries of a call that fails or is silent.", 2, ge=0, le=20)
    model_batches: Literal["auto", "always", "never"] = setting(
        "Batches (half price); `auto`: from 20.", "auto"
    )
    model_most_usd: float = setting(
        "A run that would cost more US dollars sends nothing.", 10.0, ge=0
    )
    model_prices: Prices = setting(
        "Model → US dollars per million tokens of `input`, `output`, `cache_write` and "
        "`cache_read`.",
        default_factory=dict,
    )
    observer_prompt: OptionalPath = setting(
        "File with another observer prompt; see `memory docs model`.", None
    )
    least_useful: float = setting(
        "Usefulness below which the write gate holds a fact.", 0.7, ge=0, le=1
    )
    facts_per_session: int = setting(
        "Maximum facts per session that rules find; the most useful are kept. A model is asked "
        "for few.",
        25,
        ge=0,
    )
    taxonomy: OptionalPath = setting(
        "File of category words, like stages/distill/taxonomy.toml.", None
    )
    optional_categories: OptionalCategories = setting(
        "More categories of facts: `health`, `hobbies`.", default_factory=list
    )
    embedding_model: str = setting(
        "Local embedding model, or a folder with one.", USUAL_EMBEDDING_MODEL
    )
    now: datetime | None = setting("A fixed clock, for tests and demonstrations (ISO 8601).", None)
    recall_factors: list[Literal["decay", "stale", "elsewhere", "used", "tone"]] = setting(
        "Factors of a recalled memory's rank; see `memory docs recall`.",
        default_factory=lambda: ["decay", "stale", "used"],
    )
    harness_opt_outs: bool = setting(
        "Whether sessions that Codex marks as not for memory are left out.", True
    )
    harness_memories: bool = setting(
        "Whether memories of Claude Code and Codex are read and recalled.", True
    )
    ttl_days: TtlDays = setting(
        "Category → days with queries, without a recall, after which a memory is stale; 0: never.",
        default_factory=lambda: dict(TTL_DAYS),
    )
    since_days: int = setting("Days of this machine's transcripts to distil at first.", 14, ge=1)
    idle_minutes: int = setting("A session without a message for this long has ended.", 60, ge=1)
    short_turns: int = setting(
        "Of sessions with fewer user turns only corrections and rules are kept.", 5, ge=0
    )
    rewound_turns: bool = setting(
        "Whether turns that you took back (rewind, rollback) stay part of the conversation.", False
    )
    context_tokens: int = setting("Context size that budgets derive from.", 200_000, ge=8_000)
    friction_sessions: int = setting("Minimum sessions before friction is searched.", 10, ge=0)
    review_days: int = setting(
        "Days with sessions of its project after which an undecided proposal expires.", 7, ge=1
    )
    trust_after: int = setting(
        "Approvals until a category is trusted (high priority, two sessions); 0: never.", 0, ge=0
    )
    sections: Sections = setting(
        "Category → section of MEMORY.md.", default_factory=lambda: dict(SECTIONS)
    )
    remote: str = setting(
        "Git remote that the workspace's history is pushed to; never pulled from.", ""
    )
    todoist_project: str = setting(
        "Todoist project in which proposals become tasks; by default the Inbox.", ""
    )
    todoist_label: str = setting("Label of those tasks.", "memory-review", pattern=r"^[\w-]{1,60}$")
    todoist_url: ServerAddress = setting("Another server with the Todoist API.", "")
    gold: OptionalPath = setting(
        "Folder of labelled sessions to evaluate against; see `memory docs operating`.", None
    )
    run_days: int = setting("Days for which Dagster's runs and their logs are kept.", 30, ge=1)
    on_failure: str = setting(
        "Command that is run when a run failed, with the message as its last argument.", ""
    )
    disk_gb: float = setting(
        "Gigabytes that the store may take; 0: no limit.", 10.0, ge=0, allow_inf_nan=False
    )
    port: int = setting("Port of the Dagster UI; the next free one is taken.", 3000, ge=1, le=65535)

    @classmethod
    def settings_customise_sources(
        cls, settings_cls, init_settings, env_settings, *_: Any, **__: Any
    ):
        values = map(read_file, _files_for(init_settings().get("data")))
        files = (InitSettingsSource(settings_cls, init_kwargs=each) for each in values)
        return init_settings, env_settings, *files

    @property
    def shared_at(self) -> str:
        """The address at which several machines share the store; empty if they share none.

        An optional capability overrides this and the next two.
        """
        return ""

    @property
    def needs_servers(self) -> bool:
        """Whether an update asks servers that hold a part of the store."""
        return False

    def of_folder(self) -> Self:
        """Returns these settings without the shared copy: the store is the data folder alone."""
        return self

    @property
    def zone(self) -> ZoneInfo:
        """The owner's time zone."""
        return ZoneInfo(self.timezone)

    def model_of(self, role: Role) -> str:
        """Returns the name of the model in the role, or `rules`; for a harness without a model, its
        default in `HARNESS_MODELS`.
        """
        name = self.model
        if role == "reflector" and self.reflector_model:
            name = self.reflector_model
        if role == "reflector" and name == AGENT:
            return RULES
        default = HARNESS_MODELS.get(name, {}).get(role)
        return f"{name}:{default}" if default else name

    def url_of(self, role: Role) -> str:
        """Returns the address of the server of the model in the role; empty for the vendor's."""
        if role == "reflector" and self.reflector_url:
            return self.reflector_url
        return self.model_url

    @property
    def uses_models(self) -> bool:
        """Whether a model is named in any role."""
        return {self.model_of("observer"), self.model_of("reflector")} != {RULES}

    @property
    def has_consent(self) -> bool:
        """Whether a person allowed that sessions are read: a model is named, or projects are."""
        return self.uses_models or "model_projects" in self.model_fields_set

    def may_send(self, project: str) -> bool:
        """Returns whether data of the project may be sent to a model; data of no project may."""
        allowed = self.model_projects
        return not project or ALL_PROJECTS in allowed or project in allowed

    def clock(self) -> datetime:
        """Returns the current time in UTC, or the fixed one in `now`."""
        if self.now is None:
            return datetime.now(UTC)
        now = self.now if self.now.tzinfo else self.now.replace(tzinfo=self.zone)
        return now.astimezone(UTC)

    def today(self) -> date:
        """Returns the current day in the owner's zone."""
        return self.clock().astimezone(self.zone).date()

    def source_folders(self) -> list[Path]:
        """Returns the folders and files named in `sources`."""
        parts = filter(str.strip, self.sources.split(os.pathsep))
        return [Path(part).expanduser() for part in parts]


if TYPE_CHECKING:
    Settings = CoreSettings
else:

    class Settings(*loaded("settings"), CoreSettings):
        """All settings of the program."""


PATH_LISTS = ("sources", *(name for extra in extras() for name in extra.path_lists))
"""Settings that are lists of paths, separated as in PATH."""


def read_settings(**overrides: Any) -> Settings:
    """Returns the settings of this process, changed by the overrides; raises `SettingsError`, which
    names the wrong setting and its possible origins.
    """
    origin = " or ".join([*_files_for(overrides.get("data")), "the environment"])
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


def _files_for(data: Any) -> list[str]:
    """Returns each `memory.toml` that applies with this data folder, by default the present one."""
    environ = {**os.environ, "MEMORY_DATA": str(data)} if data else os.environ
    return places.settings_files(environ)


def read_file(file: str) -> dict[str, Any]:
    """Returns the settings in a `memory.toml`, paths made absolute; raises `SettingsError` if it
    cannot be read, or is in a data folder and sets `data` to another one.
    """
    folder = Path(file).parent
    try:
        values = tomllib.loads(Path(file).read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise SettingsError(
            f"Cannot read the settings from {file}: {error}. Fix or remove it."
        ) from error
    settings = {name: from_folder(folder, name, value) for name, value in values.items()}
    if file == places.user_settings_file() or "data" not in settings:
        return settings
    if Path(str(settings.pop("data"))) != folder:
        raise SettingsError(
            f"Cannot use `data` in {file}: the data folder must be known before this file is read. "
            f"Remove that line, and set `data` in {places.user_settings_file()}, or MEMORY_DATA."
        )
    return settings


def changed_settings(settings: Settings, changes: Mapping[str, Any]) -> Settings:
    """Returns the settings with these changes; raises `SettingsError`, which names the wrong
    one.
    """
    try:
        parsed = Settings(**changes)
    except ValidationError as error:
        raise SettingsError(f"Cannot try these settings:\n{_list_errors(error)}") from error
    return settings.model_copy(update={name: getattr(parsed, name) for name in changes})


def from_folder(folder: Path, name: str, value: Any) -> Any:
    """Returns the setting with relative paths resolved against the folder."""
    if not isinstance(value, str) or not value:
        return value
    if name in PATH_LISTS:
        parts = [part for part in value.split(os.pathsep) if part.strip()]
        return os.pathsep.join(str(folder / Path(part).expanduser()) for part in parts)
    is_path = name in PATHS or (name == "embedding_model" and value != USUAL_EMBEDDING_MODEL)
    return str(folder / Path(value).expanduser()) if is_path else value


def _list_errors(error: ValidationError, *, is_named: bool = False) -> str:
    """Returns one line per wrong setting; with `is_named` it names the environment variable."""
    lines = []
    for fault in error.errors():
        variable = f" (MEMORY_{str(fault['loc'][0]).upper()})" if is_named else ""
        place = ".".join(map(str, fault["loc"]))
        new_name = RENAMED.get(place)
        message = f"this setting is now `{new_name}`" if new_name else fault["msg"]
        lines.append(f"  {place}{variable}: {message} (got {fault['input']!r})")
    return "\n".join(lines)
