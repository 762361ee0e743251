"""Who is let in to the local page: the owner's browser, by a link that works once."""

import os
import re
import stat
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from starlette.testclient import TestClient

from memory_assets.interfaces.page.app import application
from memory_assets.interfaces.page.entrance import COOKIE
from memory_assets.memory import page
from memory_assets.store.page_links import FOLDER, LINK_SECONDS
from memory_assets_tests.small_store import FACT, MEMORY, index, small_store

PORT = 3300
ORIGIN = f"http://127.0.0.1:{PORT}"
FORM = re.compile(r'name="form" value="([^"]+)"')


@pytest.fixture
def root() -> Path:
    store = small_store()
    index(store)
    return store.root


@pytest.fixture
def browser(root: Path) -> TestClient:
    """A browser that was not let in yet."""
    page.begin(root, ORIGIN)
    return TestClient(application(PORT), base_url=ORIGIN, raise_server_exceptions=False)


def enter(browser: TestClient, root: Path) -> str:
    """Opens a new link, and returns the path of the first page."""
    url = page.new_link(root)
    answer = browser.get(url, follow_redirects=False)
    assert answer.status_code == 303
    return answer.headers["location"]


def test_a_link_sets_a_cookie_that_scripts_and_other_sites_do_not_get(
    browser: TestClient, root: Path
):
    answer = browser.get(page.new_link(root), follow_redirects=False)
    place = answer.headers["location"]
    cookie = answer.headers["set-cookie"]
    assert re.fullmatch(r"/[\w-]{12}/", place)
    assert cookie.startswith(f"{COOKIE}=") and "HttpOnly" in cookie
    assert "SameSite=strict" in cookie and f"Path={place}" in cookie
    first = browser.get(place)
    assert first.status_code == 200 and FACT in first.text


def test_a_link_works_once_and_not_after_a_quarter_of_an_hour(browser: TestClient, root: Path):
    url = page.new_link(root)
    assert browser.get(url, follow_redirects=False).status_code == 303
    again = browser.get(url)
    assert again.status_code == 403 and "used already" in again.text
    old = page.new_link(root)
    past = time.time() - LINK_SECONDS - 1
    for link in (root / FOLDER).iterdir():
        os.utime(link, (past, past))
    assert browser.get(old).status_code == 403


def test_only_the_owner_can_read_where_links_are_and_none_holds_its_key(root: Path):
    page.begin(root, ORIGIN)
    url = page.new_link(root)
    key = url.partition("key=")[2]
    folder = root / FOLDER
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in folder.iterdir())
    assert not any(key in path.name or key in path.read_text() for path in folder.iterdir())


def test_a_server_that_begins_or_ends_voids_the_links_made_before(browser: TestClient, root: Path):
    old = page.new_link(root)
    page.begin(root, ORIGIN)
    assert browser.get(old).status_code == 403
    page.end(root)
    assert page.new_link(root) == ""


@pytest.mark.parametrize("key", ["", "x", "../address", "a" * 500, "\x00"])
def test_a_guessed_key_opens_nothing(browser: TestClient, root: Path, key: str):
    page.new_link(root)
    assert browser.get("/enter", params={"key": key}).status_code == 403


def test_without_a_cookie_no_view_and_no_change_is_answered(browser: TestClient, root: Path):
    place = enter(browser, root)
    other = TestClient(browser.app, base_url=ORIGIN)
    for path in ("", "search?question=pip", "review", "memories", "files", "health", "nothing"):
        answer = other.get(place + path)
        assert answer.status_code == 403 and FACT not in answer.text
        assert "memory serve page --link" in answer.text
    form = {"memory": MEMORY, "text": "Use pip."}
    headers = {"Origin": ORIGIN}
    assert other.post(f"{place}correct", data=form, headers=headers).status_code == 403
    assert other.get("/").status_code == 403


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example:3300"}, 403),
        ({"Host": "127.0.0.1:9999"}, 403),
        ({"Host": "127.0.0.1"}, 403),
        ({"Host": "localhost:3300"}, 200),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "http://127.0.0.1:9999"}, 403),
        ({"Origin": "https://127.0.0.1:3300"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
    ],
)
def test_a_request_names_this_server_and_comes_from_its_own_pages(
    browser: TestClient, root: Path, headers: dict[str, str], status: int
):
    place = enter(browser, root)
    cookie = {"Cookie": f"{COOKIE}={browser.cookies[COOKIE]}"}
    answer = browser.get(place, headers=headers | cookie)
    assert answer.status_code == status
    assert (FACT in answer.text) == (status == 200)


@pytest.mark.parametrize("origin", [None, "http://evil.example", "http://127.0.0.1:9999", "null"])
def test_a_form_of_another_page_changes_nothing(
    browser: TestClient, root: Path, origin: str | None
):
    place = enter(browser, root)
    token = FORM.findall(browser.get(place).text)[0]
    headers = {"Origin": origin} if origin else {}
    form = {"form": token, "text": "Use pip for everything.", "project": ""}
    assert browser.post(f"{place}remember", data=form, headers=headers).status_code == 403
    assert "Use pip for everything." not in browser.get(f"{place}memories").text


@pytest.mark.parametrize("token", ["", "x", "of another visit"])
def test_a_form_without_the_token_of_the_visit_changes_nothing(
    browser: TestClient, root: Path, token: str
):
    place = enter(browser, root)
    if token == "of another visit":
        other = TestClient(browser.app, base_url=ORIGIN)
        token = FORM.findall(other.get(enter(other, root)).text)[0]
    form = {"form": token, "target": "uv", "apply": "yes"}
    answer = browser.post(f"{place}forget", data=form, headers={"Origin": ORIGIN})
    assert answer.status_code == 403
    assert FACT in browser.get(place).text


def test_an_address_changes_nothing(browser: TestClient, root: Path):
    place = enter(browser, root)
    for action in ("decide", "undo", "correct", "remember", "restore", "forget"):
        assert browser.get(f"{place}{action}").status_code == 404


def test_every_answer_forbids_what_a_page_does_not_need(browser: TestClient, root: Path):
    place = enter(browser, root)
    for path in (place, f"{place}style.css", f"{place}keys.js", "/enter?key=x", "/nothing"):
        headers = browser.get(path).headers
        assert headers["cache-control"] == "no-store"
        assert headers["x-content-type-options"] == "nosniff"
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; style-src 'self'; script-src 'self';")
        assert "unsafe" not in policy and "frame-ancestors 'none'" in policy
        assert urlsplit(path).scheme == ""
