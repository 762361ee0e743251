"""Hands what the last session was in the middle of to the next one, in any harness."""

import shutil

from memory_assets.errors import QuestionError
from memory_assets.harnesses.harness_list import READ
from memory_assets.memory.agent import MemoryAgent
from memory_assets.services.search.handoff import Handoff, hand_off
from memory_assets.store.projects import find_repository, project_of
from memory_assets.store.ready import here

__all__ = ["CLIENTS", "Handoff", "command_for", "find_handoff"]

CLIENTS = tuple(harness.name for harness in READ if harness.program)
"""Harnesses whose client can be started."""


def find_handoff(project: str | None = None) -> Handoff:
    """Returns where the last session of the project stopped, by default of the present folder.

    Raises `QuestionError` for a project that is not known or without words of the owner.
    """
    agent = MemoryAgent()
    name = project or project_of(find_repository(here(), ""), here())
    agent.check_project(name)
    return hand_off(agent.store, name)


def command_for(client: str) -> list[str]:
    """Returns the command that starts the client with the prompt behind it; raises `QuestionError`
    where it is not known or not on the search path.
    """
    if client not in CLIENTS:
        raise QuestionError(f"No client is called {client!r}. There are {', '.join(CLIENTS)}.")
    harness = next(harness for harness in READ if harness.name == client)
    if shutil.which(harness.program) is None:
        raise QuestionError(
            f"`{harness.program}` is not on the search path: install {harness.title}."
        )
    return [harness.program, *harness.prompt_options]
