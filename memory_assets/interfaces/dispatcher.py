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


def ask(verb: Verb, given: Mapping[str, Any], agent_for: AgentFor = agent_for_owner) -> Any:
    """Returns the agent's answer; raises `QuestionError` for invalid arguments."""
    return getattr(agent_for(verb.name), verb.name)(verb.request(**given))


def present_agent() -> MemoryAgent:
    """Returns the agent, which is replaced when another store becomes the present one."""
    return _agent_for(find_store())


@lru_cache(maxsize=1)
def _agent_for(_: object) -> MemoryAgent:
    """Returns a new agent; the store is only the key of the cache."""
    return MemoryAgent()


def try_to_warm_up() -> None:
    """Loads what the first answer needs; errors are only printed, because the next request reports
    them.
    """
    try:
        agent = present_agent()
        if agent.exists:
            agent.recall("what is known", profile="lean", probe=True)
    except Exception as error:
        print(f"memory: {message_of(error)}", file=sys.stderr)
