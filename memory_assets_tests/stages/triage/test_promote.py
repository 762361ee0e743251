"""Promotion: a line, its commit and its record agree whatever happens in between, and nothing of a person's is lost."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_assets.errors import TranscriptError
from memory_assets.stages.triage import promote, run
from memory_assets.stages.triage.promote import lost_lines
from memory_assets_tests.dirty import is_dirty
from memory_assets_tests.once import sampled
from memory_assets_tests.stages.triage.world import BEGUN, PROJECT_MD, World

UV, MAKE, DATES = (
    "Always use `uv`, never `pip`.",
    "Always run `make check` before you commit.",
    "Write dates the British way.",
)
LINE = f"- (2026-08-03) {UV}"


class KilledError(Exception):
    """Stands for a process that is killed."""


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def count_writes(world: World, patch: pytest.MonkeyPatch, last: int | None = None) -> list[str]:
    """Notes every write that a triage does from now on; the one after the last allowed raises instead."""
    done: list[str] = []

    def counted(name: str, write):
        def do(*arguments, **options):
            if last is not None and len(done) >= last:
                raise KilledError(name)
            done.append(name)
            return write(*arguments, **options)

        return do

    patch.setattr(world.ledger, "append", counted("ledger", world.ledger.append))
    patch.setattr(world.workspace, "_commit_tree", counted("commit", world.workspace._commit_tree))
    patch.setattr(world.workspace, "restore", counted("restore", world.workspace.restore))
    for module in (promote, run):
        patch.setattr(module, "replace_if_same", counted("file", module.replace_if_same))
    return done


def prepared(root: Path) -> World:
    """A world in which a person ticked one proposal and wrote a line, and the rules will promote two others."""
    world = World(root)
    world.propose(DATES)
    world.triage()
    world.tick("p-20260803-001")
    world.memory_md.write_text(world.memory_md.read_text() + "\n- by hand\n")
    world.propose(UV, MAKE, sessions=2)
    return world


def outcome(world: World) -> tuple:
    """What must not depend on when a process was killed."""
    review = [line for line in world.review_md.read_text().splitlines() if not line.startswith("_")]
    return (
        world.memory_md.read_bytes(),
        sorted(world.promoted()),
        sorted(world.commits()),
        review,
        is_dirty(world.workspace, PROJECT_MD),
    )


def test_a_promotion_is_a_line_a_commit_and_a_record(world: World):
    (uv,) = world.propose(UV, sessions=2)
    world.triage()
    (event,) = world.ledger.events(["entry.promoted"])
    (last, *_) = world.workspace.history(PROJECT_MD)
    assert last.message == (
        f"{uv}: add to Hard Rules\n\n{LINE}\n\nReason: you said it in 2 sessions, last on 2026-08-03\n"
        "Decided-by: rules\nSession: s1-0\nSession: s1-1"
    )
    assert (event.target, event.actor, event.payload["commit"]) == (uv, "rules", last.id)
    assert {
        name: event.payload[name] for name in ("section", "line", "reflection_id", "session_ids")
    } == {
        "section": "Hard Rules",
        "line": LINE,
        "reflection_id": "r1",
        "session_ids": ["s1-0", "s1-1"],
    }
    record = event.payload["evidence"][0]
    content = world.archive.read(
        record["source_id"], record["generation"], record["byte_from"], record["byte_to"]
    )
    assert UV in content.decode()
    assert (record["quote"], record["session_id"], record["line"], record["message_id"]) == (
        UV,
        "s1-0",
        0,
        f"msg_{0:020x}",
    )


def test_what_a_person_wrote_is_committed_as_theirs_before_ours(world: World):
    world.propose(DATES)
    world.triage()
    world.memory_md.write_text("# Mine\n\nby hand\n")
    world.propose(UV, sessions=2)
    world.triage()
    assert world.commits() == [
        ("memory_assets", BEGUN),
        ("mira", "Edited by hand"),
        ("memory_assets", "p-20260803-002: add to Hard Rules"),
    ]
    assert world.memory_md.read_text() == f"# Mine\n\nby hand\n\n## Hard Rules\n\n{LINE}\n"


def test_a_line_that_a_person_removed_stays_removed(world: World):
    world.propose(UV, sessions=2)
    world.triage()
    world.memory_md.write_text(world.memory_md.read_text().replace(LINE + "\n", ""))
    world.propose(MAKE)
    world.triage()
    assert world.entries() == []


def test_an_entry_that_a_person_reworded_stays_reworded(world: World):
    world.propose(UV, sessions=2)
    world.triage()
    theirs = "- (2026-08-03) Use uv everywhere but in legacy/."
    world.memory_md.write_text(world.memory_md.read_text().replace(LINE, theirs))
    world.propose(MAKE, sessions=2)
    world.triage()
    world.triage()
    assert world.entries() == [theirs, f"- (2026-08-03) {MAKE}"]
    assert ("mira", "Edited by hand") in world.commits()


def test_an_edit_that_lands_after_the_line_was_written_is_not_committed_as_ours(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    world.propose(UV, sessions=2)
    world.hear()
    world.decide()
    swap = promote.replace_if_same

    def swap_and_edit(path: Path, expected: bytes | None, content: bytes) -> bool:
        done = swap(path, expected, content)
        path.write_bytes(path.read_bytes().replace(LINE.encode(), b"- removed at once"))
        return done

    monkeypatch.setattr(promote, "replace_if_same", swap_and_edit)
    world.write()
    assert is_dirty(world.workspace, PROJECT_MD)
    assert LINE.encode() in (world.workspace.at_head(PROJECT_MD) or b"")
    monkeypatch.undo()
    world.triage()
    assert world.commits()[-2:] == [
        ("memory_assets", "p-20260803-001: add to Hard Rules"),
        ("mira", "Edited by hand"),
    ]
    assert (world.entries(), "- removed at once" in world.memory_md.read_text()) == ([], True)


def test_a_workspace_that_was_lost_is_written_again_from_the_ledger(world: World, tmp_path: Path):
    world.propose(UV, sessions=2)
    world.triage()
    world.workspace.root = tmp_path / "another"
    world.workspace.prepare()
    world.triage()
    assert world.entries() == [LINE]


def test_where_evidence_cannot_be_read_nothing_is_written(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    world.propose(UV, sessions=2)
    world.hear()
    world.decide()
    monkeypatch.setattr(
        run, "gather_evidence", lambda *_: (_ for _ in ()).throw(OSError("the disk is gone"))
    )
    with pytest.raises(OSError, match="the disk is gone"):
        world.write()
    assert world.entries() == []


@pytest.fixture(scope="module")
def undisturbed() -> Iterator[tuple[tuple, int]]:
    """The outcome of a triage that nobody disturbs, and how many writes it takes."""
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        world = prepared(Path(folder))
        done = count_writes(world, patch)
        world.triage()
        yield outcome(world), len(done)


@pytest.mark.parametrize("writes", sampled(range(18), 6))
def test_killed_between_any_two_writes_the_next_run_ends_as_an_undisturbed_one(
    world: World, undisturbed: tuple[tuple, int], tmp_path: Path, writes: int
):
    expected, total = undisturbed
    assert total <= 18, "a later write is not covered by this test"
    disturbed = prepared(tmp_path / "disturbed")
    with pytest.MonkeyPatch.context() as patch:
        count_writes(disturbed, patch, writes)
        if writes < total:
            with pytest.raises(KilledError):
                disturbed.triage()
        else:
            disturbed.triage()
    disturbed.reopen()
    disturbed.triage()
    assert outcome(disturbed) == expected


LINES = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "## Hard Rules",
                "## Patterns",
                "# Top",
                "### inner",
                "",
                "```",
                "- (2026-01-02) kept",
                "\ufeff",
            ]
        ),
        st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\n\r"), max_size=20),
    ),
    max_size=8,
)


@settings(max_examples=12)
@given(
    hands=st.lists(LINES, min_size=1, max_size=3),
    ending=st.sampled_from(["\n", "\r\n"]),
    has_end=st.booleans(),
)
def test_every_byte_a_person_left_between_promotions_survives(hands, ending, has_end):
    with TemporaryDirectory() as folder:
        world = World(Path(folder))
        for number, lines in enumerate(hands):
            content = (ending.join(lines) + (ending if has_end and lines else "")).encode()
            world.memory_md.write_bytes(content)
            world.propose(
                f"Always run `make check{number}` before you commit number {number}.", sessions=2
            )
            world.triage()
            after = world.memory_md.read_bytes()
            assert len(after) > len(content)
            rest = iter(after.splitlines())
            assert all(any(line == other for other in rest) for line in content.splitlines())
        assert world.workspace.lines_lost_by_us("MEMORY.md", lost_lines) == []


def test_lines_that_moved_are_lost_and_lines_around_new_ones_are_not():
    assert lost_lines(b"a\nb\n", b"a\nnew\nb\n") == []
    assert lost_lines(b"a\nb\n", b"b\na\n") == [b"b"]
    assert lost_lines(b"a\nb\nc\n", b"a\nanother\nc\n") == [b"b"]


def test_evidence_that_cannot_be_read_keeps_no_other_promotion_waiting(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    first, second = world.propose(UV, MAKE, sessions=2)
    gathered = run.gather_evidence

    def gather(proposal, tables, archive):
        if proposal["proposal_id"] == first:
            raise TranscriptError("not in the catalog")
        return gathered(proposal, tables, archive)

    monkeypatch.setattr(run, "gather_evidence", gather)
    with pytest.raises(TranscriptError, match="not in the catalog"):
        world.triage()
    assert world.promoted() == [second]
    monkeypatch.setattr(run, "gather_evidence", gathered)
    world.triage()
    assert sorted(world.promoted()) == [first, second]
