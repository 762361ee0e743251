"""Reads keys from a terminal with termios, on every platform but Windows."""

import os
import re
import readline
import select
import sys
import termios
import tty
from typing import Self

UNFINISHED = re.compile(rb"\x1b([\[O][0-?]*[ -/]*)?")
"""The beginning of an escape sequence (ECMA-48, 5.4)."""


class Keyboard:
    """Reads single keys from stdin without echo while the context is entered.

    Keys that are typed ahead are kept, and an escape sequence, such as that of an arrow key, is one
    key.
    """

    def __enter__(self) -> Self:
        self.descriptor = sys.stdin.fileno()
        self.previous_mode = termios.tcgetattr(self.descriptor)
        tty.setcbreak(self.descriptor, termios.TCSADRAIN)
        return self

    def __exit__(self, *_: object) -> None:
        self._restore()

    def key(self) -> str:
        """Returns the next key; empty where the terminal is gone."""
        key = os.read(self.descriptor, 1)
        while UNFINISHED.fullmatch(key) and select.select([self.descriptor], [], [], 0)[0]:
            key += os.read(self.descriptor, 1)
        return key.decode("utf-8", "replace")

    def line(self, prompt: str, text: str = "") -> str:
        """Returns a line that is edited in the terminal, beginning with this text."""
        self._restore()
        readline.set_startup_hook(lambda: readline.insert_text(text))
        try:
            return input(prompt)
        finally:
            readline.set_startup_hook()
            tty.setcbreak(self.descriptor, termios.TCSADRAIN)

    def _restore(self) -> None:
        termios.tcsetattr(self.descriptor, termios.TCSADRAIN, self.previous_mode)
