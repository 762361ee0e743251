"""OpenCode."""

from memory_assets.harnesses.declaration import CONFIG, DATA, Location, ReadHarness
from memory_assets.harnesses.opencode.database import read_new_lines
from memory_assets.harnesses.opencode.hooks import hook_parts
from memory_assets.harnesses.opencode.reader import OpenCodeReader

HARNESS = ReadHarness(
    name="opencode",
    title="OpenCode",
    program="opencode",
    prompt_options=("--prompt",),
    settings=Location("opencode", parent=CONFIG),
    transcripts=(Location("opencode/opencode.db", parent=DATA),),
    tables=frozenset({"session", "message", "part"}),
    reader=OpenCodeReader,
    hook_parts=hook_parts,
    read_new_lines=read_new_lines,
)
