"""Echo and fizzle: what a session takes up rises, what it was shown for nothing sinks, once each, and no date moves."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_assets.stages.embed.uses import boosts, plan_uses, sessions_shown, uses_memory
from memory_assets.store.ledger import FEEDBACK, IGNORED, RECALLED, USED, Event, Planned
from memory_assets_tests.factories import START

IDS = [f"0f3a5c1e-0000-5000-8000-{number:012d}" for number in range(3)]
WORDINGS = {
    IDS[0]: ["Deploy the shop with `make deploy HOST=leith-1`, never by hand on the server."],
    IDS[1]: ["The staging database listens on port 5433."],
    IDS[2]: ["Releases leave on Thursday after the smoke tests."],
}


def shown(at: int = 0, session: str | None = "s1", ids: Sequence[str] = IDS, **more: Any) -> Event:
    where = {"session": session} if session else {}
    return Event(
        f"r{at}",
        START + timedelta(minutes=at),
        "mira",
        RECALLED,
        "q",
        {"memory_ids": list(ids), **where, **more},
    )


def spoken(*said: tuple[int, str, str], session: str = "s1") -> pl.DataFrame:
    rows = [(session, author, START + timedelta(minutes=at), text) for at, author, text in said]
    schema = {
        "session_id": pl.String,
        "author": pl.String,
        "event_at": pl.Datetime("us", "UTC"),
        "text": pl.String,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def written(planned: Sequence[Planned]) -> list[Event]:
    return [
        Event(one.id, START + timedelta(days=1), "rules", one.kind, one.target, one.payload)
        for one in planned
    ]


def plan(events: Sequence[Event], messages: pl.DataFrame) -> dict[str, str]:
    return {one.payload["memory_ids"][0]: one.kind for one in plan_uses(events, WORDINGS, messages)}


ASKED = (-1, "owner", "Please get this onto the server.")
QUOTED = (5, "assistant", "I will deploy the shop with `make deploy HOST=leith-1`, never by hand.")


def test_a_session_that_quotes_one_of_three_uses_one_and_ignores_two():
    planned = plan_uses([shown()], WORDINGS, spoken(ASKED, QUOTED))
    assert [(one.kind, one.target, one.payload["memory_ids"]) for one in planned] == [
        (USED, "s1", [IDS[0]]),
        (IGNORED, "s1", [IDS[1]]),
        (IGNORED, "s1", [IDS[2]]),
    ]
    assert boosts(written(planned), {id: id for id in IDS}) == {
        IDS[0]: 0.1,
        IDS[1]: -0.05,
        IDS[2]: -0.05,
    }
    again = plan_uses([shown(), *written(planned)], WORDINGS, spoken(ASKED, QUOTED))
    assert [one.id for one in again] == [one.id for one in planned]


@pytest.mark.parametrize(
    "text",
    [
        "As mem_0f3a5c1e0000 says, no hands on the server.",
        "Plan:\n- deploy the shop with make deploy HOST=leith-1\n- never by hand on the server",
        "On that server we deploy the shop by `make deploy HOST=leith-1` and never by hand.",
    ],
    ids=["cited", "quoted", "paraphrased"],
)
def test_a_memory_that_is_cited_quoted_or_paraphrased_is_taken_up(text: str):
    assert uses_memory(text, IDS[0], WORDINGS[IDS[0]])


@pytest.mark.parametrize(
    "text", ["", "Deployed.", "I ran make test and it passed.", "The server is down.", "port 5432"]
)
def test_what_only_shares_a_word_is_not(text: str):
    assert not any(
        uses_memory(text, id, wordings) for id, wordings in WORDINGS.items() if id != IDS[0]
    )


def test_what_was_said_before_it_was_shown_is_no_use_of_it():
    assert plan([shown(10)], spoken(ASKED, QUOTED, (11, "assistant", "Done."))) == dict.fromkeys(
        IDS, IGNORED
    )


def test_a_session_that_did_not_go_on_ignores_nothing():
    assert plan([shown(10)], spoken(ASKED, QUOTED)) == {}
    assert plan([shown(10)], spoken(ASKED, QUOTED, (12, "owner", "Thanks."))) == {}


def test_a_session_in_which_no_person_spoke_proves_nothing():
    assert plan([shown()], spoken(QUOTED)) == {}


def test_a_recall_outside_any_session_proves_nothing():
    assert plan([shown(session=None)], spoken(ASKED, QUOTED)) == {}
    assert sessions_shown([shown(session=None), shown(session="s2", ids=()), shown()]) == {"s1"}


def test_a_later_use_outweighs_that_it_was_ignored_at_first_and_feedback_outweighs_both():
    first = written(
        plan_uses([shown(ids=IDS[:1])], WORDINGS, spoken(ASKED, (2, "assistant", "Looking.")))
    )
    then = written(
        plan_uses(
            [shown(ids=IDS[:1])], WORDINGS, spoken(ASKED, (2, "assistant", "Looking."), QUOTED)
        )
    )
    assert boosts([*first, *then], {IDS[0]: "root"}) == {"root": 0.1}
    told = Event(
        "f",
        START,
        "mira",
        FEEDBACK,
        "all",
        {"memory_ids": [IDS[0]], "used": False, "session": "s1"},
    )
    assert boosts([told, *first, *then], {IDS[0]: "root"}) == {"root": -0.05}


@given(st.lists(st.tuples(st.sampled_from(IDS), st.booleans()), max_size=30), st.randoms())
def test_a_boost_is_bounded_and_does_not_depend_on_the_order(
    said: list[tuple[str, bool]], random: Any
):
    events = [
        Event(
            f"e{n}",
            START,
            "mira",
            FEEDBACK,
            "all",
            {"memory_ids": [id], "used": used, "session": ""},
        )
        for n, (id, used) in enumerate(said)
    ]
    found = boosts(events, {id: id for id in IDS})
    assert all(-0.3 <= boost <= 0.3 for boost in found.values())
    random.shuffle(events)
    assert boosts(events, {id: id for id in IDS}) == found
