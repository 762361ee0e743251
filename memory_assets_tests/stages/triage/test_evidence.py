"""Evidence: ranges, hashes and quotes of the messages behind a proposal; a range that is not there is named."""

from pathlib import Path

import pytest

from memory_assets.errors import TranscriptError
from memory_assets.stages.triage.evidence import EvidenceTables, gather_evidence
from memory_assets.store.archive import Archive
from memory_assets_tests.stages.triage.world import World


def test_a_proposal_rests_on_records_whose_hash_can_be_verified(tmp_path: Path):
    world = World(tmp_path)
    (proposal_id,) = world.propose("Always use `uv`, never `pip`.")
    proposal = world.tables.read("proposals").row(0, named=True)
    evidence = gather_evidence(proposal, world.tables, world.archive)
    (record,) = evidence["evidence"]
    assert (proposal["proposal_id"], evidence["observation_ids"]) == (
        proposal_id,
        proposal["observation_ids"],
    )
    assert record["observation_id"] == proposal["observation_ids"][0]
    assert world.archive.verify(record["resource_id"])


def test_a_range_that_is_not_in_the_catalog_is_named_with_what_to_do(tmp_path: Path):
    world = World(tmp_path)
    world.propose("Always use `uv`, never `pip`.")
    proposal = world.tables.read("proposals").row(0, named=True)
    with pytest.raises(TranscriptError, match="memory doctor"):
        gather_evidence(proposal, world.tables, Archive(tmp_path / "elsewhere"))


def test_what_several_proposals_rest_on_is_read_once_and_is_the_same(tmp_path: Path):
    world = World(tmp_path)
    world.propose("Always use `uv`, never `pip`.", "Keep commits small.", "Ask before a release.")
    some = world.tables.read("proposals").sort("proposal_id")[:2]
    at_once = EvidenceTables(world.tables, some)
    for proposal in some.iter_rows(named=True):
        evidence = gather_evidence(proposal, world.tables, world.archive)
        assert (
            evidence["evidence"] and gather_evidence(proposal, at_once, world.archive) == evidence
        )
    assert at_once.read("observations").height == 2
    assert at_once.read("proposals").height == 3
