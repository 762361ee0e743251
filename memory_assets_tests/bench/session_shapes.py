"""The shape of real sessions in numbers: how many turns, calls and words they have, and how far apart they are.

`SHAPES` are deciles (the least, each tenth, the largest) of 149 real sessions of three harnesses; no text of them is here.
`python -m memory_assets_tests.bench.session_shapes [FOLDER]` prints them again, from the transcripts that the bench finds or those
of a folder.
"""

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np
import polars as pl

from memory_assets.store.settings import Settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.bench.transcripts import folder
from memory_assets_tests.stages.capture.pipeline import capture

DECILES = 11

SHAPES: dict[str, Sequence[float]] = {
    "turns": [1.0, 1.0, 2.0, 2.0, 3.0, 4.0, 6.0, 8.0, 13.6, 24.3, 88.0],
    "calls a turn": [0.0, 4.33, 5.7, 9.2, 12.0, 13.0, 14.9, 18.4, 27.4, 39.7, 121.0],
    "replies a turn": [1.0, 1.0, 2.35, 3.0, 3.61, 4.37, 5.25, 6.13, 8.18, 11.3, 64.7],
    "characters of a turn": [1.0, 11.0, 20.0, 34.0, 48.0, 69.0, 89.0, 129.0, 231.0, 542.0, 9940.0],
    "characters of a reply": [1.0, 56.0, 83.0, 111.0, 143.0, 179.0, 219.0, 275.0, 436.0, 1150.0, 16000.0],
    "characters of a result": [0.0, 22.0, 54.0, 103.0, 131.0, 173.0, 249.0, 499.0, 1050.0, 2830.0, 64000.0],
    "seconds to the next message": [0.0, 0.008, 0.041, 0.192, 1.09, 2.62, 3.69, 5.16, 8.02, 17.1, 3520.0],
    "sessions of a project": [1.0, 1.0, 1.8, 2.7, 5.4, 8.0, 9.8, 11.0, 12.4, 24.8, 86.0],
}


def draw(random: Random, shape: str) -> float:
    """Returns a value of that distribution: between two neighbouring deciles."""
    deciles = SHAPES[shape]
    place = random.random() * (len(deciles) - 1)
    low = int(place)
    return deciles[low] + (place - low) * (deciles[min(low + 1, len(deciles) - 1)] - deciles[low])


def measure(store: Store) -> dict[str, list[float]]:
    """Returns the deciles of the sessions that the store has captured."""
    messages, windows = store.tables.read("messages").sort("session_id", "event_at", "ordinal"), store.tables.read("windows")
    own = messages.filter(pl.col("author").is_in(["owner", "assistant", "tool"]))
    turns = own.group_by("session_id").agg(turns=pl.col("is_user_turn").sum(), calls=(pl.col("kind") == "tool_call").sum())
    spoken = turns.filter(pl.col("turns") > 0)
    gaps = own.select(pl.col("event_at").diff().over("session_id").dt.total_milliseconds() / 1000).to_series().drop_nulls()
    texts = own.filter(kind="text")
    sessions = windows.group_by("project").agg(pl.col("session_id").n_unique())["session_id"]
    replies = texts.filter(author="assistant").group_by("session_id").len().join(spoken, on="session_id")
    found = {
        "turns": spoken["turns"],
        "calls a turn": spoken["calls"] / spoken["turns"],
        "replies a turn": replies["len"] / replies["turns"],
        "characters of a turn": texts.filter("is_user_turn")["text_chars"],
        "characters of a reply": texts.filter(author="assistant")["text_chars"],
        "characters of a result": own.filter(kind="tool_result")["text_chars"],
        "seconds to the next message": gaps.filter((gaps >= 0) & (gaps < 3_600)),
        "sessions of a project": sessions,
    }
    steps = np.linspace(0, 1, DECILES)
    return {name: [float(f"{one:.3g}") for one in np.quantile(values.to_numpy(), steps)] for name, values in found.items()}


def main() -> None:
    """Prints the shapes of the transcripts."""
    with tempfile.TemporaryDirectory() as name:
        store = open_store(Settings(data=Path(name), timezone="UTC", owner="soph"))
        capture(store, Path(sys.argv[1]) if len(sys.argv) > 1 else folder())
        for shape, deciles in measure(store).items():
            print(f"    {json.dumps(shape)}: {deciles},")


if __name__ == "__main__":
    main()
