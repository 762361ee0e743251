"""Finds the clients of harnesses that can answer as models, and their logins. Starts none.

A key in the environment is no login, unless a client that is asked as a model inherits it. A key in
the harness's own settings is one, and a server that they name is who reads.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from memory_assets.adapters.anthropic_model import KEYS
from memory_assets.adapters.codex_model import chosen_server
from memory_assets.adapters.harness_model import find_program
from memory_assets.harnesses.homes import harness_homes
from memory_assets.schema.vocabulary import HARNESS_TITLES, Harness
from memory_assets.store.places import home_folder
from memory_assets.store.settings import Settings


class Client(NamedTuple):
    """The client of a harness."""

    vendor: str
    program: str
    home: Harness
    """The harness under whose name `harness_homes` has its folder."""
    login_file: str
    """The file in its folder that a login writes."""
    login_variable: str

    @property
    def title(self) -> str:
        """The harness's name for people."""
        return HARNESS_TITLES[self.home]


CLIENTS = {
    "claude-code": Client(
        "Anthropic", "claude", "claude_code", ".credentials.json", "CLAUDE_CODE_OAUTH_TOKEN"
    ),
    "codex": Client("OpenAI", "codex", "codex", "auth.json", "CODEX_API_KEY"),
}

CLOUD = "CLAUDE_CODE_USE_"
"""Beginning of the variables with which Claude Code asks a cloud, such as Bedrock."""

LOGINS = ("apiKeyHelper", *KEYS, CLOUD)
"""Settings of Claude Code that take the place of a login."""


def missing_of(name: str, inherited: Mapping[str, str]) -> str:
    """Returns what keeps the harness from answering; an empty text if nothing is missing."""
    client = CLIENTS[name]
    if find_program(client.program) is None:
        return f"{client.title} is not installed"
    return "" if login_of(name, inherited) else "no login found"


def inherited_variables(settings: Settings) -> Mapping[str, str]:
    """Returns the variables with keys and addresses that a client asked as a model inherits."""
    return os.environ if settings.model_inherits_keys else {}


def login_of(
    name: str, inherited: Mapping[str, str], environ: Mapping[str, str] = os.environ
) -> str:
    """Returns where the login of the harness is: a variable, a setting, a file or the keychain; an
    empty text if none is found.
    """
    server = chosen_server()
    if name == "codex" and not server.get("requires_openai_auth"):
        key = str(server.get("env_key") or "")
        return f"its own server, {key or 'no key'}" if not key or environ.get(key) else ""
    client = CLIENTS[name]
    if environ.get(client.login_variable):
        return client.login_variable
    login_file = _folder_of(client, environ) / client.login_file
    if login_file.is_file():
        return str(login_file)
    return _claude_login(inherited, environ) if name == "claude-code" else ""


def _claude_login(inherited: Mapping[str, str], environ: Mapping[str, str]) -> str:
    """Returns what takes the place of Claude Code's login file; on macOS that is the keychain."""
    folder = _folder_of(CLIENTS["claude-code"], environ)
    settings = {**inherited, **_claude_settings(environ)}
    logins = [setting for setting in settings if setting.startswith(LOGINS)]
    accounts = folder if environ.get("CLAUDE_CONFIG_DIR") else folder.parent
    if "oauthAccount" in _read_object(accounts / ".claude.json"):
        logins.append("its account, in the system's keychain")
    return next(iter(logins), "")


def reader_of(name: str, inherited: Mapping[str, str]) -> str:
    """Returns who reads what the harness is sent: its vendor, or the server that its own settings,
    or the variables that it inherits, name instead.
    """
    settings = {**inherited, **_claude_settings(os.environ)}
    clouds = [key.removeprefix(CLOUD).title() for key in settings if key.startswith(CLOUD)]
    servers = {"codex": chosen_server().get("base_url")}
    servers["claude-code"] = next(iter(clouds), settings.get("ANTHROPIC_BASE_URL"))
    return f"{servers[name] or CLIENTS[name].vendor}, as when you use it"


def plan_of(name: str) -> str:
    """Returns the subscription that the login names, such as `max`; empty if it names none."""
    file = _folder_of(CLIENTS[name], os.environ) / CLIENTS[name].login_file
    return str(_read_object(file, "claudeAiOauth").get("subscriptionType") or "")


def _claude_settings(environ: Mapping[str, str]) -> Mapping[str, Any]:
    """Returns the settings of Claude Code with the variables that they set, also for a client that
    is asked as a model.
    """
    path = _folder_of(CLIENTS["claude-code"], environ) / "settings.json"
    return {**_read_object(path), **_read_object(path, "env")}


def _folder_of(client: Client, environ: Mapping[str, str]) -> Path:
    return harness_homes(Path(home_folder()), environ)[client.home]


def _read_object(path: Path, name: str = "") -> Mapping[str, Any]:
    """Returns the object in a JSON file, or that of the name in it; empty where there is none."""
    try:
        root = json.loads(path.read_bytes())
        return dict(root[name] if name else root)
    except (OSError, ValueError, KeyError, TypeError):
        return {}
