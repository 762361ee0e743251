"""A store that Mira, its owner, shares with Bo: a session of each, facts of two projects, and a preference of each."""

from collections.abc import Sequence
from datetime import timedelta

from pytest import MonkeyPatch

from memory_assets.extras.sharing import tokens as access_tokens
from memory_assets.extras.sharing.access import AuditLog, WriteLimit
from memory_assets.extras.sharing.server import SharedAccess
from memory_assets.extras.sharing.shared_memory import SharedMemory
from memory_assets.extras.sharing.tokens import AccessScope, AccessTokens
from memory_assets.extras.sharing.visibility import Reader
from memory_assets.memory import MemoryAgent
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store
from memory_assets_tests.factories import START, message, row
from memory_assets_tests.small_store import DAY, index, small_store, write

MIRA, BO = "Mira", "Bo"
BO_WINDOW = "b" * 64
BO_SAID = [
    "Where is the zeppelin hangar documented?",
    "My knee surgery is on Friday, so the hangar tour moves.",
    "Fine.",
]
"""Bo's session; no other text has these words."""

PREFERENCE = {
    MIRA: "Mira prefers answers without emojis.",
    BO: "Bo prefers marmalade coloured diffs.",
}
SHOP, BLOG = (
    "Orders are archived in the cellar database.",
    "Drafts are archived in the attic database.",
)


def team_store(monkeypatch: MonkeyPatch, *, is_private: bool = True) -> Store:
    """Returns the store with its indexes; without Bo's session, dates and preference if not `is_private`."""
    monkeypatch.setenv("MEMORY_OWNER", MIRA)
    store = small_store()
    windows = store.tables.read("windows").to_dicts()[0] | {"person": MIRA}
    ids = [f"msg_b{number:019x}" for number in range(len(BO_SAID))]
    own = {
        "window_id": BO_WINDOW,
        "session_id": "session-2",
        "source_id": "s2",
        "path": "/home/bo/s2.jsonl",
        "person": BO,
    }
    bos = (
        [{**windows, **own, "message_ids": ids, "lines": [0, 1, 2], "message_count": 3}]
        if is_private
        else []
    )
    write(store, "windows", "all", windows, *bos)
    window = {"window_id": BO_WINDOW, "session_id": "session-2"}
    said = [message(text, n, message_id=ids[n], **window) for n, text in enumerate(BO_SAID)]
    write(
        store,
        "messages",
        DAY.isoformat(),
        *store.tables.read("messages").to_dicts(),
        *(said if is_private else ()),
    )
    trigger = {
        "day": DAY,
        "trigger_on": DAY + timedelta(days=900),
        "said_at": START,
        "author": "owner",
        "state": "due",
    }
    of_bo = (
        [row("triggers", trigger_id="t1", quote=BO_SAID[1], person=BO, **trigger)]
        if is_private
        else []
    )
    of_mira = row(
        "triggers", trigger_id="t2", quote="The certificate ends.", person=MIRA, **trigger
    )
    write(store, "triggers", DAY.isoformat(), *of_bo, of_mira)
    index(store)
    as_reader(MIRA).remember(PREFERENCE[MIRA], category="preferences", project="")
    as_reader(MIRA).remember(SHOP, category="system-architecture", project="shop")
    as_reader(BO).remember(BLOG, category="system-architecture", project="blog")
    if is_private:  # last, so that the ids of the others do not depend on it
        as_reader(BO).remember(PREFERENCE[BO], category="preferences", project="")
    return store


def as_reader(person: str, project: str = "", *scopes: str) -> SharedMemory:
    """Returns the facade as the person with a token sees it."""
    return SharedMemory(Reader(person, project, scopes or ("read", "write", "review")))


def token_of(
    person: str, project: str = "", scopes: Sequence[AccessScope] = ("read",), name: str = ""
) -> str:
    """Returns the secret of a new token."""
    agent = MemoryAgent()
    given = {"person": person, "project": project, "scopes": scopes, "now": agent.settings.clock()}
    return access_tokens.create(agent.store, name or f"laptop of {person}", **given)[1]


def shared_access(writes: int = 30) -> SharedAccess:
    """Returns the tokens, limit and log of the store."""
    settings = read_settings()
    return SharedAccess(
        AccessTokens(settings.data), WriteLimit(writes), AuditLog(settings.data, settings.clock)
    )


def bearing(token: str) -> dict[str, str]:
    """Returns the header with the token."""
    return {"Authorization": f"Bearer {token}"}
