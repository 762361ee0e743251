"""A model is refused if neither a price, nor a harness, nor the list of its server has its name."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from memory_assets.errors import QuestionError
from memory_assets.services.health.surroundings import check_model_names
from memory_assets.services.models.model_names import check_name, name_problems
from memory_assets.services.settings.configuration import use_model
from memory_assets.store.settings import read_settings

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


@pytest.mark.parametrize(
    "name",
    ["rules", "claude-haiku-4-5", "claude-haiku-4-5-20261001", "claude-code", "claude-code:haiku"],
)
def test_what_a_price_list_or_a_harness_has_is_known(name: str):
    assert check_name(name, "observer", read_settings()) == ""


def test_a_name_that_nothing_knows_is_refused_with_the_nearest():
    with pytest.raises(
        QuestionError,
        match="No price is known for claude-haiku-45, .* Use one of claude-haiku-4-5, ",
    ):
        use_model("claude-haiku-45", [])
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


def test_where_the_server_does_not_list_its_models_the_name_is_taken_and_that_is_said():
    models = use_model("qwen3:30b", [], url=NOWHERE)
    assert f"{NOWHERE} did not list its models" in " ".join(models.warnings)
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
