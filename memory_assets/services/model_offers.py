"""Finds what this machine offers as a model, and what a model would be sent; sends nothing of a transcript, and nothing abroad.

Looked at are the clients of harnesses and the files of their logins (whether they exist), the names of keys in the environment,
and the usual ports of local servers on this machine, which are asked for the list of their models.
"""

import json
import os
import socket
import urllib.request
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Literal

import polars as pl

from memory_assets.adapters.anthropic_model import KEYS
from memory_assets.adapters.harness_model import find_program
from memory_assets.services.model_budget import Budget
from memory_assets.stages.distill.model.material import QUOTED_CHARS
from memory_assets.stages.distill.model.questions import STAMP_TOKENS, TOKENS_A_CALL, prompt
from memory_assets.store.places import harness_homes
from memory_assets.store.settings import RULES, Settings, harness_of
from memory_assets.store.store import Store
from memory_assets.text.words import CHARS_A_TOKEN, count_tokens

USUAL_PORTS = {11434: "Ollama", 1234: "LM Studio", 8080: "llama.cpp", 8000: "vLLM", 4000: "LiteLLM"}
SECONDS = 0.5
"""For a local server to answer."""

KEY_MODEL = "claude-haiku-4-5"
"""The model that a key is shown with."""

MOST_SHOWN = 3
"""Models of one local server."""

CLIENTS: dict[str, tuple[str, str, str, tuple[str, ...]]] = {
    "claude-code": ("Claude Code", "claude", "claude_code", (".credentials.json",)),
    "codex": ("Codex", "codex", "codex", ("auth.json",)),
}
"""Harness → title, command, name of its home, files of a login."""


@dataclass(frozen=True)
class ModelOffer:
    """Something that could be used as a model."""

    name: str
    """For `memory model use`."""
    kind: Literal["harness", "key", "server"]
    state: str
    """What was found, and what is missing."""
    is_ready: bool
    sent_to: str
    """Who would read what is sent."""
    usd: float | None = None
    """Price of what is due; None where it is unknown."""
    url: str = ""
    """Address of a local server."""

    @property
    def command(self) -> str:
        """The command that chooses it."""
        return f"memory model use {self.name}" + (f" --url {self.url}" if self.url else "")


@dataclass(frozen=True)
class ProjectShare:
    """The sessions of one project, and what a model would be sent of them."""

    project: str
    sessions: int
    calls: int
    """About windows that no model was asked about."""
    tokens: int
    """Estimated, of these calls."""
    may_send: bool
    """Whether the settings allow it."""


@dataclass(frozen=True)
class ModelOverview:
    """The configured models, the offers of this machine, and what is due."""

    observer: str
    reflector: str
    origin: str
    """Where the observer's name comes from."""
    sent_to: str
    """Who reads what is sent now; empty without a model."""
    projects: tuple[ProjectShare, ...]
    """Every project, the largest first."""
    calls: int
    """About windows that no model was asked about."""
    tokens: int
    offers: tuple[ModelOffer, ...]

    @property
    def waiting(self) -> tuple[str, ...]:
        """The projects that a configured model may not be sent."""
        return tuple(one.project for one in self.projects if not one.may_send)


def overview_of(store: Store, origin: str) -> ModelOverview:
    """Returns what this machine offers, and what a model would be sent of the store."""
    settings = store.settings
    due = {project: list(sizes) for project, sizes in _due_calls(store)}
    tokens = [size for sizes in due.values() for size in sizes]
    observer, reflector = settings.model_of("observer"), settings.model_of("reflector")
    return ModelOverview(
        observer,
        reflector,
        origin,
        _sent_to(settings) if settings.uses_models else "",
        tuple(_shares(store, due)),
        len(tokens),
        sum(tokens),
        tuple(find_offers(store, tokens)),
    )


def find_offers(store: Store, tokens: list[int]) -> Iterator[ModelOffer]:
    """Yields the harnesses, keys and local servers of this machine, with the price of calls of these sizes."""
    for name in CLIENTS:
        usd = Budget(store, _named(store.settings, name)).estimate(tokens)
        yield _harness_offer(name, usd)
    if keys := [name for name in KEYS if os.environ.get(name)]:
        usd = Budget(store, KEY_MODEL).estimate(tokens)
        yield ModelOffer(KEY_MODEL, "key", f"{keys[0]} is set", True, "Anthropic", usd)
    with ThreadPoolExecutor(len(USUAL_PORTS)) as pool:
        for port, models in zip(USUAL_PORTS, pool.map(local_models, USUAL_PORTS), strict=True):
            url = f"http://127.0.0.1:{port}"
            more = f", {len(models) - MOST_SHOWN} more models" if len(models) > MOST_SHOWN else ""
            for model in models[:MOST_SHOWN]:
                state = f"answers on port {port} ({USUAL_PORTS[port]}?){more}"
                yield ModelOffer(model, "server", state, True, "this server", 0.0, url)


def local_models(port: int) -> list[str]:
    """Returns the models that a server on this port of this machine lists; none where none answers in time."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=SECONDS):
            pass
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with direct.open(f"http://127.0.0.1:{port}/v1/models", timeout=SECONDS) as answer:
            listed = json.loads(answer.read(1_000_000))["data"]
        return [str(one["id"]) for one in listed]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def login_of(name: str, home: Path | None = None, environ: Mapping[str, str] = os.environ) -> str:
    """Returns where the harness has a login, as far as files and names of variables show; empty where none is found."""
    _, _, kind, files = CLIENTS[name]
    folder = harness_homes(home or Path.home(), environ)[kind]
    variables = (*KEYS, "CLAUDE_CODE_OAUTH_TOKEN") if name == "claude-code" else ("CODEX_API_KEY",)
    for variable in variables:
        if environ.get(variable):
            return variable
    for file in files:
        if (folder / file).is_file():
            return str(folder / file)
    is_account = name == "claude-code" and _has_account(folder if environ.get("CLAUDE_CONFIG_DIR") else folder.parent)
    return "its account, in the system's keychain" if is_account else ""


def _has_account(folder: Path) -> bool:
    """Returns whether Claude Code noted an account; on macOS the login itself is in the keychain."""
    try:
        return "oauthAccount" in json.loads((folder / ".claude.json").read_bytes())
    except (OSError, ValueError):
        return False


def _harness_offer(name: str, usd: float | None) -> ModelOffer:
    title, program, _, _ = CLIENTS[name]
    vendor = "Anthropic, as when you use it" if name == "claude-code" else "OpenAI, as when you use it"
    if find_program(program) is None:
        return ModelOffer(name, "harness", f"{title} is not installed", False, vendor, usd)
    login = login_of(name)
    return ModelOffer(name, "harness", f"logged in ({login})" if login else "no login found", bool(login), vendor, usd)


def _named(settings: Settings, harness: str) -> str:
    return settings.model_copy(update={"model": harness}).model_of("observer")


def _sent_to(settings: Settings) -> str:
    """Returns who reads what the configured models are sent."""
    readers = []
    for role in ("observer", "reflector"):
        name = settings.model_of(role)
        if name != RULES:
            harness = harness_of(name)
            readers.append(CLIENTS[harness][0] if harness else settings.url_of(role) or "https://api.anthropic.com")
    return " and ".join(dict.fromkeys(readers))


def _due_calls(store: Store) -> Iterator[tuple[str, Iterator[int]]]:
    """Yields each project with windows that no model was asked about, and the prompt tokens of the calls about them."""
    observed = store.tables.read("windows", columns=["window_id", "project", "status", "day"])
    observed = observed.filter(status="observed").drop_nulls("day")
    answered = store.tables.read("observer_answers", columns=["window_id"])
    length = pl.col("text").str.len_chars()
    shown = pl.when(pl.col("kind") == "text").then(length).otherwise(pl.min_horizontal(length, QUOTED_CHARS))
    lengths = store.tables.scan("messages").group_by("window_id").agg(tokens=(shown // CHARS_A_TOKEN + STAMP_TOKENS).sum())
    due = observed.join(answered, on="window_id", how="anti").join(lengths.collect(), on="window_id")
    for (project,), own in due.sort("project").group_by("project", maintain_order=True):
        yield str(project), chain.from_iterable(map(_calls, own["tokens"]))


def _shares(store: Store, due: Mapping[str, list[int]]) -> Iterator[ProjectShare]:
    """Yields every project with its share, the largest first."""
    windows = store.tables.read("windows", columns=["project", "session_id"])
    sessions = dict(windows.group_by("project").agg(pl.col("session_id").n_unique()).iter_rows())
    for project in sorted(sessions, key=lambda name: (-sum(due.get(name, ())), name)):
        sizes = due.get(project, [])
        yield ProjectShare(project, sessions[project], len(sizes), sum(sizes), store.settings.may_send(project))


def _calls(tokens: int) -> list[int]:
    """Returns the prompt tokens of each call about a window of so many tokens."""
    count = max(-(-tokens // TOKENS_A_CALL), 1)
    return [count_tokens(prompt()) + tokens // count] * count
