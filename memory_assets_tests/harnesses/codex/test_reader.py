"""Codex: one of two logs is read, forks share their beginning, sub-agents are nobody's owner."""

import csv
from collections import Counter
from pathlib import Path

from memory_assets.harnesses.normal_form import Parsed
from memory_assets.harnesses.readers import open_reader, seed_of
from memory_assets.stages.capture.discover import find_transcripts
from memory_assets_tests.transcripts.reading import (
    ids_of,
    lines_of,
    messages_of,
    read_all,
    said,
    transcript,
)

PARENT, SPAWNED, FORKED = (transcript(f"00000000000{n}.jsonl") for n in (1, 2, 3))
ROOT = "019c0000-0000-7000-8000-000000000001"


def authors(messages: list[Parsed]) -> str:
    """The author of each message, with a mark at a turn of the person."""
    return " ".join(f"{message.author}{'!' * message.is_user_turn}" for message in messages)


def test_the_second_log_adds_no_message():
    texts = [text for _, text in said(PARENT)]
    assert texts.count("Get an overview, then review the carts with an agent.") == 1


def test_instructions_of_the_harness_are_injected_and_a_persons_words_theirs():
    assert authors(messages_of(PARENT)) == (
        "injected injected owner! assistant assistant file owner! owner! assistant tool injected "
        "assistant"
    )


def test_in_a_sub_agents_fork_the_beginning_is_the_owners_and_the_task_is_not():
    messages = messages_of(SPAWNED)
    assert authors(messages[:9]) == authors(messages_of(PARENT)[:9])
    assert authors(messages[9:]) == "injected subagent subagent tool subagent"


def test_a_fork_names_its_parent_and_starts_from_the_root():
    assert read_all(SPAWNED)[0].parent_session_id == read_all(FORKED)[0].parent_session_id == ROOT
    assert {
        seed_of("codex", str(path), lines_of(path)[:16]) for path in (PARENT, SPAWNED, FORKED)
    } == {ROOT}


def test_a_compaction_is_a_boundary_and_its_summary_a_message_where_it_can_be_read():
    parsed = read_all(transcript("000000000004.jsonl"))
    assert [(p.status, p.kind, p.text) for p in parsed if p.boundary] == [
        ("known", None, ""),
        ("message", "summary", "Prices are integer cents; docs updated."),
    ]
    assert [p.text for p in parsed if p.is_user_turn] == [
        "Move the prices to integer cents.",
        "Update the docs too.",
    ]


def test_calls_of_every_kind_are_paired_with_their_results():
    calls = [
        p
        for p in messages_of(transcript("000000000005.jsonl"))
        if p.kind in ("tool_call", "tool_result")
    ]
    assert [(p.tool_name, p.author) for p in calls] == [
        ("local_shell", "assistant"), ("local_shell", "file"), ("apply_patch", "assistant"), ("apply_patch", "tool"),
        ("web_search", "assistant"),
    ]  # fmt: skip
    assert [p.is_error for p in calls] == [False, False, False, True, False]
    assert [p.text for p in calls[1::2]] == ["PRICE = 1.0\n", "Failed to find expected lines"]


def test_the_request_below_mentioned_files_is_what_the_person_said():
    (parsed,) = messages_of(transcript("archived_sessions"))
    assert (parsed.author, parsed.text, parsed.image_count) == (
        "owner",
        "Put the logo on the invoice.",
        1,
    )
    assert parsed.is_user_turn


def test_the_eight_real_forks_share_their_whole_beginning_with_the_parent(real_transcripts: Path):
    folder = real_transcripts / "codex" / "sessions" / "2026" / "04" / "11"
    (parent,) = folder.glob("*019d7d08-46c9*")
    forks = [path for path in sorted(folder.glob("*.jsonl")) if read_all(path)[0].parent_session_id]
    ids, shared = ids_of(parent), []
    for fork in forks:
        own = ids_of(fork)
        count = next(n for n, id in enumerate(own) if id != ids[n])
        assert messages_of(fork)[count].text.startswith("You are the newly spawned agent.")
        assert not set(own[count:]) & set(ids)
        shared.append(count)
    assert shared == [187, 224, 315, 363, 396, 434, 472, 592]


def test_every_real_session_is_read_with_its_two_broken_lines_and_fifteen_compactions(
    real_transcripts: Path,
):
    index = {
        row["path"]: row
        for row in csv.DictReader((real_transcripts / "INDEX.tsv").open(), delimiter="\t")
    }
    statuses = Counter()
    for file in find_transcripts([real_transcripts / "codex"]):
        parsed = read_all(file.path)
        statuses.update(p.status for p in parsed)
        row = index[str(file.path.relative_to(real_transcripts))]
        assert sum(p.boundary is not None for p in parsed) == int(row["compactions"])
    assert (statuses["broken"], statuses["unknown"]) == (2, 0)


def test_a_message_names_the_model_of_its_turn_also_where_reading_goes_on():
    said = b'{"type":"response_item","payload":{"type":"message","role":"%s","content":[{"type":"output_text","text":"Hi"}]}}'
    reader = open_reader("codex", "x.jsonl")
    assert reader.read(said % b"assistant").model is None
    reader.read(b'{"type":"turn_context","payload":{"model":"gpt-5.5"}}')
    again = open_reader("codex", "x.jsonl", reader.state)
    assert [again.read(said % role).model for role in (b"user", b"assistant")] == [None, "gpt-5.5"]
    again.read(b'{"type":"turn_context","payload":{"model":"gpt-5.6-sol"}}')
    assert again.read(said % b"assistant").model == "gpt-5.6-sol"
