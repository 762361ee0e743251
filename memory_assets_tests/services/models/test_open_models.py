"""Which model is asked: none unless a setting names one, whatever keys and addresses lie in the environment.

Whatever it is asked, no request carries a secret or what is forgotten, and one without either is sent as it is.
"""

import json
from pathlib import Path

import polars as pl
import pytest

from memory_assets.errors import ModelSetupError
from memory_assets.schema.protocols import ModelRequest
from memory_assets.services.models.open_models import (
    masked,
    open_model,
    sendable,
    sendable_memory_md,
)
from memory_assets.stages.capture.tombstones import make_tombstone, rows_of
from memory_assets.store.ledger import WORDS_FORGOTTEN
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.factories import row
from memory_assets_tests.messages_api import KEY, serve
from memory_assets_tests.small_store import write
from memory_assets_tests.stages.distill.models import ScriptedModel
from memory_assets_tests.story import ONE_SESSION, lay_out_sample, run_apart

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

PASSWORD = "Xk9#mQ2v!Lp7"


def test_a_key_and_an_address_in_the_environment_are_no_consent(monkeypatch: pytest.MonkeyPatch):
    with serve(lambda body: "said") as api:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
        monkeypatch.setenv("ANTHROPIC_MODEL", "claude-haiku-4-5")
        assert open_model(open_store(read_settings())) is None
        assert api.requests == []


REQUEST = ModelRequest(
    f"You know that password={PASSWORD}.", f'{{"content": "my password is\\n{PASSWORD}"}} café', 100
)
MASKED = ModelRequest(
    "You know that password=************.", '{"content": "my password is\\n************"} café', 100
)


def test_no_request_carries_a_secret_whoever_made_it():
    model = ScriptedModel("said")
    sent = masked(model, open_store(read_settings()))
    sent.ask(REQUEST)
    sent.submit({"a": REQUEST, "b": REQUEST})
    assert (model.asked, model.handed_in) == ([MASKED], {"batch_1": {"a": MASKED, "b": MASKED}})


def test_the_model_that_the_settings_name_is_sent_no_secret(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    with serve(lambda body: "said") as api:
        model = open_model(
            open_store(read_settings(model="claude-haiku-4-5", model_url=api.url, model_retries=0))
        )
        assert model is not None
        model.ask(REQUEST)
        model.submit({"a": REQUEST})
    bodies = json.dumps([entry["body"] for entry in api.requests])
    assert (len(api.questions()), PASSWORD in bodies, MASKED.system in bodies) == (2, False, True)


def test_no_request_carries_what_is_forgotten():
    store, model = open_store(read_settings()), ScriptedModel("said")
    sent = masked(model, store)
    tombstones = rows_of([make_tombstone(["blue", "heron"], store.key)])
    store.ledger.append(WORDS_FORGOTTEN, "all", {"tombstones": tombstones}, actor="mira")
    sent.ask(ModelRequest("You observe.", "Where does the Blue Heron nest?"))
    assert [request.material for request in model.asked] == ["Where does the ********** nest?"]


def watched(command: str, tmp_path: Path, **variables: str) -> set[str]:
    (tmp_path / "sitecustomize.py").write_text(WATCH)
    seen = tmp_path / "seen"
    sources = lay_out_sample(tmp_path / "transcripts", ONE_SESSION)
    run_apart(
        command,
        tmp_path / "store",
        sources,
        PYTHONPATH=str(tmp_path),
        WATCHED=str(seen),
        **variables,
    )
    return set(seen.read_text().splitlines())


@pytest.mark.slow
def test_with_the_rules_the_whole_journey_loads_no_sdk_and_opens_no_connection(tmp_path: Path):
    with serve(lambda body: "said") as api:
        assert watched("ingest", tmp_path, ANTHROPIC_API_KEY=KEY, ANTHROPIC_BASE_URL=api.url) == {
            "no SDK"
        }
        assert api.requests == []


def test_only_rows_of_allowed_projects_and_of_none_are_sent():
    rows = pl.DataFrame({"project": ["shop", "secret", "", None], "n": [1, 2, 3, 4]})
    assert sendable(rows, read_settings(model_projects=["shop"]))["n"].to_list() == [1, 3, 4]
    assert sendable(rows, read_settings()).equals(rows)


def test_lines_of_memory_md_from_other_projects_are_not_sent():
    store = open_store(read_settings(model_projects=["shop"]))
    lines = {
        "Deploy with make.": "shop",
        "The vault code is odd.": "secret",
        "Written by hand.": None,
    }
    rows = [
        row("entries", line=n, text=text, project=project)
        for n, (text, project) in enumerate(lines.items(), 1)
    ]
    write(store, "entries", "all", *rows)
    content = "# MEMORY.md\n" + "".join(f"- (2026-08-03) {text}\n" for text in lines)
    store.workspace.mkdir(parents=True, exist_ok=True)
    (store.workspace / "MEMORY.md").write_text(content)
    assert sendable_memory_md(store) == content.replace(
        "- (2026-08-03) The vault code is odd.\n", ""
    )
    assert sendable_memory_md(Store(read_settings(), store.root)) == content


def test_a_single_question_that_costs_more_than_allowed_is_not_sent():
    model = ScriptedModel("said")
    settings = read_settings(model_most_usd=0, model_prices={"scripted": {"input": 1, "output": 1}})
    with pytest.raises(
        ModelSetupError, match=r"MEMORY_MODEL_MOST_USD allows \$0.00. Nothing was sent"
    ):
        masked(model, open_store(settings)).ask(ModelRequest("s", "m"))
    assert model.asked == []
