"""Planted frictions are found, and a clean week has none: the weeks that the detectors were developed with."""

from pathlib import Path

import numpy as np
import pytest

from memory_assets.adapters.local_embedder import LocalEmbedder
from memory_assets_tests.stages.friction.scoring import findings_of, score
from memory_assets_tests.stages.friction.weeks import SyntheticWeek, captured, weeks


class Light(LocalEmbedder):
    """The same model, text by text, without the library that takes seconds to import."""

    def encode(self, texts):
        return (
            np.stack([self.encode_query(text) for text in texts])
            if len(texts)
            else np.zeros((0, 384), dtype=np.float32)
        )


@pytest.fixture(scope="module")
def embedder() -> Light:
    return Light()


@pytest.mark.parametrize("week", weeks("dev"), ids=lambda week: week.name)
def test_what_was_planted_is_found_with_target_change_and_evidence_and_nothing_else(
    week: SyntheticWeek, embedder: Light, tmp_path: Path
):
    found = score(week, findings_of(week, captured(week, tmp_path).tables, embedder))
    assert (found.missed, [(one.kind, one.new) for one in found.extra]) == ((), [])
