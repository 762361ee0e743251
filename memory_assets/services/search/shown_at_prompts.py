"""Chooses the memories that are shown at a prompt: at most three, that are near the prompt and that
the session does not have yet.

A person did not ask for them, so they have to fit better than the results of a recall. At a prompt
about which nothing is known, nothing is shown.
"""

from collections.abc import Collection
from dataclasses import dataclass

from memory_assets.schema.requests import RecallRequest
from memory_assets.schema.vocabulary import MEMORY_KINDS
from memory_assets.stages.deliver.shown_context import add_ids, read_shown_ids
from memory_assets.stages.recall.results import Answer, Recalled, render_block
from memory_assets.store.places import home_folder
from memory_assets.store.projects import find_repository, project_of
from memory_assets.store.ready import read_briefing

HEADING = "From long-term memory, near this prompt:"
MOST = 3
LEAST_LIKELIHOOD = 0.5
"""How likely the answer must be among the memories."""

LEAST_SCORE = 0.47
"""Score that a memory must have, without the decay by age: age makes it no less near. Of the
sample's facts, the weakest that helps with one of twenty prompts has 0.47; those that only share a
word with a prompt have at most 0.46.
"""

LEAST_WORDS = 3
"""Words of a prompt; a shorter one, such as "go on", is about what was said before."""


@dataclass(frozen=True)
class NearPrompt:
    """The memories near a prompt."""

    answer: Answer
    """With these memories alone."""
    session: str
    text: str
    """What the session is shown; empty where nothing is near."""


def request_of(prompt: str, folder: str) -> RecallRequest | None:
    """Returns the request that recalls memories for the prompt, without a model; None where the
    prompt is too short to be about something.
    """
    question = " ".join(prompt.split())
    if len(question.split()) < LEAST_WORDS:
        return None
    project = project_of(find_repository(folder, home_folder()), folder) if folder else None
    return RecallRequest.of(question, profile="lean", budget=True, probe=True, project=project)


def choose(answer: Answer, root: str, session: str, folder: str) -> tuple[Recalled, ...]:
    """Returns the memories that are near enough, without those in the session's briefing or shown
    at an earlier prompt.
    """
    if not answer.is_known or answer.likelihood < LEAST_LIKELIHOOD:
        return ()
    briefing = read_briefing(root, folder, session)
    shown_ids = read_shown_ids(root, session)
    near = (memory for memory in answer.results if _is_near(memory))
    new = (memory for memory in near if memory.memory_id not in shown_ids)
    return tuple(memory for memory in new if memory.text not in briefing)[:MOST]


def _is_near(memory: Recalled) -> bool:
    nearness = memory.score / memory.weights.get("decay", 1.0)
    return memory.kind in MEMORY_KINDS and nearness >= LEAST_SCORE


def block_of(results: Collection[Recalled]) -> str:
    """Returns what the session is shown."""
    return f"{HEADING}\n{render_block(results)}" if results else ""


def note_shown(root: str, near_prompt: NearPrompt) -> None:
    """Notes which memories the session was shown, so that no later prompt repeats them."""
    add_ids(root, near_prompt.session, [memory.memory_id for memory in near_prompt.answer.results])
