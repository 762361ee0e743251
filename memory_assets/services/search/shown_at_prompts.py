"""Chooses the memories that are shown at a prompt: at most three, only where they are near, and
none that the session has.

A person did not ask for them, so the bar is higher than that of a recall: a prompt about nothing
known shows nothing.
"""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from memory_assets.schema.requests import RecallRequest
from memory_assets.stages.deliver.shown_context import add_ids, read_shown_ids
from memory_assets.stages.recall.results import Answer, Recalled, render_block
from memory_assets.store.projects import find_repository, project_of
from memory_assets.store.ready import read_briefing

HEADING = "From long-term memory, near this prompt:"
MOST = 3
LEAST_LIKELIHOOD = 0.5
LEAST_SCORE = 0.47
"""Without the decay of age: what is near does not become less near. Of the sample's facts, the
weakest that helps with one of twenty prompts has 0.47; what only shares a word with them has at
most 0.46."""

LEAST_WORDS = 3
"""Of a prompt: "yes" and "go on" are about what was said before."""

KINDS = ("fact", "narrative")


@dataclass(frozen=True)
class NearPrompt:
    """The memories near a prompt."""

    answer: Answer
    """With these memories alone."""
    session: str
    text: str
    """What the session is shown; empty where nothing is near."""


def request_of(prompt: str, folder: str) -> RecallRequest | None:
    """Returns the request for memories alone, without a model; None where a prompt is too short to
    be about something.
    """
    question = " ".join(prompt.split())
    if len(question.split()) < LEAST_WORDS:
        return None
    project = project_of(find_repository(folder, str(Path.home())), folder) if folder else None
    return RecallRequest.of(question, profile="lean", budget=True, probe=True, project=project)


def choose(answer: Answer, root: str, session: str, folder: str) -> tuple[Recalled, ...]:
    """Returns the memories that are near enough, without those in the session's briefing or shown
    at an earlier prompt.
    """
    if not answer.is_known or answer.likelihood < LEAST_LIKELIHOOD:
        return ()
    briefing = read_briefing(root, folder, session)
    announced = read_shown_ids(root, session)
    new = (
        memory
        for memory in answer.results
        if memory.memory_id not in announced and memory.text not in briefing
    )
    return tuple(memory for memory in new if _is_near(memory))[:MOST]


def _is_near(memory: Recalled) -> bool:
    nearness = memory.score / memory.weights.get("decay", 1.0)
    return memory.kind in KINDS and nearness >= LEAST_SCORE


def block_of(results: Collection[Recalled]) -> str:
    """Returns what the session is shown."""
    return f"{HEADING}\n{render_block(results)}" if results else ""


def note_shown(root: str, near_prompt: NearPrompt) -> None:
    """Notes which memories the session was shown, so that no later prompt repeats them."""
    add_ids(root, near_prompt.session, [memory.memory_id for memory in near_prompt.answer.results])
