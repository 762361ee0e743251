"""History is read down to its last object, and written anew only as forgetting asks: as many commits, without the words."""

from pathlib import Path

import pytest

from memory_assets.adapters.git_history import GitHistory
from memory_assets_tests.dirty import is_dirty

SECRET, MASKED = b"herons nest here", b"****************"


def mask(raw: bytes) -> bytes:
    return raw.replace(SECRET, MASKED)


@pytest.fixture
def history(tmp_path: Path) -> GitHistory:
    made = GitHistory(tmp_path / "workspace")
    made.prepare()
    for text, message in (
        ("one", "first"),
        ("one\nherons nest here", "says herons nest here"),
        ("one\ntwo", "third"),
    ):
        made.commit_content(
            message,
            {"MEMORY.md": f"{text}\n".encode(), "sub/\xfc b.md": b"\xff\r\n"},
            author="mira",
        )
    made.restore(["MEMORY.md", "sub/\xfc b.md"])
    return made


def carrying(history: GitHistory) -> dict[str, bytes]:
    return {one.id: one.content for one in history.objects() if SECRET in one.content}


def test_every_object_is_read_packed_and_unreachable_ones_too(history: GitHistory):
    history._git("hash-object", "-w", "--stdin", stdin=b"nobody leads to " + SECRET)
    history._git("gc", "--quiet")
    kinds = sorted(one.kind for one in history.objects() if SECRET in one.content)
    assert kinds == ["blob", "blob", "commit"]
    assert history.commits_about(carrying(history)) == 2


def test_rewriting_leaves_the_words_nowhere_and_everything_else_as_it_was(history: GitHistory):
    before, authors = history.history("MEMORY.md"), history.at_head("sub/\xfc b.md")
    moved = history.rewrite(mask)
    assert carrying(history) == {}
    after = history.history("MEMORY.md")
    assert [(c.author, c.at, c.message) for c in after] == [
        (c.author, c.at, c.message.replace(SECRET.decode(), MASKED.decode())) for c in before
    ]
    assert [moved.get(c.id, c.id) for c in before] == [c.id for c in after]
    assert history.at_head("sub/\xfc b.md") == authors == b"\xff\r\n"
    assert (
        not is_dirty(history, "MEMORY.md") and history._git("status", "--porcelain").stdout == b""
    )
    assert [
        one for one in history.objects() if one.id in {c.id for c in before} - {c.id for c in after}
    ] == []


def test_a_folder_without_a_repository_has_no_history(tmp_path: Path):
    none = GitHistory(tmp_path)
    assert (
        list(none.objects()),
        none.commits_about(["x"]),
        none.remotes(),
        none.rewrite(mask),
    ) == ([], 0, [], {})
