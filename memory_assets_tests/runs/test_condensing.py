"""What a run says of condensed days: how much is left, and how often a model was asked again."""

from datetime import date
from pathlib import Path

from memory_assets.runs.steps.condensing import condensed
from memory_assets.store.settings import read_settings
from memory_assets.store.store import open_store
from memory_assets_tests.factories import frame_of_part, row

DAY = date(2026, 8, 3)


def test_the_metadata_counts_how_often_a_model_was_asked_again_and_why_its_words_are_not_used(
    tmp_path: Path,
):
    store = open_store(read_settings(data=tmp_path))
    plain = {"day": DAY, "fact_tokens": 100, "input_tokens": 400, "dropped_why": []}
    rows = [
        row("reflections", reflection_id="a", level=2, prompt_hash="p", output_tokens=60, **plain),
        row(
            "reflections",
            reflection_id="b",
            level=2,
            prompt_hash="p",
            output_tokens=100,
            problem="no line holds",
            **plain,
        ),
        row("reflections", reflection_id="c", level=1, prompt_hash=None, output_tokens=80, **plain),
    ]
    store.tables.write(
        "reflections", DAY.isoformat(), frame_of_part("reflections", DAY.isoformat(), *rows)
    )
    figures = condensed(store, "reflections", [DAY.isoformat()]).figures
    assert (figures["model_retries"], figures["model_problems"]) == (4, {"no line holds": 1})
    assert figures["told_share_of_facts"] == 0.8
