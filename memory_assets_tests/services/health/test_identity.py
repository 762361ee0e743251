"""Identity files: each problem is reported with a command, and running the command fixes it."""

import subprocess
from pathlib import Path

import pytest

from memory_assets.harnesses.homes import instruction_files
from memory_assets.services.health.doctor import Projections, examine
from memory_assets.services.health.identity import MOST_BYTES, check_identity
from memory_assets.stages.maintain.checks import Check
from memory_assets_tests.small_store import small_store

HARNESSES = {"claude_code": ".claude", "pi": ".pi/agent", "codex": ".codex"}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with all files, linked by two harnesses; the third is not installed."""
    agents = tmp_path / ".agents"
    agents.mkdir()
    for name in ("SOUL.md", "USER.md", "IDENTITY.md", "AGENTS.md"):
        (agents / name).write_text(f"# {name}\n")
    for harness in ("claude_code", "pi"):
        folder = tmp_path / HARNESSES[harness]
        folder.mkdir(parents=True)
        (folder / "AGENTS.md").symlink_to(agents / "AGENTS.md")
    (tmp_path / "MEMORY.md").write_text("# MEMORY.md\n")
    return tmp_path


def check(home: Path) -> Check:
    files = {name: home / folder / "AGENTS.md" for name, folder in HARNESSES.items()}
    return check_identity(home, files, home / "MEMORY.md", home / "2026-08-03.md")


def fix(found: Check) -> None:
    """Runs each command that the check names."""
    for line in found.found.splitlines():
        subprocess.run(line.rpartition(": ")[2], shell=True, check=True)


def test_whole_files_are_told_in_the_order_in_which_they_are_read(home: Path):
    found = check(home)
    assert (found.passed, found.found) == (
        True,
        "read in this order: SOUL.md 10 bytes, USER.md 10 bytes, MEMORY.md 12 bytes",
    )


def test_a_link_that_was_replaced_by_a_file_is_fixed_and_the_file_kept(home: Path):
    link = home / ".claude" / "AGENTS.md"
    link.unlink()
    link.write_text("# Something else\n")
    found = check(home)
    assert (found.passed, found.is_advice) == (False, False)
    assert f"claude_code: {link} is another file than {home}/.agents/AGENTS.md" in found.found
    fix(found)
    assert check(home).passed
    assert (home / ".claude" / "AGENTS.md.before").read_text() == "# Something else\n"


@pytest.mark.parametrize("is_dangling", [False, True])
def test_a_missing_or_dangling_link_is_fixed(home: Path, is_dangling: bool):
    link = home / ".pi" / "agent" / "AGENTS.md"
    link.unlink()
    if is_dangling:
        link.symlink_to(home / "nowhere")
    found = check(home)
    assert not found.passed
    assert "link to nothing" in found.found if is_dangling else "does not exist" in found.found
    fix(found)
    assert check(home).passed


def test_files_that_no_harness_links_are_advice_only(home: Path):
    for harness in ("claude_code", "pi"):
        (home / HARNESSES[harness] / "AGENTS.md").unlink()
    found = check(home)
    assert (found.passed, found.is_advice) == (False, True)


@pytest.mark.parametrize(
    ("content", "told", "is_advice"),
    [
        (b"\xff\xfe", "cannot be read (not UTF-8)", False),
        (b"x" * (MOST_BYTES + 1), "32,769 bytes; Codex reads only the first 32,768", True),
        (None, "USER.md does not exist", True),
    ],
)
def test_a_file_that_no_session_can_read_whole_is_named(
    home: Path, content: bytes | None, told: str, is_advice: bool
):
    path = home / ".agents" / "USER.md"
    path.unlink() if content is None else path.write_bytes(content)
    found = check(home)
    assert told in found.found
    assert found.is_advice == is_advice


def test_an_identity_file_that_links_to_nothing_is_named(home: Path):
    path = home / ".agents" / "SOUL.md"
    path.unlink()
    path.symlink_to(home / "gone.md")
    found = check(home)
    assert f"{path} is a link to {home}/gone.md, which does not exist" in found.found
    assert not found.is_advice


def test_the_doctor_names_a_broken_link(home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", str(home))
    (home / ".pi" / "agent" / "AGENTS.md").unlink()
    checks = examine(small_store(), Projections(lambda: "", set, lambda _: set())).checks
    (found,) = [check for check in checks if check.name == "identity"]
    assert "ln -sfn" in found.found


def test_each_harness_is_asked_for_the_file_that_it_reads(tmp_path: Path):
    files = instruction_files(tmp_path)
    names = {name: str(files[name].relative_to(tmp_path)) for name in ("copilot", "gemini", "qwen")}
    assert names == {
        "copilot": ".copilot/copilot-instructions.md",
        "gemini": ".gemini/GEMINI.md",
        "qwen": ".qwen/AGENTS.md",
    }
    assert "cursor" not in files
