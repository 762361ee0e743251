"""Keys of a terminal, where there is termios: everywhere but on Windows."""

import os
import re
import select
import sys
import termios
import tty
from types import TracebackType
from typing import Self

UNFINISHED = re.compile(rb"\x1b([\[O][0-?]*[ -/]*)?")
"""The beginning of an escape sequence (ECMA-48, 5.4)."""


class Keyboard:
    """The keys of the terminal behind stdin, one at a time and unseen, for as long as it is entered.

    What is typed ahead is kept, and an escape sequence, such as an arrow's, is one key.
    """

    def __enter__(self) -> Self:
        self.descriptor = sys.stdin.fileno()
        self.before = termios.tcgetattr(self.descriptor)
        self._listen()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._leave()

    def key(self) -> str:
        """The next key; empty where the terminal is gone."""
        key = os.read(self.descriptor, 1)
        while UNFINISHED.fullmatch(key) and select.select([self.descriptor], [], [], 0)[0]:
            key += os.read(self.descriptor, 1)
        return key.decode("utf-8", "replace")

    def line(self, prompt: str) -> str:
        """A line, edited as terminals let people edit lines."""
        self._leave()
        try:
            return input(prompt)
        finally:
            self._listen()

    def _listen(self) -> None:
        tty.setcbreak(self.descriptor, termios.TCSADRAIN)

    def _leave(self) -> None:
        termios.tcsetattr(self.descriptor, termios.TCSADRAIN, self.before)
