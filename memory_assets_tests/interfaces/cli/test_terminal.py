"""Whole commands on a terminal: what follows an answer, and what fits at any width."""

from collections.abc import Callable

import pytest

from memory_assets_tests.of_extras import commands_there
from memory_assets_tests.small_store import FACT, MEMORY, PROPOSAL, index, small_store

Run = Callable[..., tuple[int, str, str]]
ID = "mem_0f3a5c1e0000"


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (("recall", "how do we install packages"), f"`memory explain {ID}`"),
        (
            ("recall", "zebra crossings of Lagos", "--category", "people-relationships"),
            "`memory explain 'zebra crossings",
        ),
        (("recall", "how do we install packages", "--answer"), f"`memory explain {ID}`"),
        (("explain", MEMORY), f"--instead-of {ID}` corrects it"),
        (
            ("explain", "herons nest beside the reactor"),
            "`memory remember 'herons nest beside the reactor'`",
        ),
        (("data", "feedback", MEMORY, "--used"), "`memory ingest`"),
        (("config", "port"), "`memory config set port VALUE`"),
        (("data", "sample"), f"`memory explain {MEMORY}`"),
        (("doctor",), "`memory doctor --deep`"),
        (("forget", MEMORY), f"`memory forget {MEMORY} --apply` erases it."),
        (("forget", MEMORY, "--apply"), "`memory ingest` rebuilds"),
    ],
)
def test_an_answer_ends_with_the_next_thing_to_do(
    words: tuple[str, ...], wanted: str, on_screen: Run, run: Run
):
    index(small_store())
    code, out, err = on_screen(*words)
    assert (code, "Next: " in out) == (0, False)
    assert "Next: " in err
    assert wanted in " ".join(err.split())
    assert "Next: " not in "".join(map(str, run(*words)[1:]))


def test_help_has_boxes_on_a_terminal_and_none_in_a_pipe(on_screen: Run, run: Run):
    code, out, _ = run("recall", "--help")
    assert (code, "Example: " in out, "╭" in out) == (0, True, False)
    assert "╭" in on_screen("recall", "--help")[1]


@pytest.mark.parametrize("width", [60, 80, 200])
@pytest.mark.parametrize(
    "words",
    commands_there([("--help",), ("config",), ("status",), ("doctor",), ("review", "list"), ("explain", MEMORY), ("model",), ("data", "--help"),
     ("data", "show", "observations"), ("data", "show", "observations", "--all"), ("recall", "packages"), ("lab", "--help")]),
    ids=" ".join,
)  # fmt: skip
def test_no_line_is_longer_than_the_terminal(words: tuple[str, ...], width: int, on_screen: Run):
    store = small_store()
    index(store)
    code, out, err = on_screen(*words, width=width)
    whole = {FACT, str(store.root), PROPOSAL}
    long = [
        line
        for line in (out + err).splitlines()
        if len(line.rstrip()) > width and not any(one in line for one in whole)
    ]
    assert (code, long) == (0, [])
