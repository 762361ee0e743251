"""Where the list of results ends: with what belongs, not with a number.

Takes what speaks for each candidate: its nearness to the question, how much of what the question needs it says, whether it is
of another project, whether it names the exact thing. Gives a relevance from 0 up, and which candidates belong. A candidate
belongs when it is relevant by itself and not far behind the best; with few candidates left by filters, less will do.

The numbers are from two thirds of a suite of must-return and must-not-return questions over fifty facts (`leaving_out.toml`),
looked at by hand; of the third that was held back nine in ten passed then, and all do since more names of things are known.
"""

from dataclasses import dataclass

import numpy as np

WORDS = 0.5
"""What saying all that the question needs is worth beside a cosine of one."""

FLOOR = 0.33
"""Relevance of what belongs; MiniLM's nearest to a question about nothing known seldom reaches it in a small memory."""

KEPT = 0.72
"""Share of the best relevance that belongs beside it."""

ELSEWHERE = 0.8
"""What another project's memory counts when the asker said where they are, or named the project."""

YIELDS = 0.6
"""Another project's memory yields to one of here with at least this share of its relevance, and stands above `FAR_FLOOR`."""

FAR_FLOOR = 0.45
NOT_EXACT = 0.6
"""What a memory counts that does not name the number or path asked for, where another does."""

NAME_ALONE = 0.6
"""What a memory counts that shares nothing with the question but a person's name."""

SAYS, SAYS_AS_MUCH = 0.35, 0.95
"""What says so much of what is needed, and as much as any other, belongs whatever its meaning is near to."""

KIND_FLOOR, KIND_KEPT, FEW = 0.15, 0.5, 10
"""When filters leave few candidates, the filters have said most of what belongs."""


@dataclass(frozen=True)
class Evidence:
    """What speaks for the candidates; arrays of one length."""

    cosine: np.ndarray
    coverage: np.ndarray
    is_away: np.ndarray
    names_exact: np.ndarray | None = None
    """Whether each names the exact thing; None where the question names none."""
    is_person_named: bool = False


def relevance(evidence: Evidence) -> np.ndarray:
    """Returns how relevant each candidate is by itself."""
    found = np.maximum(evidence.cosine, 0.0) + WORDS * evidence.coverage
    if evidence.names_exact is not None and evidence.names_exact.any():
        found = np.where(evidence.names_exact, found, found * NOT_EXACT)
    if evidence.is_person_named:
        found = np.where(evidence.coverage > 0, found, found * NAME_ALONE)
    return found


def belongs(evidence: Evidence, relevant: np.ndarray, *, filtered_to: int | None = None, doubt: float = 0.0) -> np.ndarray:
    """Returns which candidates belong, given their relevance, which is 0 for those that cannot.

    `filtered_to` is how many candidates explicit filters left; `doubt` raises the floor.
    """
    if not len(relevant):
        return np.zeros(0, dtype=bool)
    is_few = filtered_to is not None and filtered_to <= FEW
    floor, kept = (KIND_FLOOR, KIND_KEPT) if is_few else (FLOOR + doubt, KEPT)
    is_away = evidence.is_away
    at_home = float(relevant[~is_away].max(initial=0.0))
    yields = is_away & ((relevant < FAR_FLOOR) | ((at_home >= floor) & (relevant * YIELDS < at_home)))
    counts = np.where(yields, 0.0, np.where(is_away, relevant * ELSEWHERE, relevant))
    says = np.where(counts > 0, evidence.coverage, 0.0)
    as_much = (says >= SAYS + doubt) & (says >= SAYS_AS_MUCH * says.max())
    return (counts > 0) & (((counts >= floor) & (counts >= kept * counts.max())) | (as_much & ~is_away))
