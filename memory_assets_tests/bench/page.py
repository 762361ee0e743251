"""How long the first view of the local page takes, with 100,000 memories, in a server that was just started and later."""

import os
import tempfile
import threading
from pathlib import Path
from random import Random

from pytest import MonkeyPatch
from starlette.testclient import TestClient

from memory_assets.interfaces.page.app import WARM_UP, application
from memory_assets.memory import page as memory_page
from memory_assets.services.search.corpus import open_embedder
from memory_assets.store.settings import Settings
from memory_assets.store.store import open_store
from memory_assets_tests.bench.row import Row, best_of, seconds_of
from memory_assets_tests.bench.synthetic import LAST, fill, make_topics

SIZE, SMALL = 100_000, 200
MOST_SECONDS = 0.5
ROUNDS = 5
PORT = 3300


def page(small: bool = False) -> list[Row]:
    """Returns the time of the first view: by the first request, and the best of later ones."""
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
            (later,) = best_of(rounds, lambda: browser.get(place).raise_for_status())
    figures = f"seconds with {size:,} memories; later requests {later:.3f} s"
    return [Row("page: first view", first, figures, limit=MOST_SECONDS)]
