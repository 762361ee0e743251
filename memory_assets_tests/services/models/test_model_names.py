"""A model is refused if neither a price, nor a harness, nor the list of its server has its name."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from memory_assets.errors import QuestionError
from memory_assets.memory import models
from memory_assets.services.health.surroundings import check_model_names
from memory_assets.services.models.model_names import check_name, name_problems
from memory_assets.services.settings.configuration import use_model
from memory_assets.store.settings import read_settings
from memory_assets_tests.adapters.clients import FakeClient

LISTED = {"data": [{"id": "qwen3:30b"}, {"id": "gemma4:latest"}]}


NOWHERE = "http://127.0.0.1:9"


@pytest.fixture
def url() -> Iterator[str]:
    """A server that lists two models."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            assert self.path == "/v1/models"
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(LISTED).encode())

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(autouse=True)
def harnesses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Codex is installed and logged in, Claude Code is not installed."""
    monkeypatch.setenv("PATH", str(FakeClient(tmp_path, "codex").folder))
    monkeypatch.setattr("memory_assets.adapters.harness_model.SYSTEM_FOLDERS", ())
    monkeypatch.setenv("CODEX_API_KEY", "sk-1")


@pytest.mark.parametrize(
    "name",
    ["rules", "claude-haiku-4-5", "claude-haiku-4-5-20261001", "claude-opus-5-5-latest", "codex"],
)
def test_what_a_price_list_or_a_harness_has_is_known(name: str):
    assert check_name(name, "observer", read_settings()) == ""


@pytest.mark.parametrize("name", ["claude-code", "claude-code:haiku"])
def test_a_harness_that_is_missing_or_logged_out_is_told(
    name: str, monkeypatch: pytest.MonkeyPatch
):
    missing = f"{name} cannot be asked yet: Claude Code is not installed."
    assert use_model(name, ["shop"]).warnings == (missing,)
    monkeypatch.delenv("CODEX_API_KEY")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-2")
    assert use_model("codex", ["shop"]).warnings == ("codex cannot be asked yet: no login found.",)


@pytest.mark.parametrize("name", ["claude-haiku-45", "claude-haiku-4-5x", "claude-haiku-4-5-fast"])
def test_a_name_that_nothing_knows_is_refused_with_the_nearest(name: str):
    with pytest.raises(
        QuestionError, match=f"No price is known for {name}, .* Use one of claude-haiku-4-5, "
    ):
        use_model(name, [])
    with pytest.raises(QuestionError, match="nosuch.*Use one of claude-code, codex, "):
        use_model("claude-haiku-4-5", [], reflector="nosuch")
    assert read_settings().model == "rules"


@pytest.mark.parametrize("name", ["qwen3:30b", "gemma4"])
def test_what_the_server_lists_is_used(name: str, url: str):
    assert use_model(name, [], url=url).uncertain_names == ()
    assert read_settings().model == name


@pytest.mark.parametrize("is_free", [False, True])
def test_what_the_server_does_not_list_is_refused_with_what_it_has(url: str, is_free: bool):
    with pytest.raises(QuestionError, match=r"does not have qwen3\. Use one of qwen3:30b\."):
        use_model("qwen3", [], url=url, is_free=is_free)
    assert read_settings().model == "rules"


def test_an_earlier_server_price_and_reflector_are_named_and_reset_or_kept(url: str):
    use_model("qwen3:30b", ["shop"], reflector="gemma4", url=url, is_free=True)
    assert read_settings().model_prices.keys() == {"qwen3:30b", "gemma4"}
    again = use_model("qwen3:30b", ["shop"], url=url)
    free, still = again.notices
    assert free == "qwen3:30b no longer counts as free. If it is, give --free."
    assert still == "gemma4 still reflects. To change that, give --reflector."
    other = use_model("claude-haiku-4-5", ["shop"], reflector="claude-opus-5-5")
    assert other.notices == (f"The server {url} is no longer used. To use it, give --url {url}.",)
    settings = read_settings()
    assert (settings.model_url, settings.reflector_model) == ("", "claude-opus-5-5")


def test_no_model_is_no_consent_and_without_a_store_all_that_is_found_is_meant():
    assert models.use_model("codex").projects == ("*",)
    assert read_settings().may_send("found later")
    models.use_model("rules")
    assert not read_settings(model="codex").may_send("found later")


def test_where_the_server_does_not_list_its_models_the_name_is_taken_and_that_is_said():
    warnings = use_model("qwen3:30b", [], url=NOWHERE).warnings
    assert f"{NOWHERE} did not list its models" in " ".join(warnings)
    assert read_settings().model == "qwen3:30b"


def test_a_harness_knows_its_own_models_and_that_is_said():
    assert check_name("codex:gpt-9", "observer", read_settings()).startswith(
        "No price list has codex:gpt-9: codex alone knows"
    )


def test_a_name_from_the_environment_is_named_by_the_doctor(monkeypatch: pytest.MonkeyPatch):
    assert check_model_names(tuple(name_problems(read_settings()))).passed
    monkeypatch.setenv("MEMORY_REFLECTOR_MODEL", "nosuch")
    check = check_model_names(tuple(name_problems(read_settings())))
    assert not check.passed
    assert check.found.startswith("No price is known for nosuch")
