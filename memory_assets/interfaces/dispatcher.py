"""Dispatches a verb and its arguments to the facade; every interface uses it, so that answers and errors are the same."""

import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memory_assets.interfaces.envelope import message_of
from memory_assets.interfaces.verbs import Verb, verb_of
from memory_assets.memory import MemoryAgent
from memory_assets.schema.requests import Request
from memory_assets.store.places import find_data, present_root


@dataclass(frozen=True)
class Result:
    """The facade's answer, and warnings about it."""

    data: Any
    warnings: Sequence[str] = ()


def ask(agent: MemoryAgent, name: str, given: Mapping[str, Any]) -> Result:
    """Returns the agent's answer; raises `QuestionError` for invalid arguments."""
    verb = verb_of(name)
    return call(agent, verb, verb.request(**given))


def call(agent: MemoryAgent, verb: Verb, request: Request) -> Result:
    """Returns the answer of the facade's method for the verb."""
    data = getattr(agent, verb.method)(request)
    return Result(data, getattr(data, "warnings", None) or getattr(data, "notes", ()))


@dataclass
class Dispatcher:
    """Answers while a server runs, with one loaded agent, which is replaced when another store becomes the present one."""

    _agent: MemoryAgent | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def ask(self, name: str, given: Mapping[str, Any]) -> Result:
        """Returns the present store's answer."""
        return ask(self.agent(), name, given)

    def agent(self) -> MemoryAgent:
        """Returns the agent of the present store."""
        with self._lock:
            if self._agent is None or self._agent.settings.data != Path(present_root(find_data())):
                self._agent = MemoryAgent()
            return self._agent

    def try_to_warm_up(self) -> None:
        """Loads what the first answer needs; errors are only printed, because the next request reports them."""
        try:
            agent = self.agent()
            if agent.exists:
                agent.recall("what is known", profile="lean", probe=True)
        except Exception as error:
            print(f"memory: {message_of(error)}", file=sys.stderr)
