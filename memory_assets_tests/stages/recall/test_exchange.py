"""A found message is shown with at most one other, each by its own speaker: its answer, or what it answers."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from memory_assets.stages.recall.exchange import LOOKED_AT, show_exchanges
from memory_assets.stages.recall.results import Recalled, message_result
from memory_assets.text.excerpts import BESIDE, LONGEST
from memory_assets_tests.factories import START
from memory_assets_tests.stages.recall.recalled import indexed

OWNER, STEP, ANSWER, SUBAGENT = (
    ("owner", "turn"),
    ("assistant", "step"),
    ("assistant", "answer"),
    ("subagent", "answer"),
)


class Session:
    """Messages of one session in their order, each a passage of its own unless `parts` says more."""

    def __init__(
        self,
        folder: Path,
        *said: tuple[tuple[str, str], str],
        parts: int = 1,
        session_of=lambda line: "s1",
    ) -> None:
        self.rows = {
            f"m{line}#{part}": {
                "id": f"m{line}#{part}", "message_id": f"m{line}", "passage": text, "whole": text, "char_from": 0,
                "char_to": len(text), "author": author, "role": role, "event_at": START, "session_id": session_of(line),
                "path": "p", "line": line, "project": "shop", "person": "Mira",
            }
            for line, ((author, role), text) in enumerate(said)
            for part in range(parts)
        }  # fmt: skip
        words = [
            (
                id,
                "messages",
                row["whole"],
                row["message_id"],
                row["session_id"],
                row["line"] * 10 + int(id[-1]),
            )
            for id, row in self.rows.items()
        ]
        self.texts = indexed(folder, words, "id corpus text parent group order")
        self.reads = 0

    def read(self, ids: Sequence[str]) -> pl.DataFrame:
        self.reads += 1
        rows = [self.rows[id] for id in ids if id in self.rows]
        return (
            pl.DataFrame(rows, schema=list(next(iter(self.rows.values()))))
            if rows
            else pl.DataFrame(schema=["id"])
        )

    def shown(
        self, *lines: int, allowed: np.ndarray | None = None, terms: Sequence[str] = ()
    ) -> list[Recalled]:
        found = []
        for line in lines:
            row = self.rows[f"m{line}#0"]
            place = int(self.texts.rows_of([row["id"]])[0])
            found.append(
                (place, row, message_result(row, START, text=row["whole"], score=1.0, arms=()))
            )
        exchanges = show_exchanges(found, self.texts, self.read, terms, allowed=allowed)
        return [exchanges[f"m{line}"] for line in lines]

    def half(self, line: int, **options) -> tuple[str, str, str] | None:
        """How the found message stands to the other one, that one's speaker, and its words."""
        half = self.shown(line, **options)[0].other_half
        return half and (half.relation, half.said_by, half.text)


@pytest.fixture
def moved(tmp_path: Path) -> Session:
    return Session(
        tmp_path,
        (OWNER, "Why did the deployment fail?"),
        (STEP, "I look at the logs."),
        (STEP, "The disk is full there."),
        (ANSWER, "The disk was full. Shall I move it to Hetzner?"),
        (OWNER, "Yes, all of that."),
        (ANSWER, "It runs on leith-1."),
        (OWNER, "Thanks."),
    )


def test_an_owners_message_is_shown_with_the_end_of_the_turn_that_it_began(moved: Session):
    assert moved.half(0) == (
        "answered by",
        "assistant",
        "The disk was full. Shall I move it to Hetzner?",
    )
    assert moved.half(4) == ("answered by", "assistant", "It runs on leith-1.")


def test_an_assistants_message_is_shown_with_the_owners_that_it_answers_and_a_question_with_its_reply(
    moved: Session,
):
    assert moved.half(2) == ("answers", "Mira", "Why did the deployment fail?")
    assert moved.half(5) == ("answers", "Mira", "Yes, all of that.")
    assert moved.half(3) == ("answered by", "Mira", "Yes, all of that.")


def test_of_a_question_and_its_reply_the_reply_has_more_room(tmp_path: Path):
    answer = "It goes to the Turku server at night. " * 12
    asked = Session(tmp_path / "asked", (OWNER, "Where do backups go?"), (ANSWER, answer))
    ordered = Session(tmp_path / "ordered", (OWNER, "Move the backups."), (ANSWER, answer))
    (question, order) = (session.shown(0)[0].other_half for session in (asked, ordered))
    assert question and order
    assert len(order.text) <= BESIDE < len(question.text) <= LONGEST - BESIDE


@pytest.mark.parametrize(("reply", "is_denied"), [("Scrap that, it goes to b.json.", True), ("No, it belongs in the other file.", True), ("Never mind, leave it.", True), ("no just add the name to it", True), ("no tests failed in the last run", False), ("No, thanks.", False), ("Good, go on.", False)])  # fmt: skip
def test_a_refused_proposal_is_denied_and_a_declined_offer_is_not(
    tmp_path: Path, reply: str, is_denied: bool
):
    session = Session(tmp_path, (ANSWER, "I will write it to a.json."), (OWNER, reply))
    (shown,) = session.shown(0)
    assert ("denied by Mira" in shown.tags) == is_denied


@pytest.mark.parametrize(("request_", "next_turn", "is_denied"), [("Always ship from Fly.", "Actually, scrap that.", True), ("Always ship from Fly.", "Forget it, we wait.", True), ("Always ship from Fly.", "Forget that we had a Fly account.", False), ("Why does Fly fail?", "Never mind, it was the firewall.", False)])  # fmt: skip
def test_what_the_owner_said_and_took_back_next_is_marked(
    tmp_path: Path, request_: str, next_turn: str, is_denied: bool
):
    session = Session(tmp_path, (OWNER, request_), (ANSWER, "It does now."), (OWNER, next_turn))
    (shown,) = session.shown(0)
    assert (shown.tags == ("denied by Mira",)) == is_denied


def test_what_the_owner_calls_wrong_is_shown_with_the_correction_and_a_mark(tmp_path: Path):
    (shown,) = Session(tmp_path, (ANSWER, "It is in a.json."), (OWNER, "No, that's wrong.")).shown(
        0
    )
    assert (str(shown.other_half), shown.tags) == ("answered by Mira: No, that's wrong.", ("denied by Mira",))  # fmt: skip


def test_a_result_has_the_records_of_the_two_messages_and_the_words_of_the_found_one_alone(
    moved: Session,
):
    (shown,) = moved.shown(2)
    assert (shown.text, shown.said_by, shown.lines) == (
        "The disk is full there.",
        "assistant",
        (2, 0),
    )


def test_what_may_not_be_shown_ends_the_search_for_the_other_half(moved: Session):
    allowed = np.ones(len(moved.texts), dtype=bool)
    allowed[int(moved.texts.rows_of(["m2#0"])[0])] = False
    assert moved.half(3, allowed=allowed) == ("answered by", "Mira", "Yes, all of that.")
    assert moved.half(0, allowed=allowed) is None


def test_a_message_of_another_session_and_one_far_away_is_no_half(tmp_path: Path):
    two = Session(
        tmp_path / "two", (OWNER, "Ask."), (ANSWER, "Tell."), session_of=lambda line: f"s{line}"
    )
    assert (two.half(0), two.half(1)) == (None, None)
    steps = [(STEP, f"step {number}") for number in range(LOOKED_AT)]
    assert Session(tmp_path / "far", (OWNER, "Ask."), *steps, (ANSWER, "Done.")).half(0) is None


def test_a_sub_agents_message_is_shown_alone_and_two_prompts_in_a_row_are_no_exchange(
    tmp_path: Path,
):
    session = Session(tmp_path, (OWNER, "First."), (OWNER, "Second."), (SUBAGENT, "Found it."))
    assert [session.half(line) for line in range(3)] == [None, None, None]


def test_of_a_long_other_half_the_passage_nearest_to_the_question_is_shown(tmp_path: Path):
    session = Session(tmp_path, (OWNER, "Ask."), (ANSWER, "one. " * 50 + "The port is 5433."))
    whole = session.rows["m1#0"]["whole"]
    session.rows["m1#1"] = session.rows["m1#0"] | {
        "id": "m1#1",
        "char_from": 250,
        "char_to": len(whole),
    }
    vectors = ([0.0, 1.0], [0.1, 1.0], [0.9, 0.1])
    rows = [
        (id, "messages", "x", row["message_id"], "s1", place, vectors[place])
        for place, (id, row) in enumerate(session.rows.items())
    ]
    texts = indexed(tmp_path / "vectors", rows, "id corpus text parent group order vector")
    row = session.rows["m0#0"]
    found = [
        (
            int(texts.rows_of(["m0#0"])[0]),
            row,
            message_result(row, START, text="", score=1.0, arms=()),
        )
    ]
    half = show_exchanges(found, texts, session.read, (), np.array([1.0, 0.0], dtype=np.float32))[
        "m0"
    ].other_half
    assert half is not None
    assert half.text.endswith("The port is 5433.")


def test_an_answer_is_cut_to_what_it_adds_to_the_question(tmp_path: Path):
    later = "A backup that was never restored is no backup at all, so restore one each month. " * 3
    answer = f"`pg_dump` at three each night, to a box in another city. {later}"
    session = Session(tmp_path, (OWNER, "What about backups?"), (ANSWER, answer))
    _, _, words = session.half(0, terms=("backup",))
    assert words.startswith("`pg_dump` at three")
    _, _, words = session.half(0, terms=("backup", "month"))
    assert "each month" in words
