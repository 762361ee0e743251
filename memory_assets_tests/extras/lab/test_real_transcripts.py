"""What the rules allow on real transcripts: nothing ungrounded, no invented clock time; skipped where there are none."""

import polars as pl
import pytest

from memory_assets.stages.distill.day import build_day
from memory_assets.stages.distill.standards import plan_allowances
from memory_assets.stages.maintain.fact_quality import find_faulty
from memory_assets.store.store import Store

NEVER = ("ungrounded", "invented_time", "long", "owner_unheard")
MOST_ADRIFT = 0.1

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def observed(captured_transcripts: Store) -> tuple[Store, pl.DataFrame]:
    """A store with all sessions, and what the rules observe in them."""
    store = captured_transcripts
    windows = store.tables.read("windows").filter(pl.col("day").is_not_null())
    allowances = plan_allowances(windows)
    days = []
    for (day,), own in windows.sort("day").group_by("day", maintain_order=True):
        messages = store.tables.read("messages", [str(day)])
        days.append(build_day(own, messages, allowances=allowances)["observations"])
    return store, pl.concat(days)


def test_no_allowed_fact_is_ungrounded_or_tells_a_clock_time_of_its_own(
    observed: tuple[Store, pl.DataFrame],
):
    store, observations = observed
    allowed = observations.filter(pl.col("gate") == "allow")
    faulty = find_faulty(allowed, store.tables.read("messages"))
    assert allowed.height > 20
    assert faulty.filter(pl.col("fault").is_in(NEVER)).select("id", "fault").rows() == []
    adrift = faulty.filter(pl.col("fault").is_in(["dangling", "conversational"]))["id"].n_unique()
    assert adrift / allowed.height <= MOST_ADRIFT
