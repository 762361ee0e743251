"""With the real clients of Claude Code and Codex as the model, pointed at a local server that answers as the vendors do."""

import json
import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memory_assets.adapters.harness_model import HarnessModel
from memory_assets.errors import ModelBusyError, ModelLimitError, ModelSetupError
from memory_assets.harnesses.hooks import harnesses
from memory_assets.memory import MemoryAgent
from memory_assets.schema.protocols import ModelRequest
from memory_assets.services.models.open_models import open_model
from memory_assets.stages.deliver.install import carry_out, plan_install
from memory_assets.store.settings import read_settings
from memory_assets.store.store import open_store
from memory_assets_tests.clients import client, hold_session
from memory_assets_tests.interfaces.cli.test_model_choice import up_on_terminal
from memory_assets_tests.messages_api import Answer, Fault, Said
from memory_assets_tests.once import sampled
from memory_assets_tests.streaming_api import StreamingApi, stream

pytestmark = pytest.mark.slow
PROMPTS = ("The tide predictor is off by a factor of 100 at the harbor. Find out why.",)
PROMPTS += ("Which unit does the gauge send?", "Add a test for it.", "Write it down.", "Show me.")
REPLY = "The harbor gauge sends centimetres and the predictor expects metres, so it has to divide by 100."
FACT = "The harbor gauge sends centimetres, which the tide predictor divides by 100."
LINE = f"* 🔴 [gate=allow confidence=0.95 category=technical-context] {FACT}"
ANSWER = f"<observations><segment><narrative>Tides.</narrative><facts>\n{LINE}\n</facts></segment></observations>"
SENTINEL = "The personal instruction that must stay at home."


class Setting:
    """A person's home with a client, our hooks in it, an instruction file, and the local server as the vendor."""

    def __init__(self, folder: Path, clients: Path, api: StreamingApi, program: str) -> None:
        self.home, self.data, self.program = folder / "person", folder / "store", program
        (self.home / ".claude").mkdir(parents=True)
        (self.home / ".codex").mkdir()
        (self.home / ".claude" / "CLAUDE.md").write_text(SENTINEL)
        (self.home / ".codex" / "config.toml").write_text(
            f'model_provider = "ours"\ndeveloper_instructions = "{SENTINEL}"\n[model_providers.ours]\nname = "ours"\n'
            f'base_url = "{api.url}/v1"\nwire_api = "responses"\nenv_key = "OUR_KEY"\n'
            f'[mcp_servers.trap]\ncommand = "touch"\nargs = ["{self.home}/trapped"]\n'
        )
        self.sent = folder / "hooked"
        carry_out(plan_install(harnesses(str(self.sent), self.home, {}), self.sent), self.sent)
        self.environ = {
            "PATH": f"{clients}{os.pathsep}{os.environ['PATH']}",
            "CLAUDE_CONFIG_DIR": str(self.home / ".claude"),
            "CODEX_HOME": str(self.home / ".codex"),
            "ANTHROPIC_BASE_URL": api.url,
            "ANTHROPIC_API_KEY": "sk-test",
            "MEMORY_MODEL_INHERITS_KEYS": "true",
            "OUR_KEY": "k",
            "MEMORY_MODEL": "claude-code" if program == "claude" else "codex",
        }

    def leftovers(self) -> list[Path]:
        """Session files of the client, events of our hooks, and what an MCP server of the person would write."""
        sessions = [
            *(self.home / ".claude" / "projects").rglob("*"),
            *(self.home / ".codex" / "sessions").rglob("*"),
        ]
        return [*sessions, *self.sent.glob("spool/*.jsonl"), *self.home.glob("trapped")]


@pytest.fixture(params=sampled(["claude", "codex"], 1))
def program(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def clients(program: str) -> Path:
    return client(program)


def material_of(body: dict[str, Any]) -> str:
    return json.dumps(body.get("messages", body.get("input")), ensure_ascii=False)


def answered(body: dict[str, Any]) -> str:
    """Answers the observer's question, rejects each proposal, and talks to people."""
    if "quoted transcript" in material_of(body):
        return ANSWER
    decision = '<decision id="{}" verdict="reject">it passes</decision>'
    proposals = re.findall(r"\[(p-\d{8}-\d{3});", material_of(body))
    return "\n".join(map(decision.format, proposals)) or REPLY


def test_up_asks_once_and_the_real_client_observes_and_leaves_nothing(
    program: str, clients: Path, tmp_path: Path
):
    with stream(answered) as api:
        person = Setting(tmp_path, clients, api, program)
        later = datetime.now(UTC) + timedelta(hours=3)
        ours = {"MEMORY_DATA": str(person.data), "MEMORY_NOW": later.isoformat()}
        environ = {**os.environ, **person.environ, **ours}
        del environ["MEMORY_MODEL"]
        hold_session(program, environ, tmp_path, *PROMPTS)
        leftovers = person.leftovers()
        api.requests.clear()
        asked = up_on_terminal(environ, "y")
        questions = api.questions()
        assert "not now" not in up_on_terminal(environ)
        assert api.questions() == questions
    assert asked.count("[n] not now") == 1
    assert re.search(
        rf"1 sessions: 3 questions, .{{9,99}}\. Read by {api.url}", " ".join(asked.split())
    )
    agent = MemoryAgent(read_settings(data=person.data))
    (answer,) = agent.store.tables.read("observer_answers").to_dicts()
    assert answer["state"] == "answered" and answer["model"].startswith(program)
    assert len([body for body in questions if "quoted transcript" in material_of(body)]) == 1
    around = re.sub("quoted transcript.*quoted transcript", "", json.dumps(questions))
    assert SENTINEL not in around  # Codex writes it into its transcripts
    tools = {tool.get("name") for body in questions for tool in body.get("tools", ())}
    assert tools <= {"request_user_input"}
    assert person.leftovers() == leftovers
    assert agent.recall("What does the harbor gauge send?", now=later).results[0].text == FACT


RESETS_AT = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=1)
CLAUDE_LIMIT = {
    "anthropic-ratelimit-unified-status": "rejected",
    "anthropic-ratelimit-unified-reset": str(int(RESETS_AT.timestamp())),
    "anthropic-ratelimit-unified-representative-claim": "five_hour",
    "anthropic-ratelimit-unified-overage-status": "rejected",
    "retry-after": "3600",
}
CASES: list[tuple[str, Answer, type[Exception], str]] = [
    (
        "claude",
        lambda _: Fault(401, "authentication_error", "xyzzy"),
        ModelSetupError,
        "is not logged in",
    ),
    (
        "codex",
        lambda _: Fault(401, "authentication_error", "xyzzy"),
        ModelSetupError,
        "is not logged in",
    ),
    (
        "claude",
        lambda _: Fault(429, "rate_limit_error", "xyzzy", CLAUDE_LIMIT),
        ModelLimitError,
        f"is reset at {RESETS_AT:%Y-%m-%d %H:%M} UTC",
    ),
    (
        "claude",
        lambda _: Fault(404, "not_found_error", "xyzzy"),
        ModelSetupError,
        "has no model 'haiku'",
    ),
    ("claude", lambda _: Said("late", seconds=30), ModelBusyError, "did not answer within 3 s"),
    ("codex", lambda _: Said("late", seconds=30), ModelBusyError, "did not answer within 9 s"),
]


def opened(person: Setting, monkeypatch: pytest.MonkeyPatch, seconds: float) -> HarnessModel:
    for name, value in person.environ.items():
        monkeypatch.setenv(name, value)
    store = open_store(read_settings(data=person.data, model_timeout_seconds=seconds))
    found = open_model(store)
    assert found is not None
    assert isinstance(found.model, HarnessModel)
    return found.model


@pytest.mark.parametrize(("case", "answer", "kind", "says"), CASES, ids=range(len(CASES)))
def test_a_real_clients_failure_says_what_to_do(
    case: str,
    answer: Answer,
    kind: type[Exception],
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    clients = client(case)
    with stream(answer) as api:
        person = Setting(tmp_path, clients, api, case)
        if kind is ModelLimitError:  # the limits of a subscription are told to its login only
            login = {
                "accessToken": "sk-ant-oat01-test",
                "refreshToken": "x",
                "expiresAt": 4_000_000_000_000,
            }
            scopes = {"scopes": ["user:inference"], "subscriptionType": "max"}
            (person.home / ".claude" / ".credentials.json").write_text(
                json.dumps({"claudeAiOauth": {**login, **scopes}})
            )
            person.environ["ANTHROPIC_API_KEY"] = ""
        seconds = 3 if "did not answer" in says else 60
        with pytest.raises(kind, match=says) as caught:
            opened(person, monkeypatch, seconds).ask(ModelRequest("You observe.", "the transcript"))
    assert "xyzzy" not in str(caught.value)
    assert person.leftovers() == []
