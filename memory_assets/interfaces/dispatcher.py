"""Answers verbs while a server runs, with one loaded agent for all requests."""

import sys
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from memory_assets.interfaces.envelope import message_of
from memory_assets.interfaces.verb import Verb
from memory_assets.memory import MemoryAgent
from memory_assets.memory.places import find_store

AgentFor = Callable[[str], MemoryAgent]
"""Takes the name of a verb and returns the agent that answers it; raises an error to refuse the
call.
"""


def agent_for_owner(_: str) -> MemoryAgent:
    """Returns the agent of the store's owner, who may call every verb."""
    return present_agent()


def ask(verb: Verb, arguments: Mapping[str, Any], agent_for: AgentFor = agent_for_owner) -> Any:
    """Returns the agent's answer; raises `QuestionError` for invalid arguments."""
    answer = getattr(agent_for(verb.name), verb.name)
    return answer(verb.request(**arguments))


def present_agent() -> MemoryAgent:
    """Returns the agent of the present store: the same object until the store changes."""
    return _load_agent(find_store())


@lru_cache(maxsize=1)
def _load_agent(_: object) -> MemoryAgent:
    """Returns a new agent. It finds its store itself; the argument is only the key of the cache."""
    return MemoryAgent()


def try_to_warm_up() -> None:
    """Loads what the first answer needs.

    An error is only printed here, because the next request meets and reports it, too.
    """
    try:
        agent = present_agent()
        if agent.exists:
            agent.recall("what is known", profile="lean", probe=True)
    except Exception as error:
        print(f"memory: {message_of(error)}", file=sys.stderr)
