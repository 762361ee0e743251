"""Whether two statements say the same, in whatever words, and whether they contradict each other."""

from collections.abc import Sequence

import numpy as np

from memory_assets.stages.triage.comparison import StatementComparison

RULE, REWORDED = (
    "Always run the linter before you push.",
    "The linter must run before each push to the remote.",
)
OPPOSITE = "Never run the linter before you push."


def near(texts: Sequence[str]) -> np.ndarray:
    """An embedder by which all texts mean nearly the same."""
    return np.array([[0.96, 0.28] if text == RULE else [1.0, 0.0] for text in texts])


def test_with_vectors_the_same_is_found_in_other_words_and_the_opposite_is_not():
    by_meaning = StatementComparison(near)
    assert by_meaning.says_the_same(REWORDED, RULE)
    assert not by_meaning.says_the_same(OPPOSITE, RULE)


def test_the_opposite_contradicts_unless_the_two_mean_something_else():
    assert StatementComparison().contradicts(OPPOSITE, RULE)
    far = StatementComparison(
        lambda texts: np.array([[1.0, 0.0] if text == RULE else [0.0, 1.0] for text in texts])
    )
    assert not far.contradicts(OPPOSITE, RULE)
    assert not StatementComparison().contradicts(REWORDED, RULE)
