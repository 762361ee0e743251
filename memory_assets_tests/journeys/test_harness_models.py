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
from memory_assets.schema.protocols import ModelRequest
from memory_assets.services.models.open_models import open_model
from memory_assets.stages.deliver.install import carry_out, plan_install
from memory_assets.store.settings import read_settings
from memory_assets.store.store import open_store
from memory_assets_tests.clients import client
from memory_assets_tests.conftest import NOW, SHARED
from memory_assets_tests.messages_api import Answer, Fault, Said
from memory_assets_tests.once import sampled
from memory_assets_tests.story import lay_out_sample, run
from memory_assets_tests.streaming_api import StreamingApi, stream

pytestmark = pytest.mark.slow
SENTINEL = "The personal instruction that must stay at home."
RECORDED = sorted((SHARED / "recorded").glob("*.answer.xml"), key=lambda path: path.stat().st_size)[
    :3
]


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


def test_real_clients_observe_and_leave_nothing(
    program: str, clients: Path, tmp_path: Path, request: pytest.FixtureRequest
):
    if RECORDED:
        sources, recorded = _real_sessions(
            request.getfixturevalue("real_transcripts"), tmp_path / "transcripts"
        )
    else:
        sources, recorded = lay_out_sample(tmp_path / "transcripts", "/pi/"), {}

    def answer(body: dict[str, Any]) -> str:
        material = material_of(body)
        texts = [text for opening, text in recorded.items() if opening in material]
        return (
            texts[0]
            if texts
            else "<observations><segment><narrative>Work.</narrative></segment></observations>"
        )

    with stream(answer) as api:
        person = Setting(tmp_path, clients, api, program)
        run("ingest", person.data, sources, **person.environ, MEMORY_SHORT_TURNS="1")
        questions = api.questions()
    store = open_store(
        read_settings(data=person.data, sources=str(sources), owner="mira", timezone="UTC", now=NOW)
    )
    answers = store.tables.read("observer_answers")
    assert set(answers["state"]) == {"answered"}
    assert answers["model"].unique().to_list() == (
        ["codex"] if program == "codex" else ["claude-code:haiku"]
    )
    assert (
        len([body for body in questions if "quoted transcript" in material_of(body)])
        == answers.height
    )
    assert not [body for body in questions if SENTINEL in json.dumps(body)]
    assert all(
        {tool.get("name") for tool in body.get("tools", ())} <= {"request_user_input"}
        for body in questions
    )
    assert person.leftovers() == []
    if recorded:
        facts = store.tables.read("observations").filter(kind="fact", gate="allow")
        assert len(set(facts["session_id"])) == len(RECORDED)


def _real_sessions(root: Path, into: Path) -> tuple[Path, dict[str, str]]:
    """Copies the three real sessions with the shortest recorded answers; returns their folder, and the answers by opening."""
    recorded = {}
    for path in RECORDED:
        session = path.name.removesuffix(".answer.xml")
        (found,) = (one for one in root.rglob("*.jsonl") if session in one.name)
        target = into / found.relative_to(root)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(found.read_bytes())
        texts = re.findall(r'"text": ?"([A-Za-z ,]{60,300})"', target.read_text("utf-8", "replace"))
        recorded |= dict.fromkeys(sorted(set(texts))[:50], path.read_text("utf-8"))
    return into, recorded


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


@pytest.mark.parametrize(("case", "answer", "kind", "says"), CASES)
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
