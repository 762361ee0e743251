"""Carries out a request: takes a verb and its arguments as they came, returns the facade's result.

Every interface asks through here, so that the same question gets the same answer, and the same mistake the same message.
"""

import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memory_assets.interfaces.failure import message_of
from memory_assets.interfaces.verbs import Verb, verb_of
from memory_assets.memory import MemoryAgent
from memory_assets.schema.requests import Request
from memory_assets.store.places import data_folder, store_root


@dataclass(frozen=True)
class Result:
    """What the facade answered, and what the asker should know about it."""

    data: Any
    warnings: Sequence[str] = ()


def ask(agent: MemoryAgent, name: str, given: Mapping[str, Any]) -> Result:
    """Returns what the agent answers; raises `QuestionError` for arguments that the verb cannot use."""
    verb = verb_of(name)
    return call(agent, verb, verb.request(**given))


def call(agent: MemoryAgent, verb: Verb, request: Request) -> Result:
    """Returns what the facade's method of the verb answers."""
    data = getattr(agent, verb.method)(request)
    return Result(data, getattr(data, "warnings", None) or getattr(data, "notes", ()))


@dataclass
class Dispatcher:
    """Answers for as long as a server runs: one agent that stays loaded, and another once another store is present."""

    _agent: MemoryAgent | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def ask(self, name: str, given: Mapping[str, Any]) -> Result:
        """Returns what the present store answers."""
        return ask(self.agent(), name, given)

    def agent(self) -> MemoryAgent:
        """Returns the agent of the store that is present now."""
        with self._lock:
            if self._agent is None or self._agent.settings.data != store_root(data_folder()):
                self._agent = MemoryAgent()
            return self._agent

    def try_to_warm_up(self) -> None:
        """Loads what a first answer needs, so that nobody waits for it; errors are reported to whoever asks."""
        try:
            agent = self.agent()
            if agent.exists:
                agent.recall("what is known", profile="lean", probe=True)
        except Exception as error:
            print(f"memory: {message_of(error)}", file=sys.stderr)
