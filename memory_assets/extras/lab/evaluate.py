"""Evaluates the observations of the agent's store."""

from pathlib import Path

from memory_assets.errors import LabelsError
from memory_assets.extras.lab import gold
from memory_assets.memory import MemoryAgent


def evaluate(
    agent: MemoryAgent,
    labels: Path | None = None,
    *,
    against: Path | None = None,
    show: gold.Shown | None = None,
) -> gold.Evaluation:
    """Returns how well the observations cover the labelled sessions of the folder, by default of
    the setting `gold`.

    `against` is a file with the facts of another extractor; `show` lists missed labels, wrong facts
    or noise.
    """
    folder = labels or agent.settings.gold
    if folder is None:
        raise LabelsError(
            "No folder of labelled sessions is given. Name one, or set MEMORY_GOLD; see "
            "docs/operating.md."
        )
    return gold.evaluate(agent.store.tables, folder, against=against, show=show)
