"""The rules observer on short sessions: what a person lays down or states is kept verbatim, what was verified, and nothing else."""

from datetime import timedelta

import pytest

from memory_assets.stages.distill.rules.candidates import Candidate
from memory_assets.stages.distill.rules.exchanges import Row
from memory_assets.stages.distill.rules.owner_says import NOT_ENGLISH
from memory_assets.stages.distill.rules.rules import MOST_CANDIDATES, find_candidates
from memory_assets.stages.distill.write_gate import NO_SHARE, PERHAPS, judge
from memory_assets_tests.labelled import labelled
from memory_assets_tests.stages.distill.sessions import said

LABELLED = labelled(__file__)


def found(rows: list[Row]) -> list[Candidate]:
    return find_candidates(rows, [list(range(len(rows)))])


def of_owner(*turns) -> list[Candidate]:
    return [candidate for candidate in found(said(*turns)) if candidate.author == "owner"]


def of_assistant(*turns) -> list[str]:
    return [candidate.text for candidate in found(said(*turns)) if candidate.author == "assistant"]


ASKED = ("owner", "install the dependencies please")
WITH_PIP = ("assistant", "I ran `pip install -r requirements.txt`, which installed 14 packages.")


def test_a_correction_is_kept_in_the_owners_words():
    (fact,) = of_owner(
        ASKED,
        WITH_PIP,
        ("owner", "no, use uv, not pip"),
        ("assistant", "Switched to uv: `uv sync` installs all."),
    )
    assert (fact.text, fact.quote) == ("Use uv, not pip.", "use uv, not pip")
    assert (fact.kind, fact.author, fact.strength, fact.priority, fact.lines) == (
        "correction",
        "owner",
        "explicit",
        "high",
        (4,),
    )


@pytest.mark.parametrize(
    ("turn", "kind", "text"),
    LABELLED["what the owner lays down or states is kept"]
)  # fmt: skip
def test_what_the_owner_lays_down_or_states_is_kept(turn: str, kind: str, text: str | None):
    (fact,) = of_owner(ASKED, WITH_PIP, ("owner", turn))
    assert (fact.kind, fact.text) == (kind, text or f"{turn[0].upper()}{turn[1:]}.")
    assert [result.verdict for result in judge([fact])] == ["allow"]


@pytest.mark.parametrize(
    "turn",
    LABELLED["errands questions doubts stories and words of others teach nothing"]
)  # fmt: skip
def test_errands_questions_doubts_stories_and_words_of_others_teach_nothing(turn: str):
    assert of_owner(ASKED, WITH_PIP, ("owner", turn), ("assistant", "Done.")) == []


def test_a_rule_about_it_takes_the_sentence_that_says_what_it_is():
    facts = of_owner(
        ASKED,
        WITH_PIP,
        ("owner", "The binary is called shopctl. It must never be renamed in scripts."),
    )
    assert facts[0].text == "The binary is called shopctl. It must never be renamed in scripts."
    assert of_owner(ASKED, WITH_PIP, ("owner", "It must never be renamed in scripts.")) == []


def test_a_supposition_and_a_quotation_of_the_assistant_are_nobodys_rule():
    turn = "what could be simpler if:\n- the target is read only, we never merge in `sync.go`\n- bandwidth is free"
    assert of_owner(ASKED, WITH_PIP, ("owner", turn)) == []
    reply = "Two steps:\n- Never drop the fallback of `sync.go` without a test. It is used by old targets."
    assert (
        of_owner(
            ASKED,
            ("assistant", reply),
            ("owner", "- Never drop the fallback of `sync.go` without a test. what would that be"),
        )
        == []
    )


@pytest.mark.parametrize("turn", LABELLED["what may be a rule is offered to a person"])
def test_what_may_be_a_rule_is_held_with_its_reason(turn: str):
    (fact,) = of_owner(ASKED, WITH_PIP, ("owner", turn), ("assistant", "Ok."))
    (result,) = judge([fact])
    assert result.verdict == "hold"
    assert result.reason == f"{PERHAPS}: {fact.doubt}"


def test_a_session_offers_its_three_likeliest_rules():
    wishes = ["let's keep the old names of the API", "let's keep the tables of the shop"]
    demands = [
        "The cart should show the price without tax",
        "The importer should skip rows that are empty",
        "The help page should open in a second window",
    ]
    facts = of_owner(*[("owner", turn) for turn in (*wishes, *demands)])
    reasons = {result.candidate.quote: result.reason for result in judge(facts)}
    assert all(reasons[turn].startswith(PERHAPS) for turn in demands)
    assert all(reasons[turn] == NO_SHARE for turn in wishes)


@pytest.mark.parametrize("turn", ["2", "yes, do 2", "option 1 please", "let's go with B"])
def test_an_option_that_is_picked_is_no_rule(turn: str):
    offered = "Which do you want?\n1. Keep `setup.py` in git.\n2. Always build with `uv`."
    assert of_owner(ASKED, ("assistant", offered), ("owner", turn), ("assistant", "Done.")) == []


@pytest.mark.parametrize(
    "turn",
    [
        "Benutze immer pnpm, niemals npm.",
        "Usa siempre pnpm, nunca npm.",
        "必ずpnpmを使ってください。",
    ],
)
def test_a_standing_order_in_another_language_is_offered(turn: str):
    (fact,) = of_owner(ASKED, WITH_PIP, ("owner", turn))
    assert (fact.quote, fact.doubt) == (turn, NOT_ENGLISH)


def test_a_condition_stays_with_its_rule():
    wrapped = "if the cart is empty\nnever show the checkout button"
    trailing = "Never deploy the shop on Fridays. Unless Maria asks for it."
    assert [fact.text for fact in of_owner(("owner", wrapped))] == [
        "If the cart is empty, never show the checkout button."
    ]
    assert [fact.text for fact in of_owner(("owner", trailing))] == [trailing]


@pytest.mark.parametrize(
    "turn",
    LABELLED["tasks and words without their referent are dropped"]
)  # fmt: skip
def test_tasks_and_words_without_their_referent_are_dropped(turn: str):
    reply = "You're right: the retry in `client.py` is not needed, and the integration tests cache prices in `redis`."
    assert of_owner(ASKED, ("assistant", reply), ("owner", turn), ("assistant", reply)) == []


@pytest.mark.parametrize(
    ("turn", "kind", "text"),
    LABELLED["bans wishes and repetitions are kept"]
)  # fmt: skip
def test_bans_wishes_and_repetitions_are_kept(turn: str, kind: str, text: str | None):
    (fact,) = of_owner(ASKED, WITH_PIP, ("owner", turn), ("assistant", "Ok."))
    assert (fact.kind, fact.text) == (kind, text or f"{turn}.")
    assert [result.verdict for result in judge([fact])] == ["allow"]


CAUSE = (
    "The root cause was the stale mount on `/srv/data`: the `db` container could not see new files."
)


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        (f"{CAUSE} I remounted it and verified that `make test` is green.", "thanks"),
        (f"{CAUSE} After a remount `make test` passes.", "thanks"),
        (f"{CAUSE} I remounted it.", "great, it works"),
    ],
)
def test_a_cause_that_was_verified_is_kept(reply: str, answer: str):
    assert of_assistant(
        ("owner", "the tests cannot reach the database"), ("assistant", reply), ("owner", answer)
    ) == [CAUSE]


@pytest.mark.parametrize(
    "reply",
    [
        "So if the 401 came from `proxy`, the root cause is `auth.py`. I verified it.",
        "The PR covers the root cause and the tests. I verified that `make test` is green.",
        "The review found a real bug in `db.py`: the pool can panic without a host. I verified it.",
        CAUSE, f"{CAUSE} I have not verified that yet.", f"{CAUSE} Let me run the tests; they should pass.",
        f"{CAUSE.replace('was', 'is probably')} I verified that `make test` is green.",
        "It was caused by a stale mount. I verified that `make test` is green.",
        "The fixture lives in `tests/conftest.py`, because `total()` rounds with `Decimal`. All tests pass.",
        "I'll add the fixture to `tests/conftest.py` now. I confirmed that it is green.",
    ],
)  # fmt: skip
def test_what_was_not_verified_or_is_no_cause_is_left_out(reply: str):
    assert (
        of_assistant(
            ("owner", "the tests cannot reach the database"), ("assistant", reply), ("owner", "ok")
        )
        == []
    )


def test_another_value_of_the_same_subject_overturns_the_earlier_one():
    first, later = (
        ("owner", "the link text should be as dark as the accent"),
        ("owner", "the link text is #81a2be in the old theme"),
    )
    assert [fact.is_overturned for fact in of_owner(first, WITH_PIP)] == [False]
    assert [
        fact.is_overturned for fact in of_owner(first, WITH_PIP, later) if "accent" in fact.text
    ] == [True]
    assert [
        fact.is_overturned
        for fact in of_owner(first, WITH_PIP, ("owner", "is the link text blue?"))
    ] == [False]


@pytest.mark.parametrize("withdrawal", ["Scrap that.", "Actually, never mind.", "no, forget it, I will ask Jo"])  # fmt: skip
def test_what_the_owner_takes_back_in_their_next_words_is_overturned(withdrawal: str):
    rule = "Always ship the builds from the Turku server."
    in_next_turn = of_owner(("owner", rule), WITH_PIP, ("owner", withdrawal))
    in_same_turn = of_owner(("owner", f"{rule} {withdrawal}"))
    assert [fact.is_overturned for fact in (*in_next_turn, *in_same_turn)] == [True, True]
    much_later = of_owner(("owner", rule), WITH_PIP, ("owner", "Run it."), ("owner", withdrawal))
    assert [fact.is_overturned for fact in much_later] == [False]


def test_statements_that_are_limited_to_different_things_leave_each_other():
    riga, turku = (
        f"No, for {port} always use `dock-{port.lower()}`, never the crane script."
        for port in ("Riga", "Turku")
    )
    facts = of_owner(("owner", riga), WITH_PIP, ("owner", turku))
    assert [fact.is_overturned for fact in facts] == [False, False]
    again = of_owner(
        ("owner", riga),
        WITH_PIP,
        ("owner", "No, for Riga never use the crane script, always `dock-east`."),
    )
    assert ["dock-east" in fact.text for fact in again] == [True]


def test_the_owners_later_decision_overturns_their_earlier_one():
    facts = of_owner(
        ("owner", "let's name the binary `shopctl` in cmd/shop"),
        ("assistant", "Renamed the binary."),
        ("owner", "or no, let's name the binary `cartctl` in cmd/shop"),
    )
    assert [fact.is_overturned for fact in facts if "shopctl" in fact.text] == [True]


def test_a_window_gives_few_facts_and_the_same_session_the_same_ones():
    names = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda omicron sigma tau upsilon omega rho".split()
    rows = said(
        *[("owner", f"{name.title()} owns {name}-service on {name}-host.") for name in names]
    )
    for number, row in enumerate(rows):
        row["event_at"] += timedelta(minutes=number)
    assert len(found(rows)) == MOST_CANDIDATES < len(names)
    assert found(rows) == found([dict(row) for row in rows])
