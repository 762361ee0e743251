"""README says what is true: its commands, settings, folders and links exist."""

import re
from pathlib import Path

import pytest
import typer

from memory_assets.interfaces.cli.app import make_app
from memory_assets.store.settings import Settings
from memory_assets_tests.conftest import REPOSITORY

README = (REPOSITORY / "README.md").read_text("utf-8")
COMMANDS = {name for name, command in typer.main.get_command(make_app()).commands.items() if not command.hidden}  # type: ignore[attr-defined]


def test_every_command_that_is_named_exists():
    section = README.split("## The commands")[1].split("## ")[0]
    table = re.sub(r"\(.*?\)", "", section.split("[docs")[0].split("| | |")[1])
    assert set(re.findall(r"`([a-z-]+)`", table)) == COMMANDS
    assert set(re.findall(r"(?:bin/|`)memory ([a-z]+)", README)) <= COMMANDS | {"send"}


def test_every_make_target_that_is_named_exists():
    targets = set(re.findall(r"^([a-z-]+):", (REPOSITORY / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"(?:^|`)make ([a-z-]+)", README, re.MULTILINE)) - {"deploy"}  # the last stands in the sample
    assert named <= targets


def test_every_setting_that_is_named_exists_with_its_default():
    rows = re.findall(r"^\| `MEMORY_([A-Z_]+)` \| (.+?) \|", README, re.MULTILINE)
    assert len(rows) >= 8
    for name, default in rows:
        field = Settings.model_fields[name.lower()]
        if field.default_factory is None and field.default and str(field.default).isalnum():
            assert str(field.default) == default.strip("`"), name


def test_the_tree_is_the_tree():
    tree = README.split("## The tree")[1].split("```")[1]
    named = re.findall(r"^[├└]── (\S+)", tree, re.MULTILINE)
    assert named
    assert [name for name in named if not (REPOSITORY / "memory_assets" / name).exists()] == []
    folders = {path.name for path in (REPOSITORY / "memory_assets").iterdir() if (path / "__init__.py").is_file()}
    assert folders <= {name.rstrip("/") for name in named}


@pytest.mark.parametrize("link", re.findall(r"\]\(([^)#]+)\)", README))
def test_every_link_leads_somewhere(link: str):
    assert (REPOSITORY / Path(link)).exists()
