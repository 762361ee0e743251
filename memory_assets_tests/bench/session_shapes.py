"""The shape of real sessions in numbers: how many turns, calls and words they have, and how far apart they are.

`COUNTS` are the counts of each of 149 real sessions of three harnesses, `SHAPES` are quantiles of what their messages have; no
text of them is here. Counts stay together, since a session of many turns has few calls a turn. Between two quantiles values are
drawn by their logarithms: by the values themselves, a tenth of all messages would lie half-way to the longest one.
`python -m memory_assets_tests.bench.session_shapes [FOLDER]` prints both again, from the transcripts that the bench finds or those
of a folder.
"""

import math
import sys
import tempfile
from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np
import polars as pl

from memory_assets.store.settings import Settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.bench.transcripts import folder
from memory_assets_tests.stages.capture.pipeline import capture

QUANTILES = (0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 1)

OWN = ("owner", "assistant", "tool", "file", "web")
"""Authors of what the sessions are made of; instructions that a harness adds are left out."""

# fmt: off
SHAPES: dict[str, Sequence[float]] = {
    "characters of a turn": [1.0, 11.0, 27.0, 69.0, 170.0, 542.0, 1190.0, 2550.0, 4540.0, 5230.0, 8730.0, 9940.0],
    "characters of a reply": [1.0, 56.0, 96.0, 179.0, 320.0, 1150.0, 1760.0, 2680.0, 3580.0, 4960.0, 7900.0, 16000.0],
    "characters of a call": [23.0, 100.0, 134.0, 189.0, 409.0, 1250.0, 1520.0, 1520.0, 1520.0, 1520.0, 1530.0, 1530.0],
    "characters of a result": [0.0, 23.0, 103.0, 256.0, 1470.0, 4640.0, 7850.0, 14500.0, 24000.0, 39300.0, 48000.0, 64000.0],
    "seconds to the next message": [0.0, 0.005, 0.042, 2.03, 5.83, 15.9, 41.9, 203.0, 631.0, 1990.0, 21300.0, 241000.0],
    "sessions of a project": [1.0, 1.0, 2.25, 8.0, 11.0, 24.8, 55.4, 73.8, 79.9, 82.9, 85.4, 86.0],
}

COUNTS: Sequence[tuple[int, int, int]] = (
    (0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0),
    (0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0),
    (0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0),
    (0, 0, 0), (1, 0, 1), (1, 0, 1), (1, 0, 1), (1, 2, 1), (1, 3, 1), (1, 3, 1), (1, 5, 1), (2, 7, 2), (2, 9, 7),
    (2, 9, 8), (1, 10, 3), (3, 11, 3), (2, 11, 4), (1, 12, 1), (1, 12, 3), (1, 13, 1), (1, 13, 1), (1, 13, 2),
    (4, 13, 10), (1, 17, 5), (1, 19, 4), (3, 19, 4), (2, 19, 14), (4, 20, 11), (1, 24, 8), (2, 25, 9), (5, 25, 14),
    (3, 27, 20), (2, 28, 6), (4, 28, 6), (6, 28, 15), (2, 29, 20), (1, 30, 5), (3, 30, 22), (1, 31, 5), (2, 31, 11),
    (2, 32, 20), (1, 33, 4), (7, 33, 14), (2, 33, 16), (7, 33, 25), (2, 34, 11), (2, 34, 11), (2, 34, 17), (2, 37, 12),
    (3, 38, 22), (3, 41, 14), (1, 42, 5), (1, 43, 6), (3, 43, 10), (1, 50, 7), (9, 54, 27), (3, 57, 12), (4, 58, 18),
    (3, 59, 28), (14, 68, 30), (5, 70, 36), (6, 72, 54), (1, 73, 13), (10, 73, 15), (4, 77, 15), (4, 83, 21),
    (8, 84, 34), (6, 88, 10), (10, 89, 24), (7, 90, 19), (7, 92, 66), (35, 100, 57), (12, 101, 35), (3, 102, 17),
    (5, 103, 62), (3, 109, 16), (24, 109, 41), (2, 112, 24), (3, 116, 19), (4, 116, 21), (8, 119, 77), (8, 123, 57),
    (10, 130, 44), (5, 132, 48), (8, 133, 40), (7, 135, 72), (6, 136, 26), (15, 145, 92), (12, 154, 46), (6, 168, 62),
    (16, 169, 16), (13, 169, 39), (2, 179, 33), (2, 183, 24), (13, 184, 41), (4, 186, 99), (16, 189, 57),
    (88, 195, 244), (25, 196, 87), (55, 216, 253), (21, 224, 88), (19, 229, 44), (19, 230, 90), (28, 257, 90),
    (17, 259, 141), (15, 268, 85), (37, 284, 152), (10, 287, 176), (10, 322, 125), (5, 333, 40), (12, 340, 181),
    (6, 346, 87), (52, 347, 171), (39, 355, 115), (3, 364, 194), (71, 388, 212), (6, 424, 194), (32, 463, 135),
    (20, 494, 121), (58, 543, 210), (16, 589, 175), (54, 607, 317),
)
"""Turns, calls and replies of each session."""
# fmt: on

MEANS = {
    "characters of a turn": 276.4,
    "characters of a reply": 424.4,
    "characters of a call": 389.9,
    "characters of a result": 1785,
    "seconds to the next message": 91.04,
    "sessions of a project": 14.9,
    "turns": 7.859,
    "calls": 97.21,
    "replies": 38.52,
}
"""Of what is drawn from the shapes, as the real sessions have it."""


def draw(random: Random, shape: str) -> float:
    """Returns a value of that distribution: between two neighbouring quantiles."""
    values, place = SHAPES[shape], random.random()
    low = bisect_right(QUANTILES, place) - 1
    share = (place - QUANTILES[low]) / (QUANTILES[low + 1] - QUANTILES[low])
    return math.expm1((1 - share) * math.log1p(values[low]) + share * math.log1p(values[low + 1]))


def measure(store: Store) -> tuple[dict[str, pl.Series], list[tuple[int, int, int]]]:
    """Returns the values of each shape, and the counts of the sessions that the store has captured."""
    messages, windows = (
        store.tables.read("messages").sort("session_id", "event_at", "ordinal"),
        store.tables.read("windows"),
    )
    own = messages.filter(pl.col("author").is_in(OWN))
    is_reply = (pl.col("kind") == "text") & (pl.col("author") == "assistant")
    counts = messages.group_by("session_id").agg(
        turns=pl.col("is_user_turn").sum(),
        calls=((pl.col("kind") == "tool_call") & (pl.col("author") == "assistant")).sum(),
        replies=is_reply.sum(),
    )
    gaps = (
        own.select(pl.col("event_at").diff().over("session_id").dt.total_milliseconds() / 1000)
        .to_series()
        .drop_nulls()
    )
    texts = own.filter(kind="text")
    values = {
        "characters of a turn": texts.filter("is_user_turn")["text_chars"],
        "characters of a reply": texts.filter(author="assistant")["text_chars"],
        "characters of a call": own.filter(kind="tool_call")["text_chars"],
        "characters of a result": own.filter(kind="tool_result")["text_chars"],
        "seconds to the next message": gaps.filter(gaps >= 0),
        "sessions of a project": windows.group_by("project").agg(pl.col("session_id").n_unique())[
            "session_id"
        ],
    }
    return values, counts.select("turns", "calls", "replies").sort(
        "calls", "replies", "turns"
    ).rows()


def main() -> None:
    """Prints the shapes of the transcripts."""
    with tempfile.TemporaryDirectory() as name:
        store = open_store(Settings(data=Path(name), timezone="UTC", owner="soph"))
        capture(store, Path(sys.argv[1]) if len(sys.argv) > 1 else folder())
        print(described(*measure(store)))


def described(values: dict[str, pl.Series], counts: Sequence[tuple[int, int, int]]) -> str:
    """Returns the lines of the constants of this module."""
    lines = list[str]()
    for name, own in values.items():
        lines.append(
            f'    "{name}": {[float(f"{one:.3g}") for one in np.quantile(own.to_numpy(), QUANTILES)]},'
        )
    means = {name: own.mean() for name, own in values.items()} | dict(
        zip(("turns", "calls", "replies"), np.mean(counts, axis=0), strict=True)
    )
    line = "   "
    for one in (f" {one}," for one in counts):
        if len(line) + len(one) > 120:
            lines.append(line)
            line = "   "
        line += one
    return "\n".join(
        [*lines, line, *(f'    "{name}": {mean:.4g},' for name, mean in means.items())]
    )


if __name__ == "__main__":
    main()
