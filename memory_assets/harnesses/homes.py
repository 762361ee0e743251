"""Where the harnesses keep their settings and transcripts."""

import os
from collections.abc import Mapping
from pathlib import Path

from memory_assets.harnesses.claude_code import homes as claude_code
from memory_assets.harnesses.codex import homes as codex
from memory_assets.harnesses.pi import homes as pi
from memory_assets.schema.vocabulary import Harness


def harness_homes(home: Path, environ: Mapping[str, str] = os.environ) -> dict[Harness, Path]:
    """Returns the folder of each harness's settings and memories, whether or not it exists."""
    return {
        "claude_code": claude_code.home_of(home, environ),
        "codex": codex.home_of(home, environ),
        "pi": pi.home_of(home, environ),
    }


def transcript_places(home: Path, environ: Mapping[str, str]) -> list[Path]:
    """Returns the folders in which the harnesses keep transcripts, whether or not they exist."""
    return [
        *claude_code.transcript_places(home, environ),
        *codex.transcript_places(home, environ),
        *pi.transcript_places(home, environ),
    ]


def usual_places(home: Path, environ: Mapping[str, str]) -> list[Path]:
    """Returns the existing folders in which the harnesses keep transcripts."""
    return [place for place in transcript_places(home, environ) if place.is_dir()]
