"""How long the views of the local page take that read the whole store, with 100,000 memories: the first one in a server that was
just started, and each of them later.
"""

import hashlib
import os
import tempfile
import threading
from pathlib import Path
from random import Random

import polars as pl
from pytest import MonkeyPatch
from starlette.testclient import TestClient

from memory_assets.interfaces.page.app import WARM_UP, application
from memory_assets.memory import page as memory_page
from memory_assets.services.search.corpus import open_embedder
from memory_assets.stages.triage.page import MOST_ASKED
from memory_assets.store.archive import Range
from memory_assets.store.settings import Settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.bench.row import Row, best_of, seconds_of
from memory_assets_tests.bench.synthetic import FIRST, LAST, fill, make_topics, write_part

SIZE, SMALL = 100_000, 200
MOST_SECONDS = 0.5
MOST_OF_HEALTH = 3.0
ROUNDS = 5
PORT = 3300


PROPOSED = 40


def page(small: bool = False) -> list[Row]:
    """Returns the time of each view: of home by the first request, of others the best of later ones."""
    size = SMALL if small else SIZE
    with (
        tempfile.TemporaryDirectory(
            prefix="bench-page-", dir=os.environ.get("BENCH_STORES")
        ) as name,
        MonkeyPatch.context() as environ,
    ):
        data = Path(name, "store")
        settings = {"data": data, "timezone": "UTC", "owner": "mira", "now": LAST}
        store = open_store(Settings(**settings))
        topics = make_topics(Random(5), open_embedder("all-MiniLM-L6-v2"), 20)
        fill(store, size, topics, seed=size)
        propose(store)
        for key, value in settings.items():
            environ.setenv(f"MEMORY_{key.upper()}", str(value))
        address = f"http://127.0.0.1:{PORT}"
        with TestClient(application(PORT), base_url=address) as browser:
            for thread in threading.enumerate():
                if thread.name == WARM_UP:
                    thread.join()
            memory_page.begin(store.root, address)
            link = memory_page.new_link(store.root)
            place = browser.get(link, follow_redirects=False).headers["location"]
            first = seconds_of(lambda: browser.get(place).raise_for_status())
            rounds = 1 if small else ROUNDS
            views = [f"{place}{name}" for name in ("", "review", "health")]
            for view in views:
                browser.get(view).raise_for_status()  # what a view imports, and compiles
            home, review, health = best_of(
                rounds, *(lambda view=view: browser.get(view).raise_for_status() for view in views)
            )
    told = f"seconds with {size:,} memories"
    return [
        Row("page: first view", first, f"{told}; later requests {home:.3f} s", limit=MOST_SECONDS),
        Row("page: review", review, f"{told}, {MOST_ASKED} proposals", limit=MOST_SECONDS),
        Row("page: health", health, told, limit=MOST_OF_HEALTH),
    ]


def propose(store: Store) -> None:
    """Writes the observation behind each memory, and proposals of some, whose words are archived."""
    memories = store.tables.read("memories").with_columns(number=pl.int_range(pl.len()))
    text = b"{}\n"
    archived = Range(
        id="x", source_id="x", harness="claude_code", path="/home/mira/x.jsonl", generation=0, byte_from=0, byte_to=len(text),
        line_from=0, line_to=1, sha256=hashlib.sha256(text).hexdigest(), raw_hmac="", content_at=None, content_until=None,
        conversation_id="x", created_at=FIRST, masked_count=0, masking_version="1",
    )  # fmt: skip
    store.archive.append(archived, text)
    said = pl.concat_list(pl.format("msg_{}", "id"))
    of_memory = memories.with_columns(
        day=FIRST.date(), session_id=pl.col("session_ids").list.first(), message_ids=said
    )
    write_part(store, "observations", of_memory, gate=pl.lit("allow"))
    proposed = of_memory.filter(state="active").head(PROPOSED)
    numbers = pl.format("p-20260101-{}", pl.int_range(pl.len()).cast(pl.String).str.zfill(3))
    write_part(store, "proposals", proposed, proposal_id=numbers, memory_id=pl.col("id"))
    asked_until = pl.when(pl.int_range(pl.len()) < MOST_ASKED).then(pl.lit(LAST))
    write_part(
        store, "decisions", proposed, proposal_id=numbers, state=pl.lit("pending"), expires_at=asked_until
    )  # fmt: skip
