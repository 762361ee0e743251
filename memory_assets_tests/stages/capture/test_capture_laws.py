"""The law of capture: however appends, captures and re-runs interleave, the tables are those of one capture at the end."""

from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from memory_assets.stages.capture.sample import lay_out, sample_root
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.stages.capture.pipeline import capture, state
from memory_assets_tests.stages.capture.sessions import (
    compaction,
    dialogue,
    lines,
    transcript,
)

WHOLE = {
    "a": lines(*dialogue("a", 3), compaction("a", 90, 4), *dialogue("a", 6, first=6, minutes=5)),
    "b": lines(*dialogue("b", 2), *dialogue("b", 5, first=4, minutes=200)),
    "c": lines(
        *[{**r, "sessionId": "c"} for r in dialogue("a", 3)], *dialogue("c", 5, first=6, minutes=50)
    ),
}
STEPS = st.lists(
    st.one_of(st.just("capture"), st.tuples(st.sampled_from("abc"), st.integers(1, 3000))),
    max_size=12,
)


@settings(
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(steps=STEPS)
@example(steps=[("a", 384), ("a", 1564), ("c", 877), ("c", 770), "capture"])  # no message of c yet
def test_any_interleaving_of_appends_and_captures_gives_the_same_tables(tmp_path_factory, steps):
    root = tmp_path_factory.mktemp("law")
    bit_by_bit = open_store(read_settings(data=root / "bits"))
    sources = root / "sources"
    written = dict.fromkeys(WHOLE, 0)
    for step in steps:
        if step == "capture":
            capture(bit_by_bit, sources) if sources.is_dir() else None
        else:
            written[step[0]] += step[1]
            transcript(sources, step[0]).write_bytes(WHOLE[step[0]][: written[step[0]]])
    for session, content in WHOLE.items():
        transcript(sources, session).write_bytes(content)
    capture(bit_by_bit, sources)
    capture(bit_by_bit, sources)
    at_once = open_store(read_settings(data=root / "once"))
    capture(at_once, sources)
    expected, found = state(at_once), state(bit_by_bit)
    for table in expected:
        assert_frame_equal(found[table], expected[table])
    assert found["messages"]["message_id"].n_unique() == 18 + 14 + 10


SAMPLE = st.lists(
    st.one_of(st.just("capture"), st.tuples(st.integers(0, 27), st.integers(0, 100))), max_size=25
)


@pytest.fixture(scope="module")
def sample(tmp_path_factory) -> dict[str, bytes]:
    folder = lay_out(
        sample_root(), tmp_path_factory.mktemp("sample"), datetime(2026, 8, 30, tzinfo=UTC)
    )
    return {
        str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.jsonl"))
    }


@settings(
    max_examples=4,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(steps=SAMPLE)
def test_the_law_holds_for_all_three_harnesses(tmp_path_factory, sample, steps):
    """With forks, compactions, sub-agents and resumed sessions, each file growing by so many hundredths of it."""
    root = tmp_path_factory.mktemp("law")
    sources, names = root / "sources", list(sample)
    bit_by_bit = open_store(read_settings(data=root / "bits"))
    grown = dict.fromkeys(names, 0)
    for step in [*steps, *((number, 100) for number in range(len(names))), "capture"]:
        if step == "capture":
            sources.mkdir(exist_ok=True)
            capture(bit_by_bit, sources)
            continue
        name = names[step[0] % len(names)]
        grown[name] = min(grown[name] + step[1], 100)
        (sources / name).parent.mkdir(parents=True, exist_ok=True)
        (sources / name).write_bytes(sample[name][: len(sample[name]) * grown[name] // 100])
    at_once = open_store(read_settings(data=root / "once"))
    capture(at_once, sources)
    expected, found = state(at_once), state(bit_by_bit)
    for table in expected:
        assert_frame_equal(found[table], expected[table])


@pytest.mark.slow
def test_every_message_of_the_real_transcripts_is_in_exactly_one_window(
    captured_transcripts: Store,
):
    store = captured_transcripts
    records, windows = store.tables.read("records"), store.tables.read("windows")
    ids = windows["message_ids"].explode()
    assert ids.n_unique() == ids.len() == records["message_id"].drop_nulls().n_unique() == 39_450
    assert store.tables.read("messages")["message_id"].sort().equals(ids.sort().alias("message_id"))
    assert records.filter(records["status"] == "broken").height == 1
    assert records.filter(records["status"] == "unknown").height == 0
