"""How many planted secrets can still be read after masking, and what is masked that is none.

The secrets are drawn anew in each run, in all forms that vendors document, in wrappings and places drawn with them
(`planted_transcripts`); `PLANTED_SEED` draws the same again. False alarms are counted on what is as random as a secret and is
none, and on the real transcripts, where every mask is taken for one.
"""

import base64
from random import Random

from memory_assets.stages.capture.discover import find_transcripts
from memory_assets.text.masking.redact import find, mask
from memory_assets_tests.bench.row import Row
from memory_assets_tests.bench.transcripts import folder
from memory_assets_tests.stages.capture.planted_transcripts import PLACES, WRAPPINGS
from memory_assets_tests.stages.capture.test_planted_transcripts import (
    SEED,
    look_alikes,
    missed,
    planted,
)
from memory_assets_tests.stages.capture.vendor_formats import FORMS

EACH = 5
"""How often each form is planted, and each look-alike drawn."""
MOST_MASKS = 20


def secrets(small: bool = False) -> list[Row]:
    """Returns the share of planted secrets that were missed, and of what may be masked by mistake."""
    each = 1 if small else EACH
    lines = planted(SEED, each * len(FORMS))
    unseen = missed(lines)
    alike = [
        text for draw in range(each) for text in look_alikes(Random(f"{SEED} {draw}")).values()
    ]
    alarms = sum(
        len(find(text)) + len(find(base64.b64encode(text.encode()).decode())) for text in alike
    )
    masks = sum(
        mask(file.path.read_bytes())[1]
        for file in find_transcripts([folder(small)])
        if not file.compression
    )
    forms = f"{len(FORMS)} forms, {len(WRAPPINGS)} wrappings, {len(PLACES)} places"
    return [
        Row(
            "secrets: missed / planted",
            len(unseen) / len(lines),
            f"{len(unseen)} of {len(lines):,} ({forms}, PLANTED_SEED={SEED})",
            limit=0.0,
        ),
        Row(
            "secrets: false alarms / look-alikes",
            alarms / (2 * len(alike)),
            f"{alarms} in {2 * len(alike)} texts",
            limit=0.0,
        ),
        Row(
            f"secrets: masks in the transcripts / {MOST_MASKS}",
            masks / MOST_MASKS,
            f"{masks} masks",
            limit=1.0,
        ),
    ]
