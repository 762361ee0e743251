"""Which model is asked: none unless a setting names one, whatever keys and addresses lie in the environment."""

from pathlib import Path

import pytest

from memory_assets.adapters.anthropic_model import AnthropicModel
from memory_assets.schema.protocols import ModelRequest
from memory_assets.services.models import open_model
from memory_assets.store.settings import read_settings
from memory_assets_tests.messages_api import KEY, serve
from memory_assets_tests.story import lay_out_sample, run

WATCH = """
import atexit, os, socket, sys
seen = []
def watched(event, args):
    if event in ("socket.connect", "socket.getaddrinfo") and not isinstance(args[-1], (str, bytes)):
        seen.append(f"{event} {args[1:]}")
def report():
    with open(os.environ["WATCHED"], "a") as file:
        file.writelines(f"{line}\\n" for line in [*seen, "anthropic" if "anthropic" in sys.modules else "no SDK"])
sys.addaudithook(watched)
atexit.register(report)
"""
"""A `sitecustomize` that tells which connections a process made, and whether it loaded the SDK."""


def test_the_rules_ask_nobody():
    assert open_model(read_settings()) is None


def test_a_key_and_an_address_in_the_environment_are_no_consent(monkeypatch: pytest.MonkeyPatch):
    with serve(lambda body: "said") as api:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
        monkeypatch.setenv("ANTHROPIC_MODEL", "claude-haiku-4-5")
        assert open_model(read_settings()) is None
        assert api.requests == []


def test_the_settings_reach_the_model(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    with serve(lambda body: "said") as api:
        model = open_model(read_settings(model="claude-haiku-4-5", model_url=f"{api.url}/", model_retries=0))
        assert isinstance(model, AnthropicModel)
        assert (model.ask(ModelRequest("s", "m")).text, api.questions()[0]["model"]) == ("said", "claude-haiku-4-5")


def watched(command: str, tmp_path: Path, **variables: str) -> set[str]:
    (tmp_path / "sitecustomize.py").write_text(WATCH)
    seen = tmp_path / "seen"
    sources = lay_out_sample(tmp_path / "transcripts", "/pi/")
    run(command, tmp_path / "store", sources, PYTHONPATH=str(tmp_path), WATCHED=str(seen), **variables)
    return set(seen.read_text().splitlines())


@pytest.mark.slow
def test_with_the_rules_the_whole_journey_loads_no_sdk_and_opens_no_connection(tmp_path: Path):
    with serve(lambda body: "said") as api:
        assert watched("ingest", tmp_path, ANTHROPIC_API_KEY=KEY, ANTHROPIC_BASE_URL=api.url) == {"no SDK"}
        assert api.requests == []


@pytest.mark.slow
def test_a_model_that_the_settings_name_is_seen_by_the_same_watch(tmp_path: Path):
    with serve(lambda body: "said") as api:
        named = {"MEMORY_MODEL": "claude-haiku-4-5", "MEMORY_MODEL_URL": api.url, "ANTHROPIC_API_KEY": KEY}
        seen = watched("ingest", tmp_path, **named)
        assert "anthropic" in seen
        assert any(line.startswith("socket.connect") for line in seen)
