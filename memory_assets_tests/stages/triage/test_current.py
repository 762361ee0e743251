"""Where a proposal stands now: later sessions confirm it, replaced memories do not, and a held echo counts for nothing."""

from memory_assets.stages.triage.current import GONE, current_proposals
from memory_assets_tests.factories import frame, row


def proposal(number: int = 1, text: str = "Use uv, never pip.", **changes) -> dict:
    plain = {
        "observation_ids": [f"o{number}"],
        "session_ids": [f"s{number}"],
        "person": "mira",
        "confidence": 0.8,
        "author": "assistant",
    }
    return row(
        "proposals", proposal_id=f"p-20260803-{number:03d}", text=text, **{**plain, **changes}
    )


def memory(*observed: str, **changes) -> dict:
    plain = {
        "state": "active",
        "observation_ids": list(observed),
        "confidence": 0.9,
        "author": "owner",
    }
    return row("memories", id=observed[0], **{**plain, **changes})


def observation(name: str, session: str, gate: str = "allow") -> dict:
    return row("observations", id=name, session_id=session, gate=gate)


def standing(
    proposals: list[dict], memories: list[dict], observations: list[dict]
) -> dict[str, dict]:
    return current_proposals(
        frame("proposals", *proposals),
        frame("memories", *memories),
        frame("observations", *observations),
    )


def test_a_second_session_that_said_the_same_later_confirms_it():
    found = standing(
        [proposal()], [memory("o1", "o9")], [observation("o1", "s1"), observation("o9", "s9")]
    )["p-20260803-001"]
    assert (found["session_ids"], found["observation_ids"]) == (["s1", "s9"], ["o1", "o9"])
    assert (found["confidence"], found["author"], found["memory_state"]) == (0.9, "owner", "active")


def test_the_same_words_in_another_project_do_not():
    proposals = [proposal(1), proposal(2, project="lockkeeper")]
    found = standing(
        proposals, [memory("o1"), memory("o2")], [observation("o1", "s1"), observation("o2", "s2")]
    )
    assert found["p-20260803-001"]["session_ids"] == ["s1"]


def test_a_memory_that_is_worded_otherwise_now_is_gone_and_the_proposal_stays_as_it_was():
    found = standing([proposal()], [], [])["p-20260803-001"]
    assert (found["memory_state"], found["session_ids"], found["confidence"]) == (GONE, ["s1"], 0.8)
