"""pi: three versions of one format; a compaction always says which entry it kept first."""

from pathlib import Path

from memory_assets.harnesses.readers import open_reader
from memory_assets.stages.capture.discover import find_transcripts
from memory_assets_tests.transcripts.reading import (
    ids_of,
    lines_of,
    messages_of,
    read_all,
    transcript,
)

V1, V2, V3 = (transcript(f"{n}" * 8 + "-") for n in (1, 2, 3))


def test_version_one_numbers_its_entries_and_a_compaction_keeps_from_a_number():
    parsed = read_all(V1)
    (compaction,) = [p for p in parsed if p.boundary]
    kept = [p for p in parsed if p.native_id == compaction.kept_from]
    assert [p.text for p in kept] == ["Now explain the theme system."]
    assert (compaction.author, compaction.kind) == ("injected", "summary")


def test_all_branches_are_read_with_who_said_what():
    assert [(p.author, p.kind, p.text) for p in messages_of(V3)] == [
        ("owner", "text", "The border is wrong, see the screenshot."),
        (
            "assistant",
            "text",
            'I will fix it.\n[toolCall edit({"path":"theme.json","oldText":"a","newText":"b"})]',
        ),
        ("tool", "tool_result", "File not found"),
        ("tool", "tool_result", "$ npm test\n1 failing"),
        ("injected", "text", "Note from an extension."),
        ("injected", "summary", "An edit of theme.json failed."),
        ("owner", "text", "Try the other file."),
        ("assistant", "text", "Fixed in dark.json."),
        ("injected", "summary", "The border is fixed."),
    ]


def test_errors_images_and_files_are_seen():
    parsed = messages_of(V3)
    assert [p.tool_name for p in parsed if p.is_error] == ["edit", "bash"]
    assert [p.image_count for p in parsed] == [1, 0, 0, 0, 0, 0, 0, 0, 0]
    assert [p.files_modified for p in parsed if p.files_modified] == [
        ("theme.json",),
        ("theme.json",),
        ("dark.json",),
    ]
    assert [p.files_read for p in read_all(V1) if p.files_read] == [("README.md",)]


def test_records_of_later_releases_are_known():
    reader = open_reader("pi", "x.jsonl")
    lines = (b'{"type":"message","message":{"role":"system","content":"","sections":{"preamble":"You are"}}}',
             b'{"type":"usage","kind":"cache_warm","model":"m"}', b'{"type":"context_edit","targetId":"a","replacement":null}')  # fmt: skip
    read = [(p.record_type, p.status) for p in map(reader.read, lines)]
    assert read == [(name, "known") for name in ("message/system", "usage", "context_edit")]


def test_a_fork_that_gives_new_ids_to_old_entries_keeps_the_message_ids(tmp_path):
    copy = tmp_path / "2026-03-05T10-00-00-000Z_44444444-4444-4444-8444-444444444444.jsonl"
    copy.write_bytes(V3.read_bytes().replace(b'"bb0000', b'"cc0000'))
    assert ids_of(copy) == ids_of(V3)


def test_every_real_session_is_read_and_compactions_keep_from_a_turn(real_transcripts: Path):
    kept = []
    for file in find_transcripts([real_transcripts / "pi"]):
        parsed = read_all(file.path)
        assert len(parsed) == len(lines_of(file.path))
        assert {p.status for p in parsed} == {"message", "known"}
        by_id = {p.native_id: p for p in parsed}
        kept += [by_id[p.kept_from].author for p in parsed if p.boundary]
    assert kept == ["owner", "owner"]
