"""Finds the clients of harnesses that can answer as models, and their logins. Starts none.

A key in the environment is no login: a client that is asked as a model does not inherit it.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from memory_assets.adapters.harness_model import find_program
from memory_assets.harnesses.homes import harness_homes
from memory_assets.schema.vocabulary import Harness
from memory_assets.store.places import home_folder


class Client(NamedTuple):
    """The client of a harness."""

    title: str
    vendor: str
    program: str
    home: Harness
    """The harness under whose name `harness_homes` has its folder."""
    login_file: str
    """The file in its folder that a login writes."""
    login_variable: str


CLIENTS = {
    "claude-code": Client(
        "Claude Code",
        "Anthropic",
        "claude",
        "claude_code",
        ".credentials.json",
        "CLAUDE_CODE_OAUTH_TOKEN",
    ),
    "codex": Client("Codex", "OpenAI", "codex", "codex", "auth.json", "CODEX_API_KEY"),
}


def missing_of(name: str) -> str:
    """Returns what keeps the harness from answering; an empty text if nothing is missing."""
    client = CLIENTS[name]
    if find_program(client.program) is None:
        return f"{client.title} is not installed"
    return "" if login_of(name) else "no login found"


def login_of(name: str, environ: Mapping[str, str] = os.environ) -> str:
    """Returns where the login of the harness is: a variable, a file or the keychain; an empty text
    if none is found.
    """
    client = CLIENTS[name]
    folder = _folder_of(client, environ)
    if environ.get(client.login_variable):
        return client.login_variable
    login_file = folder / client.login_file
    if login_file.is_file():
        return str(login_file)
    config_folder = folder if environ.get("CLAUDE_CONFIG_DIR") else folder.parent
    has_account = name == "claude-code" and _has_account(config_folder)
    return "its account, in the system's keychain" if has_account else ""


def plan_of(name: str) -> str:
    """Returns the subscription that the login names, such as `max`; empty if it names none."""
    client = CLIENTS[name]
    file = _folder_of(client, os.environ) / client.login_file
    try:
        return str(json.loads(file.read_bytes())["claudeAiOauth"]["subscriptionType"] or "")
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _folder_of(client: Client, environ: Mapping[str, str]) -> Path:
    return harness_homes(Path(home_folder()), environ)[client.home]


def _has_account(folder: Path) -> bool:
    """Returns whether Claude Code's settings name an account; on macOS the login itself is in the
    keychain.
    """
    try:
        return "oauthAccount" in json.loads((folder / ".claude.json").read_bytes())
    except (OSError, ValueError):
        return False
