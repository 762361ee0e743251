"""Of the real transcripts, no message of a session that is not short is outside an observed window, and projects are repositories."""

import pytest

from memory_assets.store.store import Store
from memory_assets_tests.bench.coverage import unobserved


@pytest.mark.slow
def test_at_most_three_of_a_hundred_messages_are_outside_observed_windows(
    captured_transcripts: Store,
):
    missed, every = unobserved(captured_transcripts)
    assert every > 30_000
    assert missed <= 0.03 * every
