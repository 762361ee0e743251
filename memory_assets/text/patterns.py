"""Reads the regular expressions and word lists of a module from the TOML file beside it.

A text of several lines is one expression: its lines are joined. `<<name>>` stands for the text of
that name further up in the file. A text whose name begins with `_` is only a part of others, or is
not an expression at all, and is not compiled.
"""

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any, cast


class LatePattern:
    """A regular expression that is compiled when it is first used: a command uses few of those that
    it imports.
    """

    def __init__(self, text: str) -> None:
        self.pattern = text

    def __getattr__(self, name: str) -> Any:
        """Returns an attribute of the compiled expression, which is from then on one of this."""
        value = getattr(re.compile(self.pattern), name)
        setattr(self, name, value)
        return value


@cache
def data_beside(module: str) -> dict[str, Any]:
    """Returns the content of `NAME.toml` beside the module `NAME.py`, given its `__file__`."""
    return tomllib.loads(Path(module).with_suffix(".toml").read_text("utf-8"))


def texts_beside(module: str, table: str = "") -> dict[str, str]:
    """Returns the texts of the file, or of one of its tables, by name, with parts inserted."""
    content = data_beside(module)
    texts: dict[str, str] = {}

    def _expand(text: str) -> str:
        return re.sub(r"<<(\w+)>>", lambda part: texts[part[1]], text.replace("\n", ""))

    for name, text in content.items():
        if isinstance(text, str):
            texts[name] = _expand(text)
    return {name: _expand(text) for name, text in content[table].items()} if table else texts


def patterns_beside(module: str, table: str = "") -> dict[str, re.Pattern[str]]:
    """Returns the regular expressions of the file, or of one of its tables, by name."""
    texts = texts_beside(module, table)
    patterns = {name: LatePattern(text) for name, text in texts.items() if name[:1] != "_"}
    return cast("dict[str, re.Pattern[str]]", patterns)


def byte_patterns_beside(module: str, table: str = "") -> dict[str, re.Pattern[bytes]]:
    """Returns the regular expressions, as `patterns_beside` does, for bytes."""
    texts = texts_beside(module, table)
    return {
        name: re.compile(text.encode()) for name, text in texts.items() if not name.startswith("_")
    }


def words_beside(module: str) -> dict[str, frozenset[str]]:
    """Returns the texts of the file as word lists, by name."""
    return {
        name: frozenset(words.split())
        for name, words in data_beside(module).items()
        if isinstance(words, str)
    }
