"""Runs commands in this process, as a pipe and as a terminal of a given width would see them."""

import io
import re
from collections.abc import Callable

import pytest

from memory_assets.interfaces.cli import app as cli

Run = Callable[..., tuple[int, str, str]]
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Returns True."""
        return True


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command as in a pipe; returns its exit code, stdout and stderr."""

    def call(*words: str) -> tuple[int, str, str]:
        code = cli.main(words)
        found = capsys.readouterr()
        return code, found.out, found.err

    return call


@pytest.fixture
def on_screen(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command on a terminal of this width; returns its exit code, stdout and stderr, without their colours."""

    def call(*words: str, width: int = 80) -> tuple[int, str, str]:
        out, err = Screen(), Screen()
        with monkeypatch.context() as patch:
            patch.setenv("COLUMNS", str(width))
            patch.setenv("TERM", "xterm-256color")
            patch.setattr("sys.stdout", out)
            patch.setattr("sys.stderr", err)
            code = cli.main(words)
        return code, ESCAPES.sub("", out.getvalue()), ESCAPES.sub("", err.getvalue())

    return call
