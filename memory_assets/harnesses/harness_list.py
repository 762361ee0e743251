"""The harnesses, one line each: add a harness here after its folder."""

from memory_assets.harnesses.claude_code.declaration import HARNESS as CLAUDE_CODE
from memory_assets.harnesses.codex.declaration import HARNESS as CODEX
from memory_assets.harnesses.copilot.declaration import HARNESS as COPILOT
from memory_assets.harnesses.cursor.declaration import HARNESS as CURSOR
from memory_assets.harnesses.declaration import HarnessDeclaration, ReadHarness
from memory_assets.harnesses.gemini.declaration import HARNESS as GEMINI
from memory_assets.harnesses.not_read import NOT_READ
from memory_assets.harnesses.opencode.declaration import HARNESS as OPENCODE
from memory_assets.harnesses.pi.declaration import HARNESS as PI
from memory_assets.harnesses.qwen.declaration import HARNESS as QWEN
from memory_assets.schema.vocabulary import Harness

READ: tuple[ReadHarness, ...] = (
    CLAUDE_CODE,
    CODEX,
    GEMINI,
    OPENCODE,
    PI,
    QWEN,
    COPILOT,
    CURSOR,
)
"""Those whose transcripts are read, as people see them listed."""

HARNESSES: dict[Harness, ReadHarness] = {harness.name: harness for harness in READ}

RECOGNISED: tuple[HarnessDeclaration, ...] = (*NOT_READ, *reversed(READ))
"""The first whose records match a file counts. Claude Code and pi are recognised by fields that
others have, too, so that they come late.
"""
