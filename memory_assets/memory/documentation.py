"""The pages of the documentation, from the checkout or from the installed package."""

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from memory_assets.errors import QuestionError
from memory_assets.store.places import CHECKOUT

INDEX = "README"
"""The page that lists the others."""


@dataclass(frozen=True)
class Page:
    """A page of the documentation."""

    name: str
    path: Path
    text: str


def names() -> list[str]:
    """Returns the names of all pages."""
    return sorted(path.stem for path in _folder().glob("*.md"))


def complete(incomplete: str) -> list[str]:
    """Returns the names of pages that begin so."""
    return [name for name in names() if name.startswith(incomplete)]


def read_page(name: str) -> Page:
    """Returns the page; its name may have a path in front, and its suffix or section behind.

    Raises `QuestionError` if there is none.
    """
    stem = Path(name.partition("#")[0]).name.removesuffix(".md")
    path = _folder() / f"{stem}.md"
    if stem not in names():
        pages = ", ".join(names())
        raise QuestionError(f"There is no page {name!r}. The pages are {pages}.")
    return Page(stem, path, path.read_text("utf-8"))


def _folder() -> Path:
    in_checkout = Path(CHECKOUT, "docs")
    if (in_checkout / f"{INDEX}.md").is_file():
        return in_checkout
    return Path(str(files("memory_assets").joinpath("_docs")))
