"""BM25 at three distances from the same postings, against the formula written out."""

import math
from pathlib import Path

import numpy as np
import pytest

from memory_assets.schema.protocols import Texts
from memory_assets.stages.recall.layout import Layout, score_around, score_levels
from memory_assets_tests.stages.recall.recalled import indexed

TURNS = [
    ("a", "Shall we move the ports?"), ("a", "Yes, do that."), ("a", "Done."), ("b", "The ports moved to staging."), ("b", "Lunch."),
]  # fmt: skip


@pytest.fixture
def texts(tmp_path: Path) -> Texts:
    rows = [(str(n), "messages", text, group, n) for n, (group, text) in enumerate(TURNS)]
    return indexed(tmp_path, rows, "id corpus text group order")


def written_out(counts: list[int], lengths: list[int]) -> list[float]:
    held, mean = sum(count > 0 for count in counts), sum(lengths) / len(lengths)
    rarity = math.log(1 + (len(counts) - held + 0.5) / (held + 0.5))
    return [
        rarity * count * 2.2 / (count + 1.2 * (0.6 + 0.4 * length / mean))
        for count, length in zip(counts, lengths, strict=True)
    ]


def test_a_row_is_scored_by_itself_its_surroundings_and_its_group(texts: Texts):
    levels = score_levels(Layout(texts, 1), {"port": 1.0})
    n = [int(length) for length in texts.lengths]
    assert levels["row"].tolist() == pytest.approx(written_out([1, 0, 0, 1, 0], n))
    near = [n[0] + n[1], sum(n[:3]), n[1] + n[2], n[3] + n[4], n[3] + n[4]]
    assert levels["around"].tolist() == pytest.approx(written_out([1, 1, 0, 1, 1], near))
    of_groups = written_out([1, 1], [sum(n[:3]), sum(n[3:])])
    assert levels["group"].tolist() == pytest.approx([of_groups[0]] * 3 + [of_groups[1]] * 2)


def test_some_rows_have_the_same_scores_as_among_all(texts: Texts):
    terms = {"port": 1.0, "done": 0.5, "zebra": 1.0}
    for reach in (1, 2):
        layout = Layout(texts, reach)
        for rows in ([0], [1, 3], [2, 4], [0, 1, 2, 3, 4]):
            assert (
                score_around(layout, terms, np.array(rows)).tolist()
                == score_around(layout, terms)[rows].tolist()
            )
