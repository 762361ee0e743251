"""Opens where a target comes from in the store, and the evidence of the proposals that wait."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from memory_assets.adapters.git_workspace import GitWorkspace
from memory_assets.errors import TranscriptError
from memory_assets.services.review.proposals import Pending
from memory_assets.stages.triage.current import read_proposals
from memory_assets.stages.triage.evidence import EvidenceTables
from memory_assets.stages.triage.explain import Explanation, ProvenanceStep, explain
from memory_assets.store.parquet_tables import ParquetTables
from memory_assets.store.store import Store


@dataclass(frozen=True)
class ProposalEvidence:
    """What a proposal rests on."""

    proposal: Pending
    records: tuple[tuple[str, ProvenanceStep], ...] = ()
    """Each record with the id of its session."""
    problem: str = ""
    """Why the records cannot be read; empty where they can."""


def origin_of(store: Store, target: str, tables: ParquetTables | None = None) -> Explanation:
    """Returns the provenance of a line, a proposal, a memory or an observation.

    `tables` are those of the store unless they were read before. Raises `UnknownIdError` for other
    targets, and `TranscriptError` where a transcript cannot be read.
    """
    return explain(
        target,
        tables=tables or store.tables,
        ledger=store.ledger,
        archive=store.archive,
        workspace=GitWorkspace(store.workspace),
    )


def evidence_of(store: Store, proposals: Sequence[Pending]) -> Iterator[ProposalEvidence]:
    """Yields the evidence of each proposal; their rows are read once for all of them."""
    is_wanted = pl.col("proposal_id").is_in([proposal.proposal_id for proposal in proposals])
    tables = EvidenceTables(store.tables, read_proposals(store.tables).filter(is_wanted))
    for proposal in proposals:
        try:
            origin = origin_of(store, proposal.proposal_id, tables)
            yield ProposalEvidence(proposal, tuple(_records(origin.root)))
        except TranscriptError as error:  # the others can be decided all the same
            yield ProposalEvidence(proposal, problem=str(error))


def _records(root: ProvenanceStep) -> Iterator[tuple[str, ProvenanceStep]]:
    for step in root.find("message", "observation"):
        for record in step.find("record"):
            yield step.facts.get("session", ""), record
