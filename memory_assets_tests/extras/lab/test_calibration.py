"""Verdicts beside what people made of them: counted as they happened, judged only where somebody decided."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from memory_assets.extras.lab.calibration import (
    ReviewHistory,
    calibrate,
    find_outcomes,
    line_proposals,
    sum_up,
)
from memory_assets.stages.triage.current import read_proposals
from memory_assets.stages.triage.run import TRIAGE_VERSION
from memory_assets_tests.factories import frame, row
from memory_assets_tests.stages.triage.world import World, observed_id

THINGS = ("Buoys", "Lights", "Tides", "Gauges", "Piers", "Locks", "Cranes")
KNOWN: dict[str, Any] = {"section": "Patterns", "category": "operations", "author": "assistant"}


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def said(world: World) -> ReviewHistory:
    return ReviewHistory(
        world.tables.read("decisions"),
        world.ledger.events(),
        world.steps.list_entries(),
        world.rules,
    )


def outcomes(world: World) -> dict[str, str]:
    return find_outcomes(line_proposals(read_proposals(world.tables)), said(world))


def calibration(
    world: World, verdicts: pl.DataFrame | None = None, reviews: pl.DataFrame | None = None
) -> pl.DataFrame:
    observations = world.tables.read("observations")
    verdicts = frame("verdicts") if verdicts is None else verdicts
    reviews = frame("model_reviews") if reviews is None else reviews
    return calibrate(verdicts, observations, read_proposals(world.tables), reviews, said(world))


def asked_about(world: World, count: int = 1, **changes: Any) -> list[str]:
    """Proposals that rules leave to a person."""
    ids = world.propose(
        *(f"{thing} of the harbour belong to the port." for thing in THINGS[:count]),
        **{**KNOWN, **changes},
    )
    world.triage()
    return ids


def promoted_by_rules(world: World) -> str:
    (id,) = world.propose("Always run `make check` before you commit.", sessions=2)
    world.triage()
    assert world.promoted() == [id]
    return id


def test_what_a_person_ticked_struck_reworded_or_left_is_told_apart(world: World):
    approved, edited, rejected, ignored = asked_about(world, 4)
    world.tick(approved)
    world.tick(rejected, "-")
    there = world.review_md.read_text().replace("Lights of the harbour", "Lights of the quay")
    world.review_md.write_text(there.replace(f"- [ ] `{edited}`", f"- [x] `{edited}`"))
    world.triage()
    assert outcomes(world) == {
        approved: "approved",
        edited: "edited",
        rejected: "rejected",
        ignored: "waiting",
    }
    world.later(days=8)
    world.triage()
    assert outcomes(world)[ignored] == "ignored"


def test_a_line_that_rules_wrote_was_right_once_people_left_it_standing_for_as_long_as_a_review_may_take(
    world: World,
):
    id = promoted_by_rules(world)
    assert outcomes(world) == {id: "waiting"}
    world.later(days=8)
    assert outcomes(world) == {id: "kept"}


@pytest.mark.parametrize(
    ("after", "outcome"),
    [
        ("", "rejected"),
        ("- (2026-08-03) Always run `make check` first, before you commit.\n", "edited"),
    ],
)
def test_a_line_that_somebody_strikes_or_rewords_is_told_from_one_that_stands(
    world: World, after: str, outcome: str
):
    id = promoted_by_rules(world)
    (line,) = world.entries()
    world.memory_md.write_text(world.memory_md.read_text().replace(f"{line}\n", after))
    world.later(days=8)
    world.triage()
    assert outcomes(world) == {id: outcome}


def test_what_rules_left_to_people_is_told_by_what_it_lacked_and_judged_by_what_they_wanted(
    world: World,
):
    first, second, third = asked_about(world, 3, confidence=0.7)
    for id, mark in ((first, "x"), (second, "x"), (third, "-")):
        world.tick(id, mark)
    world.triage()
    (ruled,) = calibration(world).filter(pl.col("judge") == "rules").to_dicts()
    lacks = "not sure enough; said in one session"
    assert (ruled["verdict"], ruled["reason"], ruled["category"]) == (
        "left to a person",
        lacks,
        "operations",
    )
    assert (ruled["approved"], ruled["rejected"], ruled["precision"]) == (
        2,
        1,
        pytest.approx(2 / 3),
    )
    assert ruled["low"] < ruled["precision"] < ruled["high"]
    assert ruled["version"] == TRIAGE_VERSION


def test_rulings_of_rules_carry_the_version_that_made_them(world: World):
    promoted_by_rules(world)
    (ruled,) = calibration(world).filter(pl.col("judge") == "rules").to_dicts()
    assert (ruled["verdict"], ruled["version"], ruled["waiting"]) == ("promoted", TRIAGE_VERSION, 1)


def test_people_are_asked_about_what_the_gate_allowed_and_never_see_the_rest(world: World):
    (id,) = asked_about(world)
    world.tick(id)
    world.triage()
    candidates = [
        (observed_id(id, "s1-0"), "allow"),
        ("not proposed", "allow"),
        ("held", "hold"),
        ("gone", "discard"),
    ]
    verdicts = frame(
        "verdicts",
        *(row("verdicts", candidate_id=one, verdict=verdict) for one, verdict in candidates),
    )
    found = {
        one["verdict"]: one
        for one in sum_up(calibration(world, verdicts), ["judge", "verdict"]).to_dicts()
    }
    assert (found["allow"]["count"], found["allow"]["approved"], found["allow"]["unseen"]) == (
        2,
        1,
        1,
    )
    assert found["allow"]["precision"] == 1.0
    for unseen in ("hold", "discard"):
        assert (found[unseen]["unseen"], found[unseen]["precision"], found[unseen]["low"]) == (
            1,
            None,
            None,
        )


def test_a_models_rejection_is_right_where_people_reject(world: World):
    first, second = asked_about(world, 2)
    world.tick(first, "-")
    world.tick(second)
    world.triage()
    said_by = {"verdict": "reject", "model": "haiku", "prompt_hash": "p1"}
    reviews = frame(
        "model_reviews",
        *(row("model_reviews", proposal_id=id, **said_by) for id in (first, second)),
    )
    (told,) = calibration(world, reviews=reviews).filter(pl.col("judge") == "model").to_dicts()
    assert (told["verdict"], told["version"], told["precision"]) == ("reject", "haiku p1", 0.5)


def test_confidence_is_set_beside_what_people_wanted_by_tenths(world: World):
    sure = asked_about(world, 2, confidence=0.9)
    unsure = world.propose("Cranes of the harbour belong to the city.", confidence=0.42, **KNOWN)
    world.triage()
    for id, mark in zip((*sure, *unsure), ("x", "x", "-"), strict=True):
        world.tick(id, mark)
    world.triage()
    tenths = calibration(world).filter(pl.col("judge") == "confidence").sort("verdict")
    assert tenths.select("verdict", "precision").rows() == [
        ("0.4 to 0.5", 0.0),
        ("0.9 to 1.0", 1.0),
    ]
    assert tenths["brier"].to_list() == pytest.approx([0.42**2, 0.1**2])
    (whole,) = sum_up(tenths, ["judge"]).to_dicts()
    assert whole["brier"] == pytest.approx((0.42**2 + 2 * 0.1**2) / 3)
