"""README and docs say what is true: their commands, settings, folders and links exist, and the index has every page."""

import re
from pathlib import Path

import pytest
import typer

from memory_assets.interfaces.cli.app import make_app
from memory_assets.store.settings import Settings
from memory_assets_tests.conftest import REPOSITORY

README = (REPOSITORY / "README.md").read_text("utf-8")
DOCS = REPOSITORY / "docs"
PAGES = [
    *sorted(DOCS.glob("*.md")),
    *(REPOSITORY / name for name in ("README.md", "SECURITY.md", "CONTRIBUTING.md")),
]
COMMANDS = {
    name
    for name, command in typer.main.get_command(make_app()).commands.items()
    if not command.hidden
}  # type: ignore[attr-defined]


def read(page: str) -> str:
    return (DOCS / page).read_text("utf-8")


def test_the_readme_is_short():
    assert len(README.splitlines()) <= 150


def test_every_command_is_described_and_every_named_one_exists():
    assert set(re.findall(r"^\| `memory ([a-z]+)", read("commands.md"), re.MULTILINE)) == COMMANDS
    assert set(re.findall(r"(?:bin/|`)memory ([a-z]+)", README)) <= COMMANDS | {"send"}


def test_every_make_target_that_is_named_exists():
    targets = set(re.findall(r"^([a-z-]+):", (REPOSITORY / "Makefile").read_text(), re.MULTILINE))
    texts = [README, (REPOSITORY / "CONTRIBUTING.md").read_text("utf-8")]
    named = {
        name for text in texts for name in re.findall(r"(?:^|`)make ([a-z-]+)", text, re.MULTILINE)
    }
    assert named <= targets


def test_every_setting_that_is_named_exists_with_its_default():
    rows = re.findall(r"^\| `MEMORY_([A-Z_]+)` \| (.+?) \|", read("settings.md"), re.MULTILINE)
    assert len(rows) >= 30
    for name, default in rows:
        field = Settings.model_fields[name.lower()]
        if field.default_factory is None and field.default and str(field.default).isalnum():
            assert str(field.default) == default.strip("`"), name


def test_every_setting_has_a_row():
    text = read("settings.md") + read("model.md")
    rows = {name.lower() for name in re.findall(r"^\| `MEMORY_([A-Z_]+)` \|", text, re.MULTILINE)}
    assert Settings.model_fields.keys() - rows == {"now"}  # a clock for tests


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(REPOSITORY).as_posix())
def test_every_link_leads_somewhere(page: Path):
    text = page.read_text("utf-8")
    for link, place in re.findall(r"\]\((?!https?:)([^)#]*)(#[^)]*)?\)", text):
        target = page.parent / link if link else page
        assert target.exists(), link
        if place:
            headings = re.findall(r"^#+ (.+)$", target.read_text("utf-8"), re.MULTILINE)
            assert place[1:] in {
                re.sub(r"[^\w -]", "", one).lower().replace(" ", "-") for one in headings
            }, link + place
