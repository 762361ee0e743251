"""Which of our hooks Codex trusts, from its own settings."""

import json
from pathlib import Path

import pytest

from memory_assets.harnesses.codex.hooks import hash_of_hook
from memory_assets.harnesses.hooks import harnesses
from memory_assets.stages.deliver.install import carry_out, plan_install, status
from memory_assets_tests.stages.deliver.codex_trust import trust


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = tmp_path / "home"
    (made / ".codex").mkdir(parents=True)
    carry_out(
        plan_install(harnesses(str(tmp_path / "store"), made, {}), tmp_path / "store"),
        tmp_path / "store",
    )
    return made


def note(home: Path, store: Path) -> str:
    hooks, _ = (
        change
        for change in status(harnesses(str(store), home, {}), store)
        if change.harness == "codex"
    )
    return hooks.note


@pytest.mark.parametrize(
    ("event", "hook", "matcher", "digest"),
    [
        (
            "PreCompact",
            {
                "command": "[ -x /m ] || exit 0; exec /m hooks run codex PreCompact --store /s",
                "timeout": 3,
            },
            None,
            "1f88a9d7a270ad27605e39a3abd7eb30135c9c688bcc28f9fee303397af3633c",
        ),
        (
            "SessionStart",
            {"command": 'ünïcode <&> " x'},
            "startup",
            "e4245d1f9f91b5270085fd96ec20f3f93ddb1dac8f67f682196d644ff27cdeef",
        ),
    ],
)
def test_the_hash_is_the_one_that_codex_computes(
    event: str, hook: dict, matcher: str | None, digest: str
):
    """As `hooks/list` of the app server of codex-cli 0.169.0 gives it."""
    assert hash_of_hook(event, hook, matcher) == f"sha256:{digest}"


def test_the_status_says_whether_codex_trusts_the_hooks_and_what_to_do(home: Path, tmp_path: Path):
    store = tmp_path / "store"
    assert (
        note(home, store)
        == "Codex runs none of these hooks yet: it does not trust them. Run `/hooks` in Codex and trust them."
    )
    trust(home / ".codex")
    assert note(home, store) == "Codex trusts these hooks."
    path = home / ".codex" / "hooks.json"
    settings = json.loads(path.read_text())
    settings["hooks"]["SessionEnd"][0]["hooks"][0]["timeout"] = 2
    path.write_text(json.dumps(settings))
    assert note(home, store).startswith(
        "Codex does not run SessionEnd: it does not trust the hook as it is now."
    )
    config = home / ".codex" / "config.toml"
    config.write_text(
        config.read_text().replace("trusted_hash", "enabled = false\ntrusted_hash", 1)
    )
    assert "SessionStart is switched off in Codex" in note(home, store)


@pytest.mark.parametrize(
    "config", ["hooks = 7\n", "[hooks]\nstate = 7\n", "x = [\n", '[hooks.state]\n"a:b" = 7\n']
)
def test_settings_of_another_shape_are_no_trust(home: Path, tmp_path: Path, config: str):
    (home / ".codex" / "config.toml").write_text(config)
    assert "does not trust them" in note(home, tmp_path / "store")
