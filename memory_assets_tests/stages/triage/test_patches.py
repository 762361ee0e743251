"""Patches: `git apply` and `patch` take them, the file itself is left alone."""

import json
import subprocess
from pathlib import Path

import pytest

from memory_assets.adapters.git_workspace import GitWorkspace
from memory_assets.stages.triage.patches import write_patch
from memory_assets_tests.factories import row

RULE = "Use `uv`, never `pip`."


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    return folder


def patched(project: Path, approved: str = RULE, **changes) -> tuple[Path, str]:
    """The patch of a friction whose target is the project's AGENTS.md, and the path it has below the workspace."""
    workspace = GitWorkspace(project.parent / "workspace")
    workspace.prepare()
    plain = {
        "proposal_id": "f-20260810-001",
        "title": "pip runs",
        "folder": str(project),
        "target": str(project / "AGENTS.md"),
    }
    friction = row(
        "friction",
        **{**plain, "section": "Hard Rules", "text": RULE, "old": "", "new": RULE, **changes},
    )
    path = write_patch(friction, approved, workspace)
    assert workspace.at_head(path) == (workspace.root / path).read_bytes()
    return workspace.root / path, path


@pytest.mark.parametrize("tool", [("git", "apply"), ("patch", "-p1", "-i")])
@pytest.mark.parametrize(
    "before",
    [
        None,
        "# AGENTS\n\n## Hard Rules\n\n- Be kind.\n\n## More\n\ntext\n",
        "# AGENTS\n\n## Hard Rules\n\n- Be kind.",
        "# AGENTS\r\n\r\n## Hard Rules\r\n\r\n- Be kind.\r\n",
        "",
    ],
)
def test_a_line_is_added_to_the_file_as_it_lies_there(
    project: Path, before: str | None, tool: tuple[str, ...]
):
    target = project / "AGENTS.md"
    if before is not None:
        target.write_bytes(before.encode())
    patch, _ = patched(project)
    assert (target.read_bytes() if target.exists() else None) == (
        None if before is None else before.encode()
    )
    given = ("--binary", *tool[1:]) if tool[0] == "patch" else tool[1:]
    subprocess.run([tool[0], *given, str(patch)], cwd=project, check=True, capture_output=True)
    after = target.read_bytes().decode()
    assert f"- {RULE}" in after.splitlines()
    assert [line for line in after.splitlines() if line in (before or "").splitlines()] == (
        before or ""
    ).splitlines() or not before


@pytest.mark.parametrize("before", ["a = 1\npool_size = 10\nb = 2\n", "pool_size = 10\n"])
def test_an_edit_is_made_where_its_old_text_stands(project: Path, before: str):
    target = project / "dev.toml"
    target.write_text(before)
    edit = {
        "target": str(target),
        "section": "",
        "old": "pool_size = 10",
        "new": "pool_size = 40",
        "text": "pool reset",
    }
    patch, _ = patched(project, approved="pool reset", **edit)
    subprocess.run(["git", "apply", str(patch)], cwd=project, check=True, capture_output=True)
    assert target.read_text() == before.replace("10", "40")


def test_a_skill_is_a_file_of_its_own(project: Path):
    target = project / ".claude" / "skills" / "count" / "SKILL.md"
    skill = "---\nname: count\n---\n\n1. `count`\n"
    patch, _ = patched(
        project, approved="count", text="count", target=str(target), section="", new=skill
    )
    subprocess.run(["git", "apply", str(patch)], cwd=project, check=True, capture_output=True)
    assert target.read_text() == skill


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, {"permissions": {"deny": ["Bash(pip:*)"]}}),
        (
            '{"model": "opus", "permissions": {"deny": ["Bash(rm:*)"]}}\n',
            {"model": "opus", "permissions": {"deny": ["Bash(rm:*)", "Bash(pip:*)"]}},
        ),
    ],
)
def test_a_permission_rule_is_added_to_the_settings_of_claude_code(
    project: Path, before: str | None, after: dict
):
    target = project / ".claude" / "settings.json"
    target.parent.mkdir()
    if before:
        target.write_text(before)
    changes = {
        "target": str(target),
        "section": "deny",
        "text": "pip was run",
        "new": "Bash(pip:*)",
    }
    patch, _ = patched(project, "pip was run", **changes)
    subprocess.run(("git", "apply", patch), cwd=project, check=True)
    assert json.loads(target.read_text()) == after
