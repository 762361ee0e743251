"""Answers verbs while a server runs, with one loaded agent for all requests."""

import sys
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from memory_assets.interfaces.envelope import message_of
from memory_assets.interfaces.verb import Verb
from memory_assets.memory import MemoryAgent
from memory_assets.memory.places import find_store
from memory_assets.services.sharing.reader import Reader
from memory_assets.shared_memory import SharedMemory

if TYPE_CHECKING:
    from memory_assets.interfaces.shared.access import Grant


def ask(verb: Verb, given: Mapping[str, Any], grant: "Grant | None" = None) -> Any:
    """Returns the facade's answer from the present store, or from what the token's person may read
    of it.

    Raises `QuestionError` for invalid arguments.
    """
    agent = shared_agent(grant, verb.name) if grant else present_agent()
    return getattr(agent, verb.name)(verb.request(**given))


def shared_agent(grant: "Grant", verb: str) -> SharedMemory:
    """Returns the agent that answers a call of the verb; raises what refuses the call."""
    return _shared_agent_of(find_store(), grant.call(verb))


@lru_cache(maxsize=256)
def _shared_agent_of(_: object, reader: Reader) -> SharedMemory:
    return SharedMemory(reader)


def present_agent() -> MemoryAgent:
    """Returns the agent, which is replaced when another store becomes the present one."""
    return _agent_of(find_store())


@lru_cache(maxsize=1)
def _agent_of(_: object) -> MemoryAgent:
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
