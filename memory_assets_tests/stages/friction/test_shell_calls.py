"""A command line runs what a shell would run: no words in quotes, comments or here-documents, but what loops and shells run."""

import pytest

from memory_assets.stages.friction.shell_calls import read_shell_calls


def programs(command: str) -> list[str]:
    return [call.program for call in read_shell_calls(command)]


@pytest.mark.parametrize(
    "command",
    [
        "uv pip install ruff",
        'git commit -m "pip install ruff"',
        "git commit -m 'don'\\''t use pip'",
        "echo pip install ruff",
        "grep -rn 'pip install' docs",
        "ls # pip install ruff",
        "cat > setup.sh <<'EOF'\npip install ruff\nEOF\nls",
        "git commit -m \"$(cat <<'EOF'\nfix: no pip\n\npip install was wrong\nEOF\n)\"",
        'ssh build "pip list"',
        "command -v pip",
        "gh issue create --body $'it runs `pip install`, it\\'s $(pip list)'",
        "gh issue create --body='it runs `pip install`'",
        "cat > a <<\\EOF\npip install ruff\nEOF",
        "cat > a << 'EOF-X'\npip install ruff\nEOF-X\nls",
    ],
)
def test_what_is_only_mentioned_does_not_run(command: str):
    assert "pip" not in programs(command)


@pytest.mark.parametrize(
    "command",
    [
        "cd api && pip install ruff",
        "sudo -u mira env A=b pip3 install ruff",
        "A=1 python3 -m pip install ruff",
        'bash -lc "cd api; pip install ruff"',
        "bash <<EOF\npip install ruff\nEOF",
        "for name in ruff mypy; do pip install $name; done",
        "if ! pip show ruff; then ls; fi",
        "cat names | xargs -n 1 pip install",
        "VERSIONS=$(pip freeze)",
        "uv run --with build pip list 2>&1 | tail -3",
        "timeout 60 pip install ruff",
        "/usr/bin/env A=b pip install ruff",
        'echo "it\'s $(pip list)"',
        "(cd api && pip install ruff)",
        "PM=pip; $PM install ruff",
        'grep a <<<"foo"\npip install ruff\n',
    ],
)
def test_what_a_shell_a_wrapper_or_a_launcher_runs_does_run(command: str):
    assert "pip" in programs(command)


def test_a_call_knows_its_folder_its_launcher_and_whether_it_waits_for_the_call_before_it():
    _, test, build = read_shell_calls("cd web && npx vitest")
    assert (test.program, test.folder, test.is_conditional) == ("npx", "web", True)
    assert (build.program, build.launcher) == ("vitest", "npx")


def test_the_run_of_a_script_of_the_package_is_no_launcher():
    assert programs("npm run build") == ["npm"]


@pytest.mark.parametrize(
    ("command", "written"),
    [
        ("sed -i 's/a/b/' api/schema.json", ("api/schema.json",)),
        ("sed -n 1,20p api/schema.json", ()),
        ("echo x >> uv.lock 2>/dev/null", ("uv.lock", "/dev/null")),
        ("make check 2>&1 | tee log.txt", ("log.txt",)),
        ("cp new.json api/schema.json", ("api/schema.json",)),
        ("git rm vendor/a.go", ("vendor/a.go",)),
        ("cat < uv.lock", ()),
        (
            "python3 - <<'EOF'\nopen('gen/a.py', 'w').write(x)\nprint(open('b.py').read())\nEOF",
            ("gen/a.py",),
        ),
    ],
)
def test_the_files_that_a_call_writes_are_known(command: str, written: tuple[str, ...]):
    assert read_shell_calls(command)[-1].written == written


@pytest.mark.parametrize(
    ("command", "option", "has"),
    [
        ("git push -fu origin x", "-f", True),
        ("go test -race ./...", "-race", True),
        ("go test -race ./...", "-r", False),
        ("git push --force-with-lease", "--force", False),
        ("terraform plan -out=plan.bin", "-out", True),
        ("terraform plan -out plan.bin", "-out=plan.bin", True),
        ("kubectl get pods --context=stage", "stage", True),
        ("git commit \\\n  -s -m x", "-s", True),
        ("PYTHONHASHSEED=0 pytest", "PYTHONHASHSEED=0", True),
    ],
)
def test_an_option_is_known_alone_among_letters_and_with_its_value(
    command: str, option: str, has: bool
):
    assert read_shell_calls(command)[0].has(option) is has
