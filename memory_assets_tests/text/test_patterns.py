"""Expressions of a file are compiled when they are first used."""

import re
from pathlib import Path

import pytest

from memory_assets.text.patterns import patterns_beside


def test_an_expression_is_compiled_when_it_is_first_used(tmp_path: Path):
    (tmp_path / "words.toml").write_text("good = '(?i)a(b)'\nbad = '('\n_part = '('\n")
    patterns = patterns_beside(str(tmp_path / "words.py"))
    assert list(patterns) == ["good", "bad"]
    assert (patterns["good"].pattern, patterns["good"].sub("-", "xAB")) == ("(?i)a(b)", "x-")
    with pytest.raises(re.error):
        patterns["bad"].search("x")
