"""Laws of the parser: it never raises or invents; how an answer was spoilt changes no fact; work grows with the answer."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import strategies as st

from memory_assets.stages.distill.model.parser import ParsedFact, parse_answer
from memory_assets_tests.conftest import REPOSITORY
from memory_assets_tests.stages.distill.answer_seeds import (
    SEEDS,
    SEGMENTS,
    SPOILT,
    WELL_FORMED,
)


def texts(raw: str) -> list[str]:
    return [fact.text for fact in parse_answer(raw).facts]


def is_prefix(found: tuple[ParsedFact, ...], whole: list[str]) -> bool:
    """Whether the facts are the first of all, the last of them perhaps cut and marked so."""
    said = [fact.text for fact in found]
    if said == whole[: len(said)]:
        return True
    return (
        said[:-1] == whole[: len(said) - 1]
        and found[-1].is_cut
        and whole[len(said) - 1].startswith(said[-1])
    )


@pytest.mark.parametrize(
    "name", [*WELL_FORMED, "escaped", "escaped twice", "fenced", "fenced JSON"]
)
def test_an_answer_cut_anywhere_keeps_the_facts_before_the_cut_and_invents_none(name: str):
    raw, whole = SEEDS[name], texts(SEEDS[name])
    wrong = [at for at in range(len(raw)) if not is_prefix(parse_answer(raw[:at]).facts, whole)]
    assert wrong == []


def test_a_cut_fact_is_held_whatever_the_model_meant():
    fact = parse_answer(SEGMENTS[: SEGMENTS.index("when stale")]).facts[-1]
    assert (fact.text, fact.gate, fact.is_cut) == (
        "Both NFS mounts require sudo to unmount",
        "hold",
        True,
    )


@pytest.mark.parametrize("name", SPOILT)
def test_a_spoilt_answer_says_the_same(name: str):
    assert set(texts(SPOILT[name])) == set(texts(SEGMENTS))


@pytest.mark.parametrize(
    "name",
    ["escaped", "escaped twice", "fenced", "doubled", "capitals", "no end tags", "tasks first"],
)
def test_the_path_tells_how_an_answer_was_read(name: str):
    assert parse_answer(SPOILT[name]).path == "segments"


facts = st.lists(
    st.from_regex(r"\A[A-Z][a-z]{3,9}( [a-z0-9]{2,8}){2,6}\Z"), min_size=1, max_size=6, unique=True
)


@pytest.mark.slow
def test_fuzzing_finds_no_answer_that_breaks_a_law(tmp_path: Path):
    pytest.importorskip("atheris", reason="atheris has no wheel for this platform")
    command = [sys.executable, "-m", "memory_assets_tests.fuzz_parser", "--runs", "20000"]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    assert "number_of_executed_units: 2" in done.stderr
