"""A store served as the local page, and a real browser that was let in."""

import hashlib
import json
import shutil
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from memory_assets.interfaces.page.app import application
from memory_assets.interfaces.ports import address_of, listen
from memory_assets.memory import page as memory_page
from memory_assets.store.archive import Range, range_id
from memory_assets.store.store import Store
from memory_assets_tests.factories import START
from memory_assets_tests.small_store import (
    DAY,
    IDS,
    TURNS,
    bring_up_to_date,
    index,
    small_store,
    write,
)

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@dataclass(frozen=True)
class Served:
    """The page of a store."""

    store: Store
    address: str

    def link(self) -> str:
        """A link that opens it once."""
        return memory_page.new_link(self.store.root)


@pytest.fixture
def store() -> Store:
    """The store that is served; a test may change it first."""
    store = small_store()
    index(store)
    (fact,) = store.tables.read("observations").to_dicts()
    evidence = {"message_ids": [IDS[2]], "segment_id": "seg", "quote": TURNS[2]}
    write(store, "observations", DAY.isoformat(), {**fact, **evidence})
    (proposal,) = store.tables.read("proposals").to_dicts()
    write(store, "proposals", DAY.isoformat(), {**proposal, "observation_ids": [fact["id"]]})
    archive_words(store)
    bring_up_to_date(store)
    return store


def archive_words(store: Store) -> None:
    """Archives a transcript that has the words of the messages."""
    records = [record_of(text, number) for number, text in enumerate(TURNS)]
    ends = [*accumulate(map(len, records))]
    content = b"".join(records)
    archived = Range(
        id=range_id("s2", 0, 0), source_id="s2", harness="claude_code", path="/home/mira/s1.jsonl", generation=0, byte_from=0,
        byte_to=len(content), line_from=0, line_to=len(records), sha256=hashlib.sha256(content).hexdigest(), raw_hmac="",
        content_at=None, content_until=None, conversation_id="session-1", created_at=START, masked_count=0, masking_version="1",
    )  # fmt: skip
    store.archive.append(archived, content)
    store.tables.write("resources", "all", store.archive.resources())
    messages = [
        {**message, "resource_id": archived.id, "byte_from": end - len(record), "byte_to": end}
        for message, record, end in zip(
            store.tables.read("messages").to_dicts(), records, ends, strict=True
        )
    ]
    write(store, "messages", DAY.isoformat(), *messages)


def record_of(text: str, number: int) -> bytes:
    """A record of Claude Code with the words."""
    role = "assistant" if number % 2 else "user"
    message = {"role": role, "content": [{"type": "text", "text": text}]}
    record = {"type": role, "uuid": str(number), "timestamp": START.isoformat(), "message": message}
    return json.dumps(record).encode() + b"\n"


@pytest.fixture
def served(store: Store) -> Iterator[Served]:
    listener = listen("127.0.0.1", 3300)
    config = uvicorn.Config(application(listener.getsockname()[1]), log_level="critical")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    memory_page.begin(store.root, address_of(listener))
    yield Served(store, address_of(listener))
    server.should_exit = True
    thread.join(20)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """Debian's Chromium, without a window. Its event loop runs in this thread, where no other can until it ends."""
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine: install Debian's package `chromium`")
    api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def tab(chromium: Any, served: Served, tmp_path: Path) -> Iterator[Any]:
    """A tab of a browser that was let in; the test fails where a page runs or asks for what it may not."""
    context = chromium.new_context()
    tab = context.new_page()
    tab.set_default_timeout(60_000)
    problems: list[str] = []
    tab.on("console", lambda message: problems.extend(_problem(message.text)))
    tab.on("pageerror", lambda error: problems.append(str(error)))
    tab.on("dialog", lambda dialog: problems.append(dialog.message) or dialog.dismiss())
    tab.on("request", lambda request: problems.extend(_foreign(request.url, served.address)))
    tab.goto(served.link())
    yield tab
    context.close()
    assert problems == []


def _problem(text: str) -> list[str]:
    """What the console says, if it is not only that a page has the status of an error."""
    return [] if text.startswith("Failed to load resource: the server responded") else [text]


def _foreign(url: str, address: str) -> list[str]:
    is_own = url.startswith((f"{address}/", "data:,"))
    return [] if is_own else [url]
