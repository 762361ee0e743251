"""A model's answers read: facts grounded in the transcript and not in what the answer claims; the rules where there is none."""

from memory_assets.stages.distill.model.observer import observe_window, trim
from memory_assets.stages.distill.model.parser import parse_answer
from memory_assets.stages.distill.rules.candidates import Candidate, Observed
from memory_assets.text.words import count_tokens
from memory_assets_tests.stages.distill.models import answered
from memory_assets_tests.stages.distill.sessions import messages, said

ROWS = said(
    ("owner", "install the dependencies"),
    ("assistant", "I ran `pip install -r requirements.txt`."),
    ("owner", "no, use uv here, never pip. the deploy at 09:41 broke because of it"),
    ("tool", "README.md: always deploy on Fridays with `make ship`"),
    ("assistant", "Switched to uv: `uv sync` installs everything from `uv.lock`."),
    (
        "owner",
        "now write the release notes for version 2.1.\nrelease notes always name every migration",
    ),
    ("assistant", "The release notes of version 2.1 are in CHANGELOG.md."),
)
ANSWER = """<observations>
<segment>
<narrative>The dependencies are installed with uv now, after pip broke a deploy.</narrative>
<facts>
- 🔴 [gate=allow confidence=0.93 category=jc:rules-conventions] The owner wants uv for installing here, never pip
- 🟡 [gate=allow confidence=0.8 category=operations] `uv sync` installs everything from `uv.lock`
- 🟢 [gate=allow confidence=0.7 category=operations] The deploy broke at 10:15 because of pip
- 🔴 [gate=allow confidence=0.99 category=rules-conventions] Always deploy on Fridays with `make ship`
- 🟡 [gate=allow confidence=0.9 category=projects] Kubernetes ingress certificates rotate quarterly
- 🟡 The deploy at 09:41 broke
</facts>
</segment>
<segment>
<narrative>Release notes for version 2.1.</narrative>
<facts>
- 🟡 [gate=hold confidence=0.6 category=projects] The release notes of version 2.1 are in CHANGELOG.md
</facts>
</segment>
</observations>
<current-task>Primary: release notes</current-task>
<suggested-response>Publish them.</suggested-response>"""


def observe(*answers: str | None) -> Observed:
    frame = messages(ROWS)
    return observe_window(ROWS, answered(frame, *answers)[ROWS[0]["window_id"]] if answers else ())


def facts(answer: str = ANSWER) -> dict[str, Candidate]:
    return {candidate.text: candidate for candidate in observe(answer).candidates}


def test_a_models_fact_is_grounded_in_the_owners_words():
    fact = facts()["The owner wants uv for installing here, never pip"]
    assert (fact.author, fact.kind, fact.hint, fact.hint_confidence) == (
        "owner",
        "rule",
        "allow",
        0.93,
    )
    assert fact.quote == "no, use uv here, never pip. the deploy at 09:41 broke because of it"
    assert 4 in fact.lines


def test_of_an_answer_over_its_room_the_least_important_facts_are_held():
    facts = [
        f"* {'🔴' if n % 2 else '🟢'} [gate=allow confidence=0.9 category=operations] Pier {n} is closed."
        for n in range(8)
    ]
    facts.append(
        "* 🔴 [gate=discard confidence=0.9 category=operations] Nothing to see at the long pier of the harbor."
    )
    parsed = parse_answer(
        f"<observations>\n<segment>\n<narrative>Piers.</narrative>\n<facts>\n{chr(10).join(facts)}\n</facts></segment></observations>"
    )
    per_fact = count_tokens("Pier 1 is closed.")
    trimmed = trim(parsed, count_tokens("Piers.") + 5 * per_fact)
    assert [fact.gate for fact in trimmed.facts] == [
        "allow",
        "allow",
        *["over", "allow"] * 3,
        "discard",
    ]
    assert trim(parsed) == parsed


def test_a_fact_that_nothing_supports_has_no_evidence():
    fact = facts()["Kubernetes ingress certificates rotate quarterly"]
    assert (fact.lines, fact.message_ids, fact.quote) == ((), (), "")


def test_clock_times_are_checked_against_the_evidence():
    assert facts()["The deploy broke at 10:15 because of pip"].ungrounded_times == ("10:15",)
    assert facts()["The deploy at 09:41 broke"].clock_times == ("09:41",)


def test_segments_are_the_models_and_every_message_is_in_one():
    observed = observe(ANSWER)
    assert observed.segments == [[0, 1, 2, 3, 4], [5, 6]]
    assert observed.narratives == [
        "The dependencies are installed with uv now, after pip broke a deploy.",
        "Release notes for version 2.1.",
    ]
    assert (observed.observer, observed.parse_path, observed.prompt_hash) == (
        "scripted-1",
        "segments",
        "prompt1",
    )


def test_messages_that_no_answer_is_about_are_observed_by_the_rules():
    observed = observe(ANSWER, None)
    assert {candidate.observer for candidate in observed.candidates} == {None, "rules/5"}
    ruled = [candidate for candidate in observed.candidates if candidate.observer]
    assert all(
        candidate.message_ids[0] in {row["message_id"] for row in ROWS[3:]} for candidate in ruled
    )
    assert observed.observer == "scripted-1"
