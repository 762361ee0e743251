"""What making everything again costs, with a model: calls and embeddings of a second time, over those of the first.

The sample is observed by a model behind a local server that writes down what the owner said. Then all days are asked about
and made again unchanged; then the write gate has another version, so that every day is derived anew from the stored answers.
Neither may call the model, and unchanged texts are not embedded again.
"""

import os
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any
from unittest.mock import patch

from memory_assets.adapters.local_embedder import LocalEmbedder
from memory_assets.runs import launch
from memory_assets.stages.distill import standards
from memory_assets.store.settings import Settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.bench.row import Row
from memory_assets_tests.messages_api import KEY, MessagesApi, serve
from memory_assets_tests.story import lay_out_sample

MODEL = "claude-haiku-4-5"


@dataclass
class Meter:
    """Counts what is asked and embedded."""

    api: MessagesApi
    embedded: int = 0

    def of(self, work: Callable[[], object]) -> tuple[int, int]:
        """Returns the calls and the embedded texts of the work."""
        calls, embedded = len(self.api.requests), self.embedded
        work()
        return len(self.api.requests) - calls, self.embedded - embedded


def remaking(small: bool = False) -> list[Row]:
    """Returns a row for each way of making everything again."""
    encode = LocalEmbedder.encode
    with tempfile.TemporaryDirectory(prefix="bench-remaking-") as name, serve(_write_down) as api:
        meter = Meter(api)

        def counted(self: LocalEmbedder, texts: list[str]) -> Any:
            meter.embedded += len(texts)
            return encode(self, texts)

        with (
            patch.object(LocalEmbedder, "encode", counted),
            patch.dict(os.environ, {"ANTHROPIC_API_KEY": KEY}),
        ):
            return _rows(_store(Path(name), api, small), meter)


def _rows(store: Store, meter: Meter) -> list[Row]:
    calls, embedded = meter.of(lambda: launch.ingest(store))
    days = [date.fromisoformat(part) for part in store.tables.parts("messages")]
    unchanged = meter.of(lambda: launch.backfill(store, days))
    with patch.object(standards, "DISTILL_VERSION", "another gate"):
        changed = meter.of(lambda: launch.ingest(store))
    first = f"of {calls} calls and {embedded} embeddings at first"
    return [
        Row("remaking unchanged: calls", unchanged[0] / calls, f"{unchanged[0]} {first}", limit=0),
        Row(
            "remaking unchanged: embeddings",
            unchanged[1] / embedded,
            f"{unchanged[1]} {first}",
            limit=0,
        ),
        Row(
            "remaking after a change of the gate: calls",
            changed[0] / calls,
            f"{changed[0]} {first}",
            limit=0,
        ),
        Row(
            "remaking after a change of the gate: embeddings",
            changed[1] / embedded,
            f"{changed[1]} {first}",
            limit=0,
        ),
    ]


def _store(home: Path, api: MessagesApi, small: bool) -> Store:
    sources = lay_out_sample(home / "transcripts", *(["pi"] if small else []))
    settings = Settings(
        data=home / "store",
        sources=str(sources),
        timezone="UTC",
        owner="mira",
        model=MODEL,
        model_url=api.url,
    )
    return open_store(settings)


def _write_down(body: dict[str, Any]) -> str:
    """Answers an observer's question with what the owner said, and leaves each proposal that is to be reviewed to the owner."""
    asked = body["messages"][0]["content"][-1]["text"]
    if proposals := re.findall(r"^\[(p-\d+-\d+); ", asked, re.M):
        return "\n".join(
            f'<decision id="{id}" verdict="review">Does it still hold?</decision>'
            for id in proposals
        )
    said = re.findall(r"^\[\d\d:\d\d\] OWNER: (.{20,200})$", asked, re.M)
    return "\n".join(f"* 🔴 [gate=allow confidence=0.9] The owner: “{text}”" for text in said)
