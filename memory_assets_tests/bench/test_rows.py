"""Every row of the bench runs on little input, and says so where what it needs is not on the machine."""

import pytest

from memory_assets_tests.bench.__main__ import ROWS, main
from memory_assets_tests.once import TEST_ALL, sampled

PREFIXES = {
    "capture-memory": "capturing",
    "pipeline": "pipeline: wall time",
    "doors": "tools: seconds",
    "leaving-out": "leaving out: ours",
    "latency": "recall with",
}
"""How the first line of a row begins, where that is not its name."""


SAMPLE = 2
LONGEST = {"build", "doors", "one-more", "pipeline", "questions", "scale", "workers"}
"""Rows that take more than half a minute even on little input: only under `make test-all`, which runs every row."""


def test_a_row_that_does_not_exist_is_refused(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        main(["--small", "speed"])
    assert "there is no row 'speed'" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ROWS if TEST_ALL else sampled([name for name in ROWS if name not in LONGEST], SAMPLE),
)
def test_the_row_runs_on_little_input(name: str, capsys: pytest.CaptureFixture[str]):
    assert main(["--small", name]) == 0
    said = capsys.readouterr().out
    assert "MISSED" not in said
    if f"{name}: no " in said:
        pytest.skip(said.splitlines()[1])
    lines = [line for line in said.splitlines() if line.startswith(PREFIXES.get(name, name))]
    assert lines, said
