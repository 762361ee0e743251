"""Renders pages of HTML from templates, in which no value becomes markup.

Values are escaped, and shown as `visible` shows them: nothing controls the reader, hides or turns
the direction of writing. What a form sends back unseen is `unaltered`. A page in a file has its
style in it, no scripts, and loads nothing.
"""

from datetime import date, datetime
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from memory_assets.text.visible import visible
from memory_assets.text.words import counted, shortened, squeezed

TEMPLATES = Path(__file__).with_name("templates")
STYLE = (TEMPLATES / "page.css").read_text("utf-8")

LONGEST_TEXT = 20_000
"""Characters of one value; a browser needs seconds to lay out a line of a million."""


def render(template: str, folder: Path | None = None, **values: Any) -> str:
    """Returns the page of a template, from the folder or from those that all pages share."""
    return _environment(folder or TEMPLATES).get_template(template).render(values)


@cache
def _environment(folder: Path) -> Environment:
    environment = Environment(
        loader=FileSystemLoader([folder, TEMPLATES]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"style": Markup(STYLE), "counted": counted}
    environment.filters |= {"title_of": _title_of, "day": _day, "unaltered": escape}
    return environment


def _shown(value: Any) -> Any:
    """Returns a text without what is invisible, and without its end if it is too long."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    rest = len(value) - LONGEST_TEXT
    text = f"{value[:LONGEST_TEXT]}… ({rest:,} more characters)" if rest > 0 else value
    return visible(text)


def _title_of(text: str, chars: int = 90) -> str:
    """Returns the beginning of a text on one line."""
    return shortened(squeezed(text[: chars * 20]), chars)


def _day(moment: date | datetime) -> str:
    return f"{moment:%Y-%m-%d}"
