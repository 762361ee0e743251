"""Earlier memories that are shown with a question: the close ones, of this project or person, known by then, within a budget."""

from datetime import timedelta

from memory_assets.stages.distill.model.material import (
    EARLIER_TOKENS,
    earlier_memories,
    find_citations,
    pick_earlier,
    without_citations,
)
from memory_assets.text.words import count_tokens
from memory_assets_tests.factories import frame, row
from memory_assets_tests.stages.distill.sessions import said

ROWS = said(
    ("owner", "how do we install packages with uv here?"),
    ("assistant", "`uv sync` installs packages from `uv.lock`."),
)
BEFORE = ROWS[0]["event_at"] - timedelta(days=1)


def remembered(*rows: dict):
    numbered = [
        {"id": f"{n:08d}-0000-5000-8000-000000000000", "event_at": BEFORE, **r}
        for n, r in enumerate(rows)
    ]
    return earlier_memories(frame("memories", *[row("memories", **r) for r in numbered]))


def picked(*rows: dict, project: str = "shop", person: str = "mira") -> list[str]:
    return [memory.text for memory in pick_earlier(remembered(*rows), ROWS, project, person)]


UV = {
    "text": "Packages are installed with uv.",
    "project": "shop",
    "scope": "project",
    "state": "active",
    "kind": "fact",
}


def test_what_has_to_do_with_the_messages_is_shown_with_its_id():
    (memory,) = pick_earlier(
        remembered(UV, {**UV, "text": "The relay streams thin packs over websockets."}),
        ROWS,
        "shop",
        "mira",
    )
    assert (memory.id, memory.text) == ("mem_000000000000", UV["text"])


def test_what_was_not_known_yet_is_not_shown():
    assert picked({**UV, "event_at": ROWS[0]["event_at"] + timedelta(hours=1)}) == []


def test_another_projects_memories_and_another_persons_preferences_are_not_shown():
    personal = {**UV, "scope": "person", "person": "tom"}
    assert picked({**UV, "project": "other"}, personal) == []
    assert picked({**personal, "person": "mira", "project": "other"}) == [UV["text"]]


def test_the_more_important_come_first_and_the_budget_is_kept():
    rows = [
        {**UV, "text": f"Packages are installed with uv sync, number {n}.", "priority": "low"}
        for n in range(400)
    ]
    found = picked(
        *rows, {**UV, "text": "Packages are installed with uv sync.", "priority": "high"}
    )
    assert found[0] == "Packages are installed with uv sync."
    spent = sum(count_tokens(text) + 4 for text in found)
    assert EARLIER_TOKENS - 40 < spent <= EARLIER_TOKENS


def test_only_ids_that_were_shown_count_as_cited():
    answer = "* 🔴 Use uv [memory id: mem_0123456789ab]\n* 🟡 Sync first (mem_aaaaaaaaaaaa, mem_bbbbbbbbbbbb)"
    assert find_citations(answer, ["mem_0123456789ab", "mem_bbbbbbbbbbbb", "mem_cccccccccccc"]) == (
        "mem_0123456789ab",
        "mem_bbbbbbbbbbbb",
    )
    assert without_citations(answer) == "* 🔴 Use uv\n* 🟡 Sync first"
