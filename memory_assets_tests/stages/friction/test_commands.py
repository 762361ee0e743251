"""Command lines: cut into steps as a shell would, known by what they run."""

import pytest

from memory_assets.stages.friction.commands import parse_steps


@pytest.mark.parametrize(
    ("command", "keys"),
    [
        ("cd app && git describe --tags --abbrev=0", ["cd app", "git describe"]),
        ("JAVA_HOME=/opt/jdk sudo ./gradlew build | tail -3", ["./gradlew build", "tail"]),
        ("echo 'a && b'; docker compose up -d db", ["echo", "docker compose up"]),
        ("cat <<'EOF'\nrm -rf /\nEOF", ["cat"]),
        ("./kiln mail may.csv --to ana", ["./kiln mail"]),
        ("uv run manage.py migrate", ["uv run manage.py migrate"]),
        ("", []),
        ("&& ; |", []),
    ],
)
def test_a_step_is_known_by_its_program_and_the_plain_words_behind_it(
    command: str, keys: list[str]
):
    assert [step.key for step in parse_steps(command)] == keys


@pytest.mark.parametrize(
    ("command", "program"),
    [
        ("python3 -m pip install x", "pip"),
        ("pip3 install x", "pip"),
        ("/usr/bin/python3.12 x.py", "python"),
        ("uv pip list", "uv"),
    ],
)
def test_what_runs_is_told_without_folder_and_version(command: str, program: str):
    assert parse_steps(command)[0].program == program


@pytest.mark.parametrize(
    ("command", "is_everyday"),
    [
        ("git commit -m x", True),
        ("uv run pytest -q", True),
        ("npm test", True),
        ("gh release create v1 --draft", False),
        ("uv run manage.py dumpdata", False),
        ("kilnctl zero --bath ice", False),
        ("ffmpeg --help", True),
    ],
)
def test_what_follows_every_change_is_no_step_of_a_procedure(command: str, is_everyday: bool):
    assert parse_steps(command)[0].is_everyday is is_everyday
