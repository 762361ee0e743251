"""The commands of the lab: branches are listed, compared and dropped, and what cannot be tried is said."""

import json

import polars as pl
import pytest

from memory_assets.extras.lab import branches
from memory_assets.extras.lab.branches import Branch, BranchFolder
from memory_assets_tests.interfaces.cli.conftest import Run, run  # noqa: F401
from memory_assets_tests.small_store import DAY, small_store


def test_branches_are_listed_compared_and_dropped(run: Run):  # noqa: F811
    store = small_store()
    place = BranchFolder(store, "mine")
    branches.begin(place, Branch("mine", DAY, DAY, {"least_useful": "0.8"}, 0.0, "-", state="made"))
    observed = store.tables.read("observations").with_columns(gate=pl.lit("hold"))
    place.open(store.settings).tables.write("observations", DAY.isoformat(), observed)
    (listed,) = json.loads(run("lab", "what-if", "list", "--json")[1])["data"]
    assert (listed["name"], listed["state"]) == ("mine", "made")
    assert "least_useful 0.7 → 0.8" in run("lab", "what-if", "show", "mine")[1]
    assert run("lab", "what-if", "drop", "mine")[0] == 0
    assert run("lab", "what-if", "list")[1].startswith("There is no branch.")


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("--set", "least_useful"), 2, "must be NAME=VALUE"),
        (("--set", "port=4000"), 1, "port cannot be tried on past days"),
        (
            ("--set", "least_useful=2"),
            1,
            "least_useful: Input should be less than or equal to 1 (got '2')",
        ),
        (
            ("--set", "least_useful=0.6", "--from", "2026-09-01", "--to", "2026-08-01"),
            1,
            "lies after --to",
        ),
        (
            ("--set", "least_useful=0.6", "--to", "2020-08-01"),
            1,
            "There are no transcripts between the first day and 2020-08-01",
        ),
        (("show", "none"), 1, "There is no branch 'none'"),
        (("adopt", "../x"), 2, "cannot be the name of a branch"),
    ],
)
def test_what_cannot_be_tried_is_told(run, words: tuple[str, ...], code: int, says: str):  # noqa: F811
    small_store()
    found, _, err = run("lab", "what-if", *words)
    assert (found, says in err) == (code, True), err
