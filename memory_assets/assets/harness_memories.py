"""What harnesses remember by themselves, as an asset: read beside the transcripts, never written; part of the capture stage."""

import dagster as dg

from memory_assets.assets.checks import no_secrets_check, schema_check
from memory_assets.assets.glue import bars, counts_of, table_asset, write_whole
from memory_assets.services.harness_files import memory_file_inputs, read_memory_files
from memory_assets.stages.embed.harness_memories import READER_VERSION
from memory_assets.store.store import Store

GROUP = "capture"
TABLE = "harness_memories"


@table_asset(TABLE, group=GROUP, version=READER_VERSION, daily=False, deps=["windows"])
def harness_memories(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]) -> dg.MaterializeResult:
    """What Claude Code and Codex remember by themselves, as their files say it now; the files are only read."""
    with store.lock():
        inputs = memory_file_inputs(store)
        frame = read_memory_files(store)
        return write_whole(
            store, TABLE, frame, inputs, files=frame["path"].n_unique(), harnesses=bars(counts_of(frame, "observer"))
        )


ASSETS = [harness_memories]
CHECKS = [schema_check(TABLE), no_secrets_check(TABLE)]
