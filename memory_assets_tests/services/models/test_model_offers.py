"""What this machine offers as a model: clients, logins, keys and local servers; what would be sent; and that looking sends nothing."""

import json
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from memory_assets.services.models import model_offers
from memory_assets.services.models.harness_clients import login_of
from memory_assets.services.models.model_budget import ANSWER_TOKENS
from memory_assets.services.models.model_offers import (
    DueQuestions,
    find_offers,
    local_models,
    overview_of,
)
from memory_assets.services.models.model_questions import Consultation
from memory_assets.stages.distill.model.short_sessions import USUAL_ANSWER_TOKENS
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store
from memory_assets_tests.messages_api import serve
from memory_assets_tests.small_store import DAY, small_store, write


@pytest.fixture(autouse=True)
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without clients, keys and servers."""
    for name in (*model_offers.KEYS, "CLAUDE_CODE_OAUTH_TOKEN", "CODEX_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr("memory_assets.adapters.harness_model.SYSTEM_FOLDERS", ())
    monkeypatch.setattr(model_offers, "USUAL_PORTS", {1: "Ollama"})


def install(tmp_path: Path, program: str) -> None:
    path = tmp_path / "bin" / program
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\nexit 9\n")
    path.chmod(path.stat().st_mode | stat.S_IEXEC)


@contextmanager
def server(body: bytes, status: int = 200) -> Iterator[tuple[int, list[str]]]:
    """A local server, and what it was asked."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(f"{self.command} {self.path}")
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Prints nothing."""

    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield running.server_address[1], asked
    finally:
        running.shutdown()
        running.server_close()


DUE = DueQuestions((1000,), (), 0, ())
LISTED = json.dumps(
    {"object": "list", "data": [{"id": "qwen3:30b"}, {"id": "gemma4:12b"}]}
).encode()


def test_a_bare_machine_offers_nothing_that_is_ready():
    offers = list(find_offers(small_store(), DUE))
    assert [(one.name, one.is_ready, one.state) for one in offers] == [
        ("claude-code", False, "Claude Code is not installed"),
        ("codex", False, "Codex is not installed"),
    ]


def test_a_login_in_the_keychain_is_known_by_the_account(tmp_path: Path):
    assert login_of("claude-code", {}) == ""
    (tmp_path / "home" / ".claude.json").write_text(
        '{"oauthAccount": {"emailAddress": "mira@example.org"}}'
    )
    assert login_of("claude-code", {}) == "its account, in the system's keychain"
    assert login_of("claude-code", {}, environ={"CLAUDE_CODE_OAUTH_TOKEN": "secret"}) == (
        "CLAUDE_CODE_OAUTH_TOKEN"
    )
    assert login_of("claude-code", {}, environ={"CLAUDE_CONFIG_DIR": str(tmp_path)}) == ""


SERVER = 'model_provider = "ours"\n[model_providers.ours]\nbase_url = "https://llm.example/v1"\n'


@pytest.mark.parametrize(
    ("program", "file", "text", "reader", "state"),
    [
        ("claude", ".credentials.json", "{}", "Anthropic", ".claude/.credentials.json"),
        ("codex", "auth.json", "{}", "OpenAI", ".codex/auth.json"),
        ("claude", "settings.json", '{"env": {"ANTHROPIC_BASE_URL": "https://llm.example"}}', "https://llm.example", ""),
        ("claude", "settings.json", '{"env": {"ANTHROPIC_AUTH_TOKEN": "s"}}', "Anthropic", "ANTHROPIC_AUTH_TOKEN"),
        ("claude", "settings.json", '{"apiKeyHelper": "pass llm"}', "Anthropic", "apiKeyHelper"),
        ("claude", "settings.json", '{"env": {"CLAUDE_CODE_USE_BEDROCK": "1"}}', "Bedrock", "CLAUDE_CODE_USE_BEDROCK"),
        ("claude", "settings.json", '{"env": 3}', "Anthropic", ""),
        ("codex", "config.toml", SERVER, "https://llm.example/v1", "no key"),
        ("codex", "config.toml", f'{SERVER}env_key = "HOME"', "https://llm.example/v1", "HOME"),
        ("codex", "config.toml", f'{SERVER}env_key = "ABSENT"', "https://llm.example/v1", ""),
        ("codex", "config.toml", 'openai_base_url = "https://eu.example"', "https://eu.example", ""),
        ("codex", "config.toml", 'model_provider = "gone"\nmodel_providers = 3', "OpenAI", ""),
    ],
)  # fmt: skip
def test_a_harnesss_own_settings_say_who_reads_and_with_which_key(
    program: str, file: str, text: str, reader: str, state: str, tmp_path: Path
):
    install(tmp_path, program)
    path = tmp_path / "home" / f".{program}" / file
    path.parent.mkdir()
    path.write_text(text)
    (offer,) = (offer for offer in find_offers(small_store(), DUE) if program in offer.name)
    assert (offer.sent_to, offer.is_ready) == (f"{reader}, as when you use it", bool(state))
    assert offer.state.endswith(f"{state})" if state else "no login found")


def test_variables_are_a_login_and_say_who_reads_where_a_client_inherits_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "https://gateway.example")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "s")
    install(tmp_path, "claude")
    root = small_store().root

    def first(**settings: bool) -> tuple[str, bool]:
        offer = next(find_offers(Store(read_settings(**settings), root), DUE))
        return offer.sent_to.split(",")[0], offer.is_ready

    assert first() == ("Anthropic", False)
    assert first(model_inherits_keys=True) == ("https://gateway.example", True)
    asked = read_settings(model="claude-code", model_inherits_keys=True)
    reader = "Claude Code (https://gateway.example, as when you use it)"
    assert overview_of(Store(asked, root), "memory.toml").sent_to == reader


def test_a_key_is_named_and_never_shown(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-very-secret")
    offers = list(find_offers(small_store(), replace(DUE, observer=(1_000_000,))))
    (offer,) = (one for one in offers if one.kind == "key")
    usd = pytest.approx(1.0, abs=0.01)
    assert (offer.name, offer.state, offer.usd) == (
        "claude-haiku-4-5",
        "ANTHROPIC_API_KEY is set",
        usd,
    )
    assert "very-secret" not in repr(offers)


def test_a_local_server_is_asked_for_its_models_and_nothing_else(monkeypatch: pytest.MonkeyPatch):
    with server(LISTED) as (port, asked):
        monkeypatch.setattr(model_offers, "USUAL_PORTS", {port: "Ollama"})
        offers = [one for one in find_offers(small_store(), DUE) if one.kind == "server"]
    assert asked == ["GET /v1/models"]
    assert [one.name for one in offers] == ["qwen3:30b", "gemma4:12b"]
    assert {(one.usd, one.sent_to) for one in offers} == {(None, "this server")}
    assert offers[0].command == f"memory model use qwen3:30b --url http://127.0.0.1:{port}"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"<html>", 200),
        (b'{"data": 3}', 200),
        (b'{"data": [{}]}', 200),
        (LISTED, 404),
        (b"[]", 200),
    ],
)
def test_what_answers_on_the_port_but_lists_no_models_is_no_offer(body: bytes, status: int):
    with server(body, status) as (port, _):
        assert local_models(port) == []


def test_the_overview_says_what_would_be_sent_of_which_project_and_sends_nothing(
    monkeypatch: pytest.MonkeyPatch,
):
    store = small_store()
    with serve(lambda body: "said") as api:
        named = Store(
            read_settings(model="claude-haiku-4-5", model_url=api.url, model_projects=["other"]),
            store.root,
        )
        found = overview_of(named, "memory.toml")
        assert api.requests == []
    (share,) = found.projects
    assert (share.project, share.sessions, share.calls, share.may_send) == ("x", 1, 1, False)
    assert (found.calls, found.waiting, found.sent_to) == (1, ("x",), api.url)
    assert (found.observer, found.reflector) == ("claude-haiku-4-5", "claude-haiku-4-5")
    (exact,) = Consultation(store, "claude-haiku-4-5").costs([DAY.isoformat()]).days
    assert found.tokens == pytest.approx(exact.input_tokens, rel=0.1)


def test_the_price_of_an_offer_is_that_of_every_question_in_both_roles(tmp_path: Path):
    store = with_prices(small_store(), haiku=1, sonnet=10)
    due = DueQuestions((1_000_000,), (1_000_000, 1_000_000), 30, (1_000_000,))
    (offer, codex) = find_offers(store, due)
    answers = (1 + 1) * ANSWER_TOKENS + 30 * USUAL_ANSWER_TOKENS
    assert offer.usd == pytest.approx(3 * 1 + 10 + (answers + 9 * ANSWER_TOKENS) / 1e6)
    assert codex.usd is None


def with_prices(store: Store, **prices: int) -> Store:
    """The store with prices of Claude Code's models, in US dollars per million tokens."""
    each = {f"claude-code:{name}": {"input": usd, "output": usd} for name, usd in prices.items()}
    return Store(read_settings(model_prices=each), store.root)


@pytest.mark.parametrize(("turns", "calls", "short"), [(1, 1, 1), (0, 0, 0)])
def test_short_sessions_are_due_together_if_their_owner_said_something(
    turns: int, calls: int, short: int
):
    store = small_store()
    window = store.tables.read("windows").row(0, named=True)
    write(store, "windows", "all", {**window, "status": "short", "user_turn_count": turns})
    found = overview_of(store, "default")
    assert (found.calls, found.projects[0].calls, found.projects[0].short) == (calls, 0, short)
    (step,) = Consultation(store, "claude-haiku-4-5").costs([DAY.isoformat()]).others
    assert found.tokens == pytest.approx(step.input_tokens, rel=0.1)
