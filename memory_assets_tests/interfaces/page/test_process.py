"""The page beside the Dagster UI: a process that ends with the one that started it, and a link that is told."""

import time
from queue import Queue
from urllib.request import urlopen

import pytest

from memory_assets.interfaces.cli import app as cli
from memory_assets.interfaces.ports import address_of, free_port, listen
from memory_assets.memory import page
from memory_assets.runs import serving
from memory_assets.store.sockets import is_listening
from memory_assets_tests.small_store import FACT, index, small_store

PATIENCE = 60.0


def wait_until(port: int, *, is_served: bool) -> None:
    until = time.monotonic() + PATIENCE
    while is_listening(port) != is_served and time.monotonic() < until:
        time.sleep(0.1)
    assert is_listening(port) == is_served


def test_the_page_answers_while_the_store_is_served_and_ends_with_it():
    store = small_store()
    port = free_port(3350)
    address = f"http://127.0.0.1:{port}"
    process = serving.KeptProcess([serving.PAGE, str(port)], {})
    process.keep()
    try:
        wait_until(port, is_served=True)
        with urlopen(f"{address}/style.css", timeout=PATIENCE) as _:
            pytest.fail("only the page that a link opens is answered")
    except OSError as refused:
        assert "403" in str(refused)
    finally:
        process.stop()
    wait_until(port, is_served=False)
    assert FACT in str(store.tables.read("memories").to_dicts())


def test_a_port_in_use_ends_the_process_with_a_message(capfd: pytest.CaptureFixture[str]):
    small_store()
    with listen("127.0.0.1", 3350) as listener:
        port = listener.getsockname()[1]
        process = serving.KeptProcess([serving.PAGE, str(port)], {})
        process.keep()
        assert process._process is not None
        assert process._process.wait(PATIENCE) == 1
    assert f"No port of 127.0.0.1 between {port} and {port} is free" in capfd.readouterr().err


def test_the_link_is_told_once_words_can_be_searched_and_of_a_service_the_command_that_prints_it():
    store = small_store()
    told: Queue[str] = Queue()
    served = serving.Serving(store, 1, told.put, free_port(3350))

    def build() -> str:
        time.sleep(3 * serving.TICK_SECONDS)
        assert told.empty()
        index(store)
        return told.get(timeout=PATIENCE)

    try:
        assert "enter?key=" in served.during(build)
        served._has_told_of_page = False
        served._keep_page(is_service=True)
        assert "`memory serve page --link` prints a link" in told.get_nowait()
        served._keep_page()
        assert told.empty()
    finally:
        served.stop()


def test_the_command_prints_a_new_link_only_while_the_page_is_served(
    capsys: pytest.CaptureFixture[str],
):
    store = small_store()
    assert cli.main(["serve", "page", "--link"]) == 1
    assert "No page is served now. Run `memory serve page`" in capsys.readouterr().err
    with listen("127.0.0.1", 3350) as listener:
        page.begin(store.root, address_of(listener))
        assert cli.main(["serve", "page", "--link"]) == 0
        url = capsys.readouterr().out.split()[1]
        assert url.startswith(f"{address_of(listener)}/enter?key=")
    assert page.use_link(store.root, url.partition("key=")[2])
    assert not page.use_link(store.root, url.partition("key=")[2])
