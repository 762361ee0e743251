"""A file is read by a process of its own; what goes wrong there is an error that names the file."""

import re
import subprocess
from pathlib import Path

import pytest

from memory_assets.adapters.documents import process, worker
from memory_assets.adapters.documents.process import read_document
from memory_assets.adapters.optional_packages import install_command
from memory_assets.errors import DocumentError


def test_a_folder_a_missing_file_and_a_large_one_are_refused(tmp_path: Path):
    with pytest.raises(DocumentError, match="it is a folder"):
        process.check_file(tmp_path)
    with pytest.raises(DocumentError, match="there is no such file"):
        process.check_file(tmp_path / "none.pdf")
    with (tmp_path / "large.pdf").open("wb") as file:
        file.truncate(200_000_000)
    with pytest.raises(DocumentError, match="it has 200 MB, the limit is 100 MB"):
        process.check_file(tmp_path / "large.pdf")


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (
            b'{"failed": "missing", "why": "pypdf"}',
            re.escape(f"'pypdf' is not installed. Run `{install_command('library')}`"),
        ),
        (b'{"failed": "large", "why": ""}', "takes too much memory"),
        (b"", "the process that read it crashed"),
    ],
)
def test_failures_of_the_process_say_what_to_do(
    monkeypatch: pytest.MonkeyPatch, answer: bytes, problem: str
):
    done = subprocess.CompletedProcess([], 0, answer)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: done)
    with pytest.raises(DocumentError, match=problem):
        read_document(Path("a.pdf"))


def test_a_file_that_takes_too_long_is_given_up(tmp_path: Path):
    (tmp_path / "a.txt").write_text("text")
    with pytest.raises(DocumentError, match="takes more than 0 seconds"):
        read_document(tmp_path / "a.txt", seconds=0.001)


def test_too_much_memory_and_deep_nesting_are_answers(monkeypatch: pytest.MonkeyPatch):
    def fail(error: type[BaseException]):
        def read(_: Path):
            raise error

        return read

    for error, failed in (
        (MemoryError, worker.LARGE),
        (RecursionError, worker.UNREADABLE),
        (ImportError, worker.MISSING),
    ):
        monkeypatch.setattr("memory_assets.adapters.documents.readers.read_file", fail(error))
        assert worker.main("a.pdf")["failed"] == failed
