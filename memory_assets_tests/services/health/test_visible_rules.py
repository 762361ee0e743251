"""Of a store: the rules that calls can show, the verdicts on a day, and the line that the status has of them."""

from datetime import UTC, datetime

from memory_assets.runs.inputs import input_versions
from memory_assets.runs.results import Run
from memory_assets.runs.steps.friction import obedience
from memory_assets.schema.frames import frame_of
from memory_assets.schema.tables import TABLES
from memory_assets.services.health.helping import help_inputs
from memory_assets.services.health.status import status_of
from memory_assets.services.health.visible_rules import rules_in
from memory_assets.stages.deliver.shown_context import add_ids, note_briefing
from memory_assets.store.ledger import RECALLED, USED
from memory_assets.store.store import Store
from memory_assets_tests.factories import fact, message, row
from memory_assets_tests.small_store import DAY, small_store, write

ON = DAY.isoformat()
PIP = '[toolCall Bash({"command":"pip install ruff"})]'
OWNERS = {"author": "owner", "category": "rules-conventions", "scope": "everyone"}


def store_with_rule(text: str = "Use uv, never pip.") -> Store:
    store = small_store()
    write(store, "memories", "all", fact("m1", text, observation_ids=["o1", "o2"], **OWNERS))
    call = message(PIP, author="assistant", kind="tool_call", tool_name="Bash")
    write(store, "messages", ON, call)
    return store


def verdicts(store: Store) -> list[tuple]:
    rows = obedience(store, Run(TABLES["obedience"], (), ()))(ON)
    return rows.select("rule_id", "state", "known", "command").rows()


def test_a_day_is_judged_by_the_rules_of_the_store():
    store = store_with_rule()
    assert [rule.text for rule in rules_in(store)] == ["Use uv, never pip."]
    assert verdicts(store) == [("m1", "broken", "before", "pip install ruff")]


def test_a_session_that_was_shown_the_memory_after_its_call_did_not_know_the_rule():
    store = store_with_rule()
    store.append_event(RECALLED, "q", {"memory_ids": ["m1"], "session": "session-1"})
    assert verdicts(store) == [("m1", "broken", "before", "pip install ruff")]


def test_a_line_of_a_project_is_a_rule_of_that_project():
    store = store_with_rule()
    line = row("entries", path="projects/billing.md", text="Use pnpm, never npm.", memory_id=None, entry_on=DAY, state="candidate")  # fmt: skip
    write(store, "entries", "all", line, {**line, "path": "MEMORY.md", "text": "Never `rm -rf`."})
    projects = {rule.text: rule.project for rule in rules_in(store)}
    assert projects["Use pnpm, never npm."] not in ("", "shop")
    assert projects["Never `rm -rf`."] == ""


def test_another_rule_makes_every_day_stale():
    table = TABLES["obedience"]
    store = store_with_rule()
    first = input_versions(store, table)
    write(store, "memories", "all", fact("m1", "Use uv, never poetry.", **OWNERS))
    assert first.keys() == input_versions(store, table).keys() == {ON}
    assert first != input_versions(store, table)


def test_the_status_says_whether_rules_are_kept_and_what_was_said_again():
    store = store_with_rule()
    assert status_of(store).rules == ""
    judged = {
        "rule_id": "m1",
        "session_id": "session-1",
        "day": DAY,
        "state": "kept",
        "known": "briefing",
    }
    write(store, "obedience", ON, row("obedience", **judged))
    said = [row("observations", id=f"o{n}", session_id=f"s{n}", author="owner", day=DAY, event_at=datetime(2026, 8, 3, n, tzinfo=UTC)) for n in (1, 2)]  # fmt: skip
    store.tables.write("observations", ON, frame_of("observations", said), inputs="-")
    assert status_of(store).rules == (
        f"since {ON}: 1 rule, kept in 1 of 1 sessions (too few to say); "
        "1 correction returned (0 in as many days before)"
    )


def test_memories_that_sessions_were_shown_are_counted_with_their_use():
    store = store_with_rule()
    write(store, "obedience", ON, row("obedience", rule_id="m1", session_id="session-1", day=DAY))
    store.append_event(RECALLED, "q", {"memory_ids": ["m1"], "session": "session-1"})
    store.append_event(RECALLED, "q", {"memory_ids": ["m1"], "session": "session-2"})
    store.append_event(USED, "u", {"memory_ids": ["m1"], "session": "session-2"})
    assert help_inputs(store).shown.select("is_used").to_series().to_list() == [None, True]


def test_a_question_returns_in_the_words_of_an_earlier_session():
    texts = {
        "s1": "Why do the forecasts come from station two? Who did that?",
        "s2": "Thanks. why do the forecasts come from station 2?\nWhy do forecasts come from station two",
        "s3": "Who did that? Could you say why the forecasts come from station two?",
    }
    turns = [
        row(
            "messages",
            message_id=id,
            session_id=id,
            author="owner",
            is_user_turn=True,
            text=text,
            day=DAY,
            event_at=datetime(2026, 8, 3, hour, tzinfo=UTC),
        )
        for hour, (id, text) in enumerate(texts.items())
    ]
    store = store_with_rule()
    write(store, "obedience", ON, row("obedience", rule_id="m1", session_id="session-1", day=DAY))
    store.tables.write("messages", ON, frame_of("messages", turns), inputs="-")
    assert help_inputs(store).asked_again["day"].to_list() == [DAY]


def test_briefings_count_with_the_tokens_that_sessions_were_shown():
    store = store_with_rule()
    note_briefing(str(store.root), "session-1", "Use uv, never pip. " * 20)
    note_briefing(str(store.root), "session-2", "Keep tests green. " * 20)
    add_ids(str(store.root), "session-2", ["m1"])
    assert help_inputs(store).briefing_tokens == (380 + 360) // 4
